package ui

import (
	"strings"
	"testing"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// An override stays visible in every width while its bucket is in full use.
func TestAnOverrideShowsWhateverTheStateIs(t *testing.T) {
	for _, width := range []int{40, 50, 60, 80, 120, 200} {
		for _, until := range []time.Duration{0, time.Minute, -time.Minute} {
			s := pictureSnapshot()
			b := aBucket("k", bucketctl.PerMinute(1.8e6).Burst(30), 3)
			b.Status, b.Waiting = watch.Status{Code: watch.FullUse}, 5
			b.Granted, b.Used = 2e7/60, 11 // the widest there is
			b.State.Override = bucketctl.Override{Rate: 3e4}
			if until != 0 {
				b.State.Override.Until = t0.Add(until)
			}
			s.Buckets, s.Alerts, s.Forced = []watch.Bucket{b}, nil, watch.Forced{Overrides: 1}
			line := ""
			for _, l := range strings.Split(newBench(t, s, width, 16).View(), "\n") {
				if strings.HasPrefix(l, " > k ") {
					line = l
				}
			}
			if got := strings.Contains(line, overrideMark); got != (until >= 0) {
				t.Errorf("width %d, ends in %v: %q", width, until, line)
			}
		}
	}
}

// What a header counts is there once per bucket it is true of.
func TestTheHeaderCountsOverridesAndHoldsUnderGraverStates(t *testing.T) {
	s := pictureSnapshot()
	s.Counts = map[watch.Code]int{watch.Silent: 2, watch.FullUse: 1}
	s.Forced = watch.Forced{Overrides: 3, Holds: 1}
	newBench(t, s, 120, 24).want("2 silent 1 held 3 override")
	s = pictureSnapshot()
	s.Counts, s.Forced = map[watch.Code]int{watch.OK: 2}, watch.Forced{}
	newBench(t, s, 120, 24).want("all well")
}

// What a worker told of its wait before it knew of a change is not shown.
func TestAWaitFromBeforeAChangeIsNotShown(t *testing.T) {
	for rev, want := range map[bucketctl.Rev]bool{12: true, 13: false} {
		s := pictureSnapshot()
		b := silentRow()
		b.State.Rev, b.HeadWait = rev, 0
		b.Workers = b.Workers[:1]
		b.Workers[0].HeadWait = 9 * time.Minute
		s.Buckets, s.Alerts = []watch.Bucket{b}, nil
		bench := newBench(t, s, 120, 40)
		bench.press("enter")
		drawn := bench.View()
		if got := strings.Contains(drawn, "9   9m"); got != want {
			t.Errorf("rev %d:\n%s", rev, drawn)
		}
	}
}
