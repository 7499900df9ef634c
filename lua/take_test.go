package lua_test

import (
	"math"
	"strconv"
	"testing"
	"time"
)

func TestANewBucketBeginsFull(t *testing.T) {
	r := newRig(t)
	got := r.take(limits{capacity: 10, rate: 0.001, gen: genNow}, times(12, now1)...)
	if got.granted() != 10 || got.mended != 0 || got.capacity != 10 || got.rate != 0.001 {
		t.Errorf("%+v, want 10 granted", got)
	}
	if got.gen != got.now || got.rev != 0 || got.overEnd != 0 || got.ticket != 0 {
		t.Errorf("generation %d at %d, rev %d, override until %d, ticket %d", got.gen, got.now, got.rev, got.overEnd, got.ticket)
	}
	want := map[string]string{
		"tokens": "0", "granted": "10", "capacity": "10", "rate": "0.001", "per": "1000000", "gen": strconv.FormatInt(got.now, 10),
		"ts": seconds(got.now),
	}
	f := r.fields()
	for name, value := range want {
		if f[name] != value && number(r, f[name]) != number(r, value) {
			t.Errorf("%s is %q, want %q", name, f[name], value)
		}
	}
	if len(f) != len(want)+1 { // and exp
		t.Errorf("fields %v", f)
	}
}

// L04: what is refused takes nothing, and doesn't pin the key.
func TestRefusedRequestsTakeNothing(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.0001}
	r.take(l, ask{n: 8})
	before := r.dump()
	got := r.take(l, ask{n: 5})
	if got.outcomes[0].code != refusedNow || r.dump() != before {
		t.Errorf("%+v, and the bucket is %s, want it to stay %s", got.outcomes, r.dump(), before)
	}
	for range 5 {
		if got := r.take(l, ask{n: 1e6, patience: endless}); got.outcomes[0] != (outcome{impossible, 0}) {
			t.Errorf("a million of 10: %+v", got.outcomes)
		}
	}
	if r.dump() != before {
		t.Errorf("impossible requests changed the bucket to %s", r.dump())
	}
	if got := r.take(l, ask{n: 2}); got.granted() != 1 {
		t.Errorf("the 2 that are left: %+v", got.outcomes)
	}
}

// In order, and what cannot be served does not stop those behind it; only who
// waits does. The rate is a hundredth of a token a second, so that the time
// between two calls decides nothing.
func TestOrder(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.01}
	const (
		ahead = 100 * horizon
		long  = 2000 * second
	)
	c, f, w, x := charged, refusedNow, waits, impossible
	tests := []struct {
		name  string
		level float64
		asks  []ask
		codes []int
		after float64
	}{
		{"refused does not stop", 2, []ask{{5, 0}, {2, 0}}, []int{f, c}, 0},
		{"impossible does not stop", 2, []ask{{11, long}, {2, 0}}, []int{x, c}, 0},
		{"who waits stops", 2, []ask{{5, long}, {2, long}}, []int{w, w}, 2},
		{"Allow behind who waits", 2, []ask{{5, long}, {1, 0}}, []int{w, f}, 2},
		{"impatient behind who waits", 2, []ask{{5, long}, {1, 100 * second}, {1, long}}, []int{w, f, w}, 2},
		{"Allow before who waits", 2, []ask{{1, 0}, {5, long}, {1, 0}}, []int{c, w, f}, 1},
		{"all charged", 6, []ask{{1, 0}, {2, 0}, {3, 0}}, []int{c, c, c}, 0},
		{"into debt within the horizon", 0, []ask{{0.2, long}, {0.04, long}, {0.1, long}}, []int{c, c, w}, -0.24},
		{"into debt within the patience", 0, []ask{{0.2, 20 * second}, {0.1, 10 * second}}, []int{c, f}, -0.2},
		{"fraction", 0.4, []ask{{0.5, 0}, {0.4, 0}}, []int{f, c}, 0}, // L16
		{"nobody", 3, nil, nil, 3},
		{"impossible behind who waits", 2, []ask{{5, long}, {11, long}, {1, long}}, []int{w, x, w}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := r.under(t)
			r.take(l)
			r.set("tokens", exact(tt.level), "ts", seconds(r.now()))
			got := r.takeAhead(l, ahead, tt.asks...)
			for i, want := range tt.codes {
				if got.outcomes[i].code != int64(want) {
					t.Errorf("request %d: code %d, want %d", i, got.outcomes[i].code, want)
				}
			}
			if diff := got.level - tt.after; diff < -1e-9 || diff > 0.05 {
				t.Errorf("level %v, want %v", got.level, tt.after)
			}
		})
	}
}

