//go:build soak

package bucketctl

import (
	"context"
	"strings"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

func TestSoakOutageOfHalfAMinuteIsFewLines(t *testing.T) {
	lines, calls := outageLines(t, 30*time.Second, 1000)
	t.Logf("%d calls, %d lines", calls, lines)
	if lines >= 10 || calls < 10_000 {
		t.Errorf("%d lines for %d calls", lines, calls)
	}
}

// While an outage lasts it is told again each minute.
func TestSoakOutageIsToldEachMinute(t *testing.T) {
	s := redistest.Start(t)
	var log logBuffer
	c := openClient(t, s, logInto(&log))
	mustBucket(t, c, "k", PerSecond(100))
	awaitTrue(t, func() bool { return c.everybody.workers() > 0 && !isOpen(c) })
	s.Kill()
	sleep(t.Context(), remindEvery+5*time.Second)
	s.Restart()
	awaitTrue(t, func() bool { return !isOpen(c) })
	lines := log.lines()
	if len(lines) != 3 || !strings.Contains(lines[1], "still deciding alone") || !strings.Contains(lines[1], "lasted=1m") {
		t.Errorf("logged:\n%s", strings.Join(lines, "\n"))
	}
}

// A Redis that comes and goes every 2 s is left alone ever longer, and the
// console sees who does so.
func TestSoakFlappingIsDampedAndShown(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.Proxy(t, s.Addr)
	var log logBuffer
	c := openClient(t, s, logInto(&log), func(c *Config) { c.URL = p.URL() })
	l := mustBucket(t, c, "k", PerSecond(1000))
	a := openAdmin(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	flapped := make(chan struct{})
	go func() {
		defer close(flapped)
		for ctx.Err() == nil {
			p.Cut()
			sleep(ctx, 2*time.Second)
			p.Heal()
			sleep(ctx, 2*time.Second)
		}
	}()
	silent, asked := 0, 0
	for sleep(ctx, 5*time.Millisecond) {
		if _, err := l.Allow(ctx); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		workers, now, err := a.Workers(t.Context())
		if err == nil && len(workers) == 1 {
			asked++
			if workers[0].SilentAt(now) {
				silent++
			}
		}
	}
	<-flapped
	t.Logf("%d log lines, silent in %d of %d readings", len(log.lines()), silent, asked)
	if n := len(log.lines()); n > 2*8 {
		t.Errorf("%d log lines in a minute of flapping:\n%s", n, strings.Join(log.lines(), "\n"))
	}
	if silent > asked/2 {
		t.Errorf("silent in %d of %d readings", silent, asked)
	}
	awaitTrue(t, func() bool { return !isOpen(c) })
}
