package watch

import (
	"testing"

	"bucketop/bucketctl"
)

// An override goes on while its bucket is in full use, or silent, or held.
func TestOverridesAndHoldsAreCountedWhateverTheStateIs(t *testing.T) {
	d := newDesk(t, Config{})
	forced := func() bucketctl.State {
		s := full(0)
		s.Override, s.Rev = bucketctl.Override{Rate: 10}, 12
		return s
	}
	held := forced()
	held.Hold = bucketctl.Hold{Active: true, By: "anna", At: at(-60)}
	cooling := held
	cooling.Cooldown.Until = at(60)
	ending := forced()
	ending.Override.Until = at(4)
	d.state("busy", forced())
	d.state("held", held)
	d.state("cooling", cooling)
	d.state("ending", ending)
	d.state("plain", full(0))
	want := func(second float64, overrides, holds int) {
		t.Helper()
		s := d.look(second)
		if s.Forced != (Forced{Overrides: overrides, Holds: holds}) {
			t.Errorf("at %v s: %+v, counts %v", second, s.Forced, s.Counts)
		}
	}
	d.look(-3) // finds them
	want(0, 4, 2)
	for second := range 4 {
		d.now = at(float64(second))
		busy := forced()
		busy.Granted = float64(second * 10)
		d.state("busy", busy)
		d.redis.say(worker("geo-1", draws("busy", busy.Granted, 3)))
		want(float64(second), 4, 2)
	}
	if got := d.row(d.w.Snapshot(), "busy").Status.Code; got != FullUse {
		t.Fatalf("busy is %s", got.Word())
	}
	want(4, 3, 2)
	d.state("held", full(0))
	d.redis.happen(bucketctl.EventUndo, "held", "anna")
	want(5, 2, 1)
	d.redis.do(func() { d.redis.registry, d.redis.states = nil, map[string]bucketctl.State{} })
	for second := 6; second < 200; second++ {
		d.redis.do(func() { d.redis.reports = nil })
		d.look(float64(second))
	}
	if s := d.w.Snapshot(); s.Forced != (Forced{}) {
		t.Errorf("of nothing: %+v, known %d", s.Forced, s.Known)
	}
}

// What workers say of waits before they know of a change, the change made untrue.
func TestTheFirstOnesWaitIsUnknownUntilTheChangeIsSeen(t *testing.T) {
	d := newDesk(t, Config{})
	s := full(0)
	s.Rev = 12
	knows := func(rev bucketctl.Rev, waiting int) bucketctl.WorkerBucket {
		b := draws("k", 0, waiting)
		b.Rev = rev
		return b
	}
	look := func(second float64, buckets ...bucketctl.WorkerBucket) Bucket {
		d.now = at(second)
		d.state("k", s)
		for i, b := range buckets {
			d.redis.say(worker([]string{"geo-1", "geo-2"}[i], b))
		}
		return d.row(d.look(second), "k")
	}
	if b := look(0, knows(12, 9), knows(0, 0)); b.HeadWait.Seconds() != 9 {
		t.Errorf("before the change: %v", b.HeadWait)
	}
	s.Rev = 13
	if b := look(1); b.HeadWait != 0 || b.Waiting != 9 {
		t.Errorf("right after it: %d waiting, the first %v", b.Waiting, b.HeadWait)
	}
	if b := look(2, knows(13, 4), knows(12, 1)); b.HeadWait != 0 {
		t.Errorf("one of two knows: %v", b.HeadWait)
	}
	alone := knows(12, 1)
	alone.Mode, alone.Since = bucketctl.ModeShare, at(0)
	if b := look(4, knows(13, 4), alone); b.HeadWait.Seconds() != 4 {
		t.Errorf("the other decides on its own, and knows: %v", b.HeadWait)
	}
}