// A wait is what is missing, by stored level and time, to a microsecond; and
// who comes back after it is served.
func TestWaitsAreExact(t *testing.T) {
	r := newRig(t)
	rates := map[string]float64{
		"1/day": 1.0 / 86400, "1/h": 1.0 / 3600, "7/min": 7.0 / 60, "1/s": 1, "3/s": 3, "50/s": 50, "1000/s": 1000, "10000/s": 10000,
	}
	for name, rate := range rates {
		t.Run(name, func(t *testing.T) {
			r := r.under(t)
			l := limits{capacity: 100, rate: rate}
			r.take(l)
			for _, level := range []float64{0, 0.3, -0.7, -30, 0.9999, 2.5} {
				r.leaveTheQueue() // where those who asked before would be served first
				r.set("tokens", exact(level), "ts", seconds(r.now()))
				ts := r.stored()
				got := r.take(l, ask{n: 3}, ask{n: 5, patience: endless}, ask{n: 7, patience: endless})
				passed := float64(got.now - ts)
				for i, n := range []float64{3, 5, 12} {
					want := math.Max(0, (n-level)/rate*1e6-passed)
					wait := float64(got.outcomes[i].wait)
					if i > 0 && (got.outcomes[0].code == charged || got.outcomes[1].code == charged) {
						break // refilled meanwhile, or within the horizon: placed, not told
					}
					if diff := wait - want; diff < -2 || diff > 1.01+want*1e-12 {
						t.Errorf("level %v, %v tokens: wait %v µs, want %v", level, n, wait, want)
					}
				}
			}
		})
	}
}

// Returning after the wait that was told is always enough.
func TestComingBackAfterTheWaitIsServed(t *testing.T) {
	r := newRig(t)
	for _, rate := range []float64{1.0 / 86400, 1.0 / 60, 0.7, 3, 49.9, 777, 10000} {
		l := limits{capacity: 20, rate: rate}
		t.Run(exact(rate), func(t *testing.T) {
			r := r.under(t)
			r.take(l, ask{n: 20})
			for _, n := range []float64{1, 0.1, 3.3, 20, 1.0 / 3} {
				got := r.take(l, ask{n: n})
				for range 2 { // the first may be refused, the second never
					if got.outcomes[0].code == charged {
						break
					}
					r.back(time.Duration(got.outcomes[0].wait) * time.Microsecond)
					got = r.take(l, ask{n: n})
				}
				if got.outcomes[0] != (outcome{charged, 0}) {
					t.Errorf("%v tokens at %v/s after their wait: %v, level %v", n, rate, got.outcomes[0], got.level)
				}
			}
		})
	}
}

// A charge ahead is told a start; the next one's is exactly n/rate later.
func TestStartsAreSpacedByTheRate(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 5, rate: 40}
	got := r.take(l, append(times(5, now1), times(12, ask{n: 1, patience: endless})...)...)
	for i := 5; i < 15; i++ {
		want := outcome{charged, int64(i-4) * 25000}
		if got.outcomes[i] != want {
			t.Errorf("request %d: %v, want %v", i, got.outcomes[i], want)
		}
	}
	for i := 15; i < 17; i++ {
		want := outcome{waits, int64(i-4) * 25000}
		if got.outcomes[i] != want {
			t.Errorf("request %d: %v, want %v", i, got.outcomes[i], want)
		}
	}
	if got.ask != 300000-horizon || got.level != -10 { // when both who wait can be charged
		t.Errorf("ask %d, level %v, want %d and -10", got.ask, got.level, 300000-horizon)
	}
}

