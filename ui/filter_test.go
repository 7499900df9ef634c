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
		link  watch.LinkState
		want  string
	}{
		{8, time.Second, watch.Live, `No name contains "zzz": esc shows all.`},
		{40_000, 0, watch.Live, `No name contains "zzz" so far, of 40000 read; the registry is still being read.`},
		{40_000, time.Second, watch.Lost, `No name contains "zzz" among the 14 kept of 40000: Redis is lost.`},
	} {
		snap := pictureSnapshot()
		snap.Known, snap.Sweep, snap.Link.State = c.known, c.sweep, c.link
		b := newBench(t, snap, 100, 24)
		for _, k := range strings.Split("/ z z z", " ") {
			b.press(k)
		}
		if screen := b.View(); !strings.Contains(screen, c.want) {
			t.Errorf("want %q in\n%s", c.want, screen)
		}
	}
}
