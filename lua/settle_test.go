package lua_test

import (
	"testing"
	"time"
)

// wantAccrued fails unless the level is what `level` tokens stored at `from`
// have become by now at `rate`, to a microsecond of refill.
func (r *rig) wantAccrued(got taken, level float64, from int64, rate float64) {
	r.Helper()
	want := level + float64(got.now-from)/1e6*rate
	if diff := got.level - want; diff < -1e-6*rate-1e-9 || diff > 1e-6*rate+1e-9 {
		r.Errorf("level %.12g, want %.12g: %g tokens and %d µs at %g/s", got.level, want, level, got.now-from, rate)
	}
}

// L18, first part: a smaller capacity cuts off what is above it.
func TestLoweredCapacityCutsTheLevel(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 100, rate: 0.01}
	r.take(l)
	r.wantResult("edit", r.limit(anyRev, strange, edit{capacity: "10", end: "forever"}), "ok")
	if got := r.take(l, times(50, now1)...); got.granted() != 10 {
		t.Errorf("granted %d of 50, want exactly 10", got.granted())
	}
}

// L18, second part: a larger capacity is no gift.
func TestRaisedCapacityIsNoGift(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.01}
	r.take(l, ask{n: 10})
	r.wantResult("edit", r.limit(anyRev, strange, edit{capacity: "100", end: "forever"}), "ok")
	if got := r.take(l, times(50, now1)...); got.granted() != 0 || got.capacity != 100 {
		t.Errorf("granted %d of 50 from an empty bucket of %v, want none of 100", got.granted(), got.capacity)
	}
}

// L18, third part: time that passed before an edit counts at the old rate.
func TestElapsedTimeIsSettledAtTheOldRate(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 1000, rate: 1}
	r.take(l, ask{n: 1000})
	from := r.stored()
	r.back(10 * time.Second)
	edited := r.limit(anyRev, strange, edit{rate: "100", end: "forever"})
	r.wantResult("edit", edited, "ok")
	at := 10 + float64(edited.now-from)/1e6
	r.wantLevel("at the edit", number(r, edited.bucket["tokens"]), at)
	r.wantAccrued(r.take(l), at, edited.now, 100)
}

// The same for a new generation of the declared limit.
func TestANewGenerationSettlesAtTheOldRate(t *testing.T) {
	r := newRig(t)
	r.take(limits{capacity: 1000, rate: 1, gen: 7}, ask{n: 1000})
	from := r.stored()
	r.back(10 * time.Second)
	fast := limits{capacity: 500, rate: 100, gen: 8}
	got := r.take(fast)
	r.wantLevel("at the change", got.level, 10+float64(got.now-from)/1e6)
	if got.rate != 100 || got.capacity != 500 || got.gen != 8 {
		t.Errorf("in force %v and %v of generation %d, want 500 and 100 of 8", got.capacity, got.rate, got.gen)
	}
	changed := got.now
	r.wantAccrued(r.take(fast), got.level, changed, 100)
}

// Lowering 50/s to 1/min must not freeze a bucket in debt for minutes.
func TestADebtKeepsItsTimeNotItsTokens(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 50, rate: 50}
	changes := map[string]func(r *rig) limits{
		"override": func(r *rig) limits {
			r.wantResult("edit", r.limit(anyRev, strange, edit{rate: "0.016666666666666666", end: "forever"}), "ok")
			return l
		},
		"generation": func(*rig) limits { return limits{capacity: 50, rate: 1.0 / 60, gen: 2} },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			r := r.under(t)
			before := r.takeAhead(l, minute, append(times(50, now1), times(10, ask{n: 50, patience: minute})...)...)
			if before.level != -500 {
				t.Fatalf("level %v, want a debt of 10 s", before.level)
			}
			after := r.take(change(r), ask{n: 1e-6})
			owed := before.level / 50 * 1e6           // µs, when it was taken
			left := after.level / (1.0 / 60) * 1e6    // µs, now
			passed := float64(after.now - before.now) // µs
			if diff := left - (owed + passed); diff < -1.5 || diff > 1.5 {
				t.Errorf("%v µs of debt left after %v, want %v", left, passed, owed+passed)
			}
			if wait := after.outcomes[0].wait; wait > 11*second {
				t.Errorf("a crumb waits %v µs", wait)
			}
		})
	}
}

// Raising it again gives the same debt back, in time.
func TestADebtSurvivesThereAndBack(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 50, rate: 5}
	r.takeAhead(l, minute, ask{n: 50}, ask{n: 50, patience: minute}) // a debt of 10 s
	before, at := r.field("tokens"), r.stored()
	r.limit(anyRev, strange, edit{rate: "0.01", end: "forever"})
	r.limit(anyRev, strange, edit{rate: "declared"})
	r.wantLevel("debt", r.field("tokens"), before+float64(r.stored()-at)/1e6*5)
}

