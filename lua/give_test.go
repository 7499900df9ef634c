package lua_test

import (
	"testing"
	"time"
)

// What a refund hands back is never what those behind already wait for.
func TestRefund(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 10}
	drained := func(r *rig) (now, start int64) {
		got := r.take(l, append(times(10, now1), ask{n: 1, patience: horizon}, ask{n: 1, patience: horizon})...)
		return got.now, got.now + got.outcomes[11].wait
	}
	tests := []struct {
		name     string
		earlier  int64 // the start given back lies this much before the last one, microseconds
		tokens   float64
		min, max float64 // tokens given back, to a bucket that has room for them
	}{
		{"the last one, whole", 0, 1, 1, 1},
		{"placed before another", 100000, 1, 0, 1e-4},
		{"large, placed before another", 100000, 3, 2, 2.0001},
		{"long gone", 10 * second, 5, 0, 0},
		{"later than the last", -second, 2, 2, 2},
		{"more than the capacity holds", 0, 50, 12, 12},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := r.under(t)
			at, start := drained(r)
			granted := r.field("granted")
			got := r.give(l, "refund", tt.tokens, start-tt.earlier)
			room := 12 - float64(got.now-at)/1e6*l.rate
			if got.tokens < min(tt.min, room)-1e-4 || got.tokens > tt.max {
				t.Errorf("gave back %v, want from %v to %v", got.tokens, tt.min, tt.max)
			}
			if got.level > 10 || r.field("granted") != granted {
				t.Errorf("level %v, granted %v, want at most 10 and %v", got.level, r.field("granted"), granted)
			}
		})
	}
}

// Where ts is slightly ahead, the last start lies behind it, not behind now.
func TestRefundReckonsFromATsAhead(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 10}
	r.take(l, ask{n: 10})
	at := r.now() + 900000
	r.set("tokens", "-1", "ts", seconds(at)) // paid 100 ms after ts
	got := r.give(l, "refund", 1, at)        // a start whose tokens the one after it was placed behind
	if got.tokens > 1e-4 {
		t.Errorf("gave back %v, want nothing: another start was placed 100 ms later", got.tokens)
	}
}

func TestSettleIsBoundedByOneCapacity(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.001}
	steps := []struct {
		tokens, given, level float64
		granted              float64
	}{
		{-4, -4, 6, 4},
		{3, 3, 9, 4},
		{5, 1, 10, 4}, // full is full
		{-15, -15, -5, 19},
		{-1000, -5, -10, 24},
		{-1, 0, -10, 24},
		{0, 0, -10, 24},
		{4, 4, -6, 24},
	}
	r.take(l) // begins it
	for i, s := range steps {
		got := r.give(l, "settle", s.tokens, 0)
		const refill = 1e-3 // one second of it
		if diff := got.level - s.level; diff < -1e-9 || diff > refill {
			t.Errorf("step %d: level %v, want %v", i, got.level, s.level)
		}
		if diff := got.tokens - s.given; diff < -refill || diff > refill {
			t.Errorf("step %d: given %v, want %v", i, got.tokens, s.given)
		}
		if diff := r.field("granted") - s.granted; diff < -refill || diff > refill {
			t.Errorf("step %d: granted %v, want %v", i, r.field("granted"), s.granted)
		}
	}
}

// A debt deeper than one capacity, from an override taken away, stays.
func TestSettleLeavesADeeperDebtAlone(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.001}
	r.take(l)
	r.set("tokens", "-25")
	if got := r.give(l, "settle", -5, 0); got.tokens != 0 || got.level > -24.9 {
		t.Errorf("given %v, level %v, want neither to move from -25", got.tokens, got.level)
	}
}

// Readers take a falling count for a restart; rounding must not look like one.
func TestSettleNeverLowersGranted(t *testing.T) {
	r := newRig(t)
	for i := range 40 {
		r := r.under(t)
		r.take(limits{capacity: 10, rate: 1e-9})
		granted := 50.6 + float64(i)/7
		r.set("tokens", "-15000000000.123", "granted", exact(granted))
		r.give(limits{capacity: 10, rate: 1e-9, gen: 2}, "settle", -1, 0)
		if got := r.field("granted"); got != granted {
			t.Errorf("granted went from %v to %v, though nothing was", granted, got)
		}
	}
}

func TestDebit(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.001}
	steps := []struct{ before, debit, after float64 }{
		{10, 4, 6}, {6, 6, 0}, {5, 99, 0}, {0, 3, 0}, {-2, 3, -2},
	}
	r.take(l)
	granted := 0.0
	for _, s := range steps {
		r.set("tokens", exact(s.before), "ts", seconds(r.now()))
		got := r.give(l, "debit", s.debit, 0)
		if diff := got.level - s.after; diff < 0 || diff > 1e-3 {
			t.Errorf("debit %v from %v: level %v, want %v", s.debit, s.before, got.level, s.after)
		}
		granted += max(0, s.before) - max(0, s.after)
	}
	if diff := r.field("granted") - granted; diff < -1e-2 || diff > 1e-2 {
		t.Errorf("granted %v, want what was debited, %v", r.field("granted"), granted)
	}
}

// A bucket that nobody knows yet is full: there is nothing to give back to it,
// but what was granted elsewhere counts.
func TestGiveBeginsABucket(t *testing.T) {
	r := newRig(t)
	for why, want := range map[string]float64{"refund": 10, "settle": 10, "debit": 7} {
		t.Run(why, func(t *testing.T) {
			r := r.under(t)
			got := r.give(limits{capacity: 10, rate: 0.001}, why, 3, r.now())
			if got.level != want || r.field("tokens") != want || r.field("capacity") != 10 {
				t.Errorf("level %v, stored %v, want %v", got.level, r.fields(), want)
			}
			if life := r.life(r.bucket); life < day {
				t.Errorf("lives %v", time.Duration(life)*time.Microsecond)
			}
		})
	}
}
