//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/cli"
	"bucketop/internal/ptytest"
	"bucketop/internal/redistest"
)

// Whoever leaves while Redis does not answer must not take the change for made.
func TestQuittingWhileAChangeIsUnderWaySaysSo(t *testing.T) {
	s := redistest.Start(t)
	if err := s.Client(t).ZAdd(t.Context(), "bucketctl:buckets", redis.Z{Score: float64(time.Now().UnixMilli()), Member: "geo:eu"}).Err(); err != nil {
		t.Fatal(err)
	}
	x := onTerminal(t, environment("REDIS_URL="+s.URL()), "--refresh", "250ms")
	x.Await("geo:eu")
	press(x, "H", "HOLD")
	press(x, "\r", "Cancel, back")
	press(x, "\t", "> Hold")
	s.Freeze()
	press(x, "\r", "writing...")
	x.Type("\x03") // at once: the write is given up within a second
	if code := x.End(); code != cli.ExitOK {
		t.Errorf("exit %d: %q", code, x.Text())
	}
	x.Await("bucketop: the hold of geo:eu was under way, so it may or may not have been written")
	x.Restored()
	screen := x.Text()
	if strings.LastIndex(screen, "\x1b[?1049l") > strings.Index(screen, "was under way") {
		t.Errorf("said on the screen that is gone: %q", screen)
	}
}

// press presses one key as a person does: not at once, since a dialog is deaf to
// what was meant for the screen below it. Then it waits for what the key does.
func press(x *ptytest.Terminal, key, does string) {
	time.Sleep(300 * time.Millisecond)
	x.Type(key)
	x.Await(does)
}