// But raising the rate makes no debt deeper than one capacity: whoever raises it
// wants the way free, and not the days that were owed at the old rate.
func TestARaisedRateFreesTheWay(t *testing.T) {
	for _, l := range []limits{{capacity: 10, rate: 1.0 / 86400}, {capacity: 1e12, rate: 1e-9}} {
		r := newRig(t)
		r.take(l, ask{n: l.capacity})
		r.give(l, "settle", -l.capacity, 0)
		r.wantResult("edit", r.limit(anyRev, strange, edit{rate: exact(10 * l.capacity), end: "forever"}), "ok")
		got := r.take(l, now1)
		if got.mended != 0 || got.level < -l.capacity {
			t.Errorf("mended %d, level %v: deeper than a capacity of %v", got.mended, got.level, l.capacity)
		}
		if wait := got.outcomes[0].wait; wait > 2*second/10 {
			t.Errorf("with a rate of ten capacities a second, one waits %v µs", wait)
		}
	}
}

// Idle time that an override ended in counts piecewise.
func TestAnOverridesEndInIdleTime(t *testing.T) {
	r := newRig(t)
	tests := []struct {
		name             string
		over             edit
		start, idle, end float64 // level, then seconds since the edit
		want             float64 // level, without what accrues while the test runs
	}{
		{"faster before", edit{rate: "10"}, 0, 20, 5, 5*10 + 15*1},
		{"slower before", edit{rate: "0.1"}, 0, 20, 5, 5*0.1 + 15*1},
		{"smaller before", edit{capacity: "3"}, 0, 20, 5, 3 + 15*1},
		{"larger before", edit{capacity: "500", rate: "100"}, 0, 6, 5, 100}, // cut to the declared 100
		{"not yet", edit{rate: "10"}, 0, 4, 5, 4 * 10},
		{"in debt, not paid by the end", edit{rate: "2"}, -20, 8, 5, (-20+10)*1.0/2 + 3},
		{"in debt, paid before the end", edit{rate: "2"}, -4, 8, 5, -4 + 10 + 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := r.under(t)
			l := limits{capacity: 100, rate: 1}
			r.take(l)
			tt.over.end = "+1000000000"
			edited := r.limit(anyRev, strange, tt.over)
			r.set("tokens", exact(tt.start), "ts", seconds(edited.now))
			r.note("until", edited.now+int64(tt.end*1e6))
			r.back(time.Duration(tt.idle * float64(time.Second)))
			got := r.take(l)
			rate := 1.0
			if tt.name == "not yet" {
				rate = 10
			}
			extra := float64(got.now-edited.now) / 1e6 * rate
			if got.capacity == 100 && tt.want == 100 {
				extra = 0
			}
			r.wantLevel("after idling", got.level, tt.want+extra)
			if over := got.overEnd; (over != 0) != (tt.name == "not yet") {
				t.Errorf("override until %d", over)
			}
		})
	}
}

// Without a write no time may be lost or counted twice: L14.
func TestPollingNeitherStarvesNorFeeds(t *testing.T) {
	r := newRig(t)
	tests := []struct{ every, span time.Duration }{
		{50 * time.Millisecond, 10 * time.Second},
		{time.Millisecond, 2 * time.Second},
		{10 * time.Microsecond, 0}, // the calls themselves take longer
	}
	for _, tt := range tests {
		t.Run(tt.every.String(), func(t *testing.T) {
			r := r.under(t)
			l := limits{capacity: 10, rate: 10}
			began := r.take(l, ask{n: 10})
			granted, virtual, last := 0, time.Duration(0), began
			for i := 0; i < 200 || virtual < tt.span; i++ {
				r.back(tt.every)
				virtual += tt.every
				last = r.take(l, now1)
				granted += last.granted()
			}
			passed := virtual.Seconds() + float64(last.now-began.now)/1e6
			// Each grant may leave up to one poll's worth of refill unused.
			if most := passed * 10; float64(granted) > most || float64(granted) < most*0.6-1 {
				t.Errorf("granted %d in %.3f s at 10/s", granted, passed)
			}
		})
	}
}

// R14: a failover to a replica that is behind costs one capacity at most.
func TestAnOlderStateComesBack(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.1}
	r.take(l)
	dump := r.c.Dump(r.ctx, r.bucket).Val()
	r.take(l, times(10, now1)...)
	r.back(5 * time.Second)
	r.ok(r.c.RestoreReplace(r.ctx, r.bucket, time.Minute, dump).Err())
	if got := r.take(l, times(30, now1)...); got.granted() != 10 {
		t.Errorf("granted %d, want one capacity, 10", got.granted())
	}
}