// Waits are told in whole microseconds, never too short; under two there is
// none, since no sleep is that short.
func TestWaitsAreRoundedUp(t *testing.T) {
	r := newRig(t)
	for rate, waits := range map[float64][]int64{
		3:      {0, 333334, 666667, 1000000},
		100000: {0, 10, 20, 30},
		500000: {0, 2, 4, 6},
		1e6:    {0, 0, 2, 3},
		1e9:    {0, 0, 0, 0},
	} {
		r := r.under(t)
		got := r.takeAhead(limits{capacity: 1, rate: rate}, 2*second, times(4, ask{n: 1, patience: endless})...)
		for i, wait := range waits {
			if want := (outcome{charged, wait}); got.outcomes[i] != want {
				t.Errorf("at %v/s request %d: %v, want %v", rate, i, got.outcomes[i], want)
			}
		}
	}
}

// The second part of L10.
func TestIdleTimeGrantsWhatAccruedAndNoMore(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 3, rate: 1.0 / 15}
	r.take(l, times(3, now1)...)
	r.back(20 * time.Second)
	if got := r.take(l, times(3, now1)...); got.granted() != 1 {
		t.Errorf("granted %d after 20 s at one in 15 s, want 1", got.granted())
	}
}

// L03: from EMPTY, and never more than the capacity.
func TestCorruptValuesBeginFromEmpty(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.001}
	for _, field := range numbered {
		for _, value := range garbage {
			t.Run(field+" "+value, func(t *testing.T) {
				r := r.under(t)
				r.take(l, ask{n: 1})
				r.set(field, value)
				got := r.take(l, times(20, now1)...)
				if got.mended != 1 || got.granted() != 0 || got.level != 0 {
					t.Errorf("mended %d, granted %d, level %v, want 1, 0, 0", got.mended, got.granted(), got.level)
				}
				again := r.take(l, times(20, now1)...)
				if again.mended != 0 || again.granted() != 0 {
					t.Errorf("the next take: mended %d, granted %d", again.mended, again.granted())
				}
				if r.life(r.bucket) < day {
					t.Errorf("lives %v h", r.life(r.bucket)/hour)
				}
			})
		}
	}
}

// A count that gets too long to be read begins again, which readers take for a
// restart; it must not look like damage.
func TestGrantedBeginsAgainBeforeItCannotBeRead(t *testing.T) {
	r := newRig(t)
	r.take(plain)
	r.set("granted", "8999999999999999")
	r.take(plain, ask{n: 2})
	if got := r.take(plain, now1); got.mended != 0 || got.granted() != 1 || r.field("granted") > 10 {
		t.Errorf("mended %d, granted %v", got.mended, r.field("granted"))
	}
}

func TestHalfAStateIsCorrupt(t *testing.T) {
	r := newRig(t)
	for _, missing := range []string{"tokens", "ts"} {
		r := r.under(t)
		r.take(plain, now1)
		r.ok(r.c.HDel(r.ctx, r.bucket, missing).Err())
		if got := r.take(plain, now1); got.mended != 1 || got.granted() != 0 || got.level != 0 {
			t.Errorf("without %s: %+v, want it begun again from empty", missing, got)
		}
	}
}

// Held: nothing is charged, and callers are told until when.
func TestHeldBucketChargesNothing(t *testing.T) {
	r := newRig(t)
	r.take(plain, now1)
	for _, end := range []string{"forever", "+60000000", "nonsense"} {
		t.Run(end, func(t *testing.T) {
			r := r.under(t)
			r.take(plain, now1)
			if end == "nonsense" {
				r.note("hold", end) // an end that can't be read holds: the safe side
			} else {
				r.hold(anyRev, strange, end)
			}
			granted := r.field("granted")
			got := r.take(plain, now1, ask{n: 1, patience: 1}, ask{n: 1, patience: endless}, ask{n: 99})
			left, wantEnd := endless, int64(0)
			if end == "+60000000" {
				wantEnd = got.stopEnd
				left = got.stopEnd - got.now
				if left > minute || left < minute-slack {
					t.Errorf("ends in %d µs, want a minute", left)
				}
			}
			if got.stop != heldUp || got.stopEnd != wantEnd {
				t.Errorf("stop %d until %d", got.stop, got.stopEnd)
			}
			for i, want := range []outcome{{refusedNow, left}, {waits, left}, {waits, left}, {impossible, 0}} {
				if got.outcomes[i] != want {
					t.Errorf("request %d: %v, want %v", i, got.outcomes[i], want)
				}
			}
			if r.field("granted") != granted || got.ask != left {
				t.Errorf("granted %v, want %v; ask %d, want %d", r.field("granted"), granted, got.ask, left)
			}
		})
	}
}
