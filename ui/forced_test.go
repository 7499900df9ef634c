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

// A hold or a cooldown stays visible in every width where a graver state hides it.
func TestAStopShowsWhateverTheStateIs(t *testing.T) {
	for _, c := range []struct {
		code             watch.Code
		held, cooling    bool
		over             time.Duration // how long ago both ended
		wide, narrow, no string
	}{
		{watch.Silent, true, false, 0, "0 of HELD", "HELD", "COOL"},
		{watch.Silent, false, true, 0, "0 of COOLDOWN", "COOL", "HELD"},
		{watch.Cooldown, true, true, 0, "0 of HELD", "HELD", "of COOL"},
		{watch.Held, true, true, 0, "0 of 300/min", "0%", "of HELD"},
		{watch.Cooldown, false, true, 0, "0 of 300/min", "0%", "HELD"},
		{watch.Silent, true, true, time.Second, "0 of 300/min", "0%", "HELD"},
	} {
		for _, width := range []int{40, 50, 60, 80, 120} {
			s := pictureSnapshot()
			b := silentRow()
			b.State.Effective = bucketctl.PerMinute(300)
			b.State.Override, b.Granted, b.Used = bucketctl.Override{}, 0, 0
			b.Status = watch.Status{Code: c.code}
			if c.held {
				b.State.Hold = bucketctl.Hold{Active: true, Until: t0.Add(time.Minute)}
			}
			if c.cooling {
				b.State.Cooldown.Until = t0.Add(time.Minute)
			}
			if c.over > 0 {
				b.State.Hold.Until, b.State.Cooldown.Until = t0.Add(-c.over), t0.Add(-c.over)
			}
			s.Buckets, s.Alerts = []watch.Bucket{b}, nil
			line := ""
			for _, l := range strings.Split(newBench(t, s, width, 16).View(), "\n") {
				if strings.HasPrefix(l, " > geo") {
					line = l
				}
			}
			want := c.wide
			if width < 60 {
				want = c.narrow
			}
			if !strings.Contains(line, want) || strings.Contains(line, c.no) {
				t.Errorf("%v, width %d: %q, want %q and no %q", c, width, line, want, c.no)
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
