package lua_test

import (
	"math"
	"testing"
	"time"
)

// cooled is a decoded reply of cool.
type cooled struct {
	now, moved, before, blocked int64
	level                       float64
}

func (r *rig) cool(l limits, length int64) cooled {
	r.Helper()
	v := r.run(coolScript, append(l.args(), length, "w1")...)
	if len(v) != 5 {
		r.Fatalf("cool replied with %v, want 5 items", v)
	}
	return cooled{
		now: as[int64](r, v[0]), moved: as[int64](r, v[1]), before: as[int64](r, v[2]), blocked: as[int64](r, v[3]),
		level: number(r, v[4]),
	}
}

// cool is a step of the walk that TestScriptsFollowTheModel takes.
func (w *walk) cool() {
	l := w.limits()
	length := pick(w, "length", 1, second, second, 30*second, day, day+second, 400*day)
	got := w.rig.cool(l, length)
	want := w.m.cool(float64(got.now), l, length)
	if !nearMicro(got.moved, want.moved) || !nearMicro(got.before, want.before) || !nearMicro(got.blocked, want.blocked) || !near(got.level, want.level) {
		w.Fatalf("cool for %d: %+v, want %+v", length, got, want)
	}
	w.compare(got.now, "cool")
	if got.moved > 0 && w.fields()["blocked_by"] != "w1" {
		w.Fatalf("cool: blocked by %q", w.fields()["blocked_by"])
	}
}

func TestCooldownStopsAndEndsWithoutABurst(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.1}
	r.take(l, now1)
	got := r.cool(l, 30*second)
	if got.moved != 30*second || got.blocked != got.now+30*second || got.level != 0 {
		t.Errorf("the first cooldown: %+v", got)
	}
	during := r.take(l, now1, ask{n: 1, patience: endless})
	if during.stop != coolingDown || during.stopEnd != got.blocked || during.granted() != 0 {
		t.Errorf("during it: %+v", during)
	}
	r.back(30*time.Second + 100*time.Millisecond)
	if after := r.take(l, now1); after.stop != running || after.granted() != 0 || after.level > 0.5 {
		t.Errorf("just after it: %+v, want no token yet", after)
	}
	r.leaveTheQueue()
	r.back(20 * time.Second)
	if after := r.take(l, times(5, now1)...); after.granted() != 2 {
		t.Errorf("20 s after it %d were granted, want 2", after.granted())
	}
}

// Many workers hear 429 at about the same time: the longest wins, a shorter one
// changes nothing, and each is told how much it moved.
func TestCooldownsOnlyGrow(t *testing.T) {
	r := newRig(t)
	first := r.cool(plain, 30*second)
	if second := r.cool(plain, 10*second); second.moved != 0 || second.blocked != first.blocked || second.before != first.blocked {
		t.Errorf("a shorter one: %+v after %+v", second, first)
	}
	longer := r.cool(plain, 40*second)
	if longer.moved < 10*second || longer.moved > 20*second || longer.blocked != longer.now+40*second {
		t.Errorf("a longer one: %+v after %+v", longer, first)
	}
	if capped := r.cool(plain, 400*day); capped.blocked != capped.now+day {
		t.Errorf("400 days are %d µs", capped.blocked-capped.now)
	}
}

// A cooldown as long as may be is still sound after a clock stepped back a little.
func TestLongestCooldownSurvivesASmallStepBack(t *testing.T) {
	r := newRig(t)
	r.cool(plain, day)
	r.back(-10 * time.Minute) // what is stored seems to lie further ahead
	if got := r.take(plain, now1); got.mended == begunAgain || got.stop != coolingDown {
		t.Errorf("after a step back: %+v", got)
	}
}

// A debt is no less a debt for it, and the time of the cooldown pays none of it.
func TestCooldownKeepsADebt(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.01}
	r.give(l, "settle", -14, 0)
	if got := r.cool(l, minute); math.Abs(got.level+4) > 0.1 {
		t.Errorf("level %v, want -4", got.level)
	}
	if life := r.life(r.bucket); life < day {
		t.Errorf("lives %v", time.Duration(life)*time.Microsecond)
	}
}

func TestCooldownBeginsABucket(t *testing.T) {
	r := newRig(t)
	got := r.cool(limits{capacity: 10, rate: 1}, second)
	if got.level != 0 || r.field("capacity") != 10 || r.field("blocked") != float64(got.blocked) || r.fields()["blocked_by"] != "w1" {
		t.Errorf("%+v, stored %v", got, r.fields())
	}
}

func TestCooldownRefusals(t *testing.T) {
	r := newRig(t)
	r.take(plain, now1)
	for _, bad := range []string{"0", "-3", "nan", "inf", "abc", "", "0x10", "9.1e15"} {
		r.refused("ERR", coolScript, append(plain.args(), bad, "w1")...)
	}
	r.refused("ERR", coolScript, append(plain.args(), 5)...)
	for name := range otherTypes(r) {
		r := r.under(t)
		r.ok(otherTypes(r)[name]())
		r.refused("WRONGTYPE", coolScript, append(plain.args(), second, "w1")...)
	}
}
