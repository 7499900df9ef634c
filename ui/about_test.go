package ui

import (
	"strings"
	"testing"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// TestWhyMoreThanTheRateIsGranted: an operator who sees 488 of 400/s must not have
// to guess.
func TestWhyMoreThanTheRateIsGranted(t *testing.T) {
	a := newBench(t, pictureSnapshot(), 80, 24).app
	for _, c := range []struct {
		granted, alone float64
		want           string
	}{
		{400, 0, ""},
		{408, 0, ""}, // the measure is no better than that
		{488, 0, "granted 122% of the rate: +88/s from what was saved up (capacity 1.2k) or an older limit"},
		{600, 200, "granted 150% of the rate: +200/s by workers on their own"},
		{700, 200, "granted 175% of the rate: +200/s by workers on their own, +100/s from what was saved up (capacity 1.2k) or an older limit"},
		{400, 200, ""}, // all are alone: their shares make the limit
	} {
		b := aBucket("search:bulk", bucketctl.PerSecond(400), 600)
		b.Granted, b.Alone, b.Used = c.granted, c.alone, c.granted/400
		if got := a.aboveFact(&b); got != c.want {
			t.Errorf("%v, %v alone: %q, want %q", c.granted, c.alone, got, c.want)
		}
	}
}

// TestAWindowHasNoBurst: the whole of it may start at once, and then nothing.
func TestAWindowHasNoBurst(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 120, 40)
	b.press("/", "r", "s", "s", ":", "{", "enter")
	b.want("rss:{cloudflare}  10/10s window, as declared")
	b.press("enter")
	b.want("a window: at most 10 start in any 10s")
}

// TestEventsOfABucketAreItsWorkersToo: what befell who draws from it, each outage
// once.
func TestEventsOfABucketAreItsWorkersToo(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 120, 60)
	b.press("down", "down", "enter")
	b.want("SHARED geo-3: 29s without Redis, 37 granted alone", "LIMIT declared")
	if view := b.View(); strings.Contains(view, "FALLBACK geo-3: without") || strings.Contains(view, "HOLD, no end") {
		t.Errorf("an outage twice, or another bucket's event:\n%s", view)
	}
	s := pictureSnapshot()
	s.Events = s.Events[:4] // it is not back yet
	b.pass(calmFor)
	b.feed(s)
	b.want("FALLBACK geo-3: without Redis from 14:30:05")
}

// TestAWrongClockIsCalledWrong: a start that lies ahead is no uptime.
func TestAWrongClockIsCalledWrong(t *testing.T) {
	s := pictureSnapshot()
	s.Workers[0].Start = t0.Add(48 * time.Hour)
	s.Workers[0].Since = t0.Add(time.Hour)
	b := newBench(t, s, 120, 32)
	b.press("w")
	b.want("SILENT 0s", "its clock is wrong: started 2026-03-16 14:32:05")
	var nobody watch.Worker
	if a := b.app; a.uptime(&nobody) != "" || shareCell(&nobody) != "-" || overCell(a, nobody.Worst()).text != "" {
		t.Error("a worker of whom nothing is known is given figures")
	}
}
