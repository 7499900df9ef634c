package lua_test

import (
	"testing"
	"time"
)

// A stored time far ahead is set to now, without credit, and that is written
// even though nothing is granted.
func TestTsFarAheadIsAnchoredToNow(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.01}
	for _, ahead := range []int64{2 * second, minute, day, 365 * day} {
		t.Run(time.Duration(ahead*1000).String(), func(t *testing.T) {
			r := r.under(t)
			r.take(l, ask{n: 10})
			r.set("tokens", "0", "ts", seconds(r.now()+ahead))
			got := r.take(l, now1)
			if got.mended != 2 || got.granted() != 0 || got.level != 0 {
				t.Errorf("mended %d, granted %d, level %v, want 2, 0, 0", got.mended, got.granted(), got.level)
			}
			if r.stored() != got.now {
				t.Errorf("ts is %d, want it written as %d", r.stored(), got.now)
			}
			if wait := got.outcomes[0].wait; wait != 100*second {
				t.Errorf("wait %d µs, want 100 s from now", wait)
			}
			r.back(100 * time.Second)
			if got := r.take(l, now1); got.mended != 0 || got.granted() != 1 {
				t.Errorf("after the wait: mended %d, granted %d", got.mended, got.granted())
			}
		})
	}
}

// A stored time slightly ahead stays: nothing accrues until then, and waits
// count from there.
func TestTsSlightlyAheadStays(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 2}
	r.take(l)
	ts := r.now() + 900000
	r.set("tokens", "0.5", "ts", seconds(ts))
	got := r.take(l, now1, ask{n: 0.5}, ask{n: 1, patience: endless})
	if got.mended != 0 || got.level != 0.5 {
		t.Errorf("mended %d, level %v, want 0 and 0.5", got.mended, got.level)
	}
	lag := ts - got.now
	for i, want := range []outcome{{refusedNow, lag + 250000}, {refusedNow, lag}, {waits, lag + 250000}} {
		if got.outcomes[i] != want {
			t.Errorf("request %d: %v, want %v", i, got.outcomes[i], want)
		}
	}
	got = r.take(l, ask{n: 0.5, patience: endless}, ask{n: 1, patience: endless})
	if r.stored() != ts {
		t.Errorf("ts moved from %d to %d", ts, r.stored())
	}
}

// A charge while ts is slightly ahead keeps ts, and is placed exactly.
func TestAChargeWhileTsIsSlightlyAhead(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 10}
	r.take(l)
	ts := r.now() + 900000
	r.set("tokens", "0", "ts", seconds(ts))
	got := r.takeAhead(l, 2*second, ask{n: 1, patience: endless})
	if want := (outcome{charged, ts + 100000 - got.now}); got.outcomes[0] != want {
		t.Errorf("%v, want %v", got.outcomes[0], want)
	}
	if r.stored() != ts || r.field("tokens") != -1 {
		t.Errorf("stored %v at %d, want -1 at %d", r.field("tokens"), r.stored(), ts)
	}
	r.back(time.Second)
	got = r.take(l)
	r.wantAccrued(got, -1, ts-second, 10)
}

// A late call can't move time back: there is no clock but the server's.
func TestTimeNeverMovesBack(t *testing.T) {
	r := newRig(t)
	last := int64(0)
	for range 200 {
		got := r.take(limits{capacity: 1e6, rate: 1}, now1)
		if ts := r.stored(); ts < last || ts != got.now {
			t.Fatalf("ts went from %d to %d, at %d", last, ts, got.now)
		}
		last = r.stored()
	}
}

// Refill starts after a cooldown, and no cooldown is charged against.
func TestCooldown(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 1}
	r.take(l, ask{n: 10})
	r.set("tokens", "0", "ts", seconds(r.now()))
	until := r.now() + 30*second
	r.set("blocked", until)
	got := r.take(l, now1, ask{n: 1, patience: minute}, ask{n: 11, patience: minute})
	if got.stop != coolingDown || got.stopEnd != until || got.mended != 0 {
		t.Errorf("stop %d until %d, mended %d, want %d until %d", got.stop, got.stopEnd, got.mended, coolingDown, until)
	}
	left := until - got.now
	for i, want := range []outcome{{refusedNow, left}, {waits, left}, {impossible, 0}} {
		if got.outcomes[i] != want {
			t.Errorf("request %d: %v, want %v", i, got.outcomes[i], want)
		}
	}
	if got.ask != left || r.field("granted") != 10 {
		t.Errorf("ask %d, granted %v, want %d and 10", got.ask, r.field("granted"), left)
	}
	r.back(33 * time.Second)
	r.wantAccrued(r.take(l), 0, until-33*second, 1)
}

// What was charged during a cooldown, an edit say, must not count its time.
func TestNoRefillDuringACooldown(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 1}
	r.take(l, ask{n: 10})
	r.set("tokens", "0", "ts", seconds(r.now()), "blocked", r.now()+30*second)
	until := int64(r.field("blocked"))
	for range 5 {
		r.back(4 * time.Second)
		until -= 4 * second
		edited := r.limit(anyRev, strange, edit{rate: "2", end: "forever"})
		r.wantLevel("during the cooldown", number(r, edited.bucket["tokens"]), 0)
	}
	r.back(12 * time.Second)
	r.wantAccrued(r.take(l), 0, until-12*second, 2)
}

// A cooldown beyond the longest can't be; a sound one survives other damage.
func TestCooldownThatCannotBe(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.01}
	r.take(l)
	r.set("blocked", r.now()+365*day, "blocked_by", "w1")
	got := r.take(l, times(12, now1)...)
	if got.mended != 1 || got.stop != running || got.granted() != 0 || got.level != 0 {
		t.Errorf("%+v, want it begun again from empty", got)
	}
	if f := r.fields(); f["blocked"] != "" || f["blocked_by"] != "" {
		t.Errorf("still there: %v", f)
	}
	until := r.now() + hour
	r.set("blocked", until, "tokens", "nan")
	got = r.take(l, now1)
	if got.mended != 1 || got.stop != coolingDown || got.stopEnd != until {
		t.Errorf("%+v, want the cooldown until %d to stay", got, until)
	}
}
