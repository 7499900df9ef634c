//go:build unix

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/cli"
	"bucketop/internal/redistest"
)

// Whoever leaves while Redis does not answer must not take the change for made.
func TestQuittingWhileAChangeIsUnderWaySaysSo(t *testing.T) {
	s := redistest.Start(t)
	if err := s.Client(t).ZAdd(t.Context(), "bucketctl:buckets", redis.Z{Score: float64(time.Now().UnixMilli()), Member: "geo:eu"}).Err(); err != nil {
		t.Fatal(err)
	}
	x := onTerminal(t, answers, environment("REDIS_URL="+s.URL()), "--refresh", "250ms")
	x.await("geo:eu")
	x.press("H", "HOLD")
	x.press("\r", "Cancel, back")
	x.press("\t", "> Hold")
	s.Freeze()
	x.press("\r", "writing...")
	x.send("\x03") // at once: the write is given up within a second
	if code := x.end(); code != cli.ExitOK {
		t.Errorf("exit %d: %q", code, x.screen())
	}
	x.await("bucketop: the hold of geo:eu was under way, so it may or may not have been written")
	x.restored()
	screen := x.screen()
	if strings.LastIndex(screen, "\x1b[?1049l") > strings.Index(screen, "was under way") {
		t.Errorf("said on the screen that is gone: %q", screen)
	}
}

// press presses one key as a person does: not at once, since a dialog is deaf to
// what was meant for the screen below it. Then it waits for what the key does.
func (x *terminal) press(key, does string) {
	x.t.Helper()
	time.Sleep(300 * time.Millisecond)
	x.send(key)
	x.await(does)
}
