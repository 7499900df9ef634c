package ui

import (
	"strings"
	"testing"
	"time"

	"bucketop/internal/watch"
)

func TestTheSourceIsToldWhatTheFilterLooksFor(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	if b.source.preferred != 0 {
		t.Fatalf("told %d times before anything was typed", b.source.preferred)
	}
	for _, k := range strings.Split("/ T E \\ x", " ") {
		b.press(k)
	}
	b.feed(pictureSnapshot())
	if match := b.source.prefer; b.source.preferred != 4 || match == nil || !match("Te\x1b") || match("te") {
		t.Errorf("told %d times, what matches is wrong or missing", b.source.preferred)
	}
	b.press("esc")
	if b.source.prefer != nil {
		t.Error("a preference is left after the filter was cleared")
	}
}

func TestAFilterThatFindsNothingSaysHowFarItLooked(t *testing.T) {
	for _, c := range []struct {
		known int
		sweep time.Duration
		first watch.Progress
		link  watch.LinkState
		want  string
	}{
		{8, time.Second, watch.Progress{}, watch.Live, `No name contains "zzz": esc shows all.`},
		{40_000, 0, watch.Progress{}, watch.Live, `No name contains "zzz" so far, of 40,000 read; the registry is still being read.`},
		{41_000, 0, watch.Progress{Read: 41_000, Total: 100_000}, watch.Live, `No name contains "zzz" among the 41,000 read so far, of 100,000.`},
		{40_000, time.Second, watch.Progress{}, watch.Lost, `No name contains "zzz" among the 14 kept of 40,000: Redis is lost.`},
	} {
		snap := pictureSnapshot()
		snap.Known, snap.Sweep, snap.First, snap.Link.State = c.known, c.sweep, c.first, c.link
		b := newBench(t, snap, 100, 24)
		for _, k := range strings.Split("/ z z z", " ") {
			b.press(k)
		}
		if screen := b.View(); !strings.Contains(screen, c.want) {
			t.Errorf("want %q in\n%s", c.want, screen)
		}
	}
}
