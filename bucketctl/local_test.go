package bucketctl

import (
	"math"
	"testing"
	"time"
)

// simStart is when the simulated times below begin.
func simStart() time.Time { return time.Unix(1_700_000_000, 0) }

// simulate asks for n tokens each step over length, and returns the tokens granted.
func simulate(s *share, part Limit, from time.Time, length, step, longest time.Duration, n float64) (granted float64) {
	for now := from; now.Before(from.Add(length)); now = now.Add(step) {
		if _, ok := s.take(now, part, n, longest); ok {
			granted += n
		}
	}
	return granted
}

func TestShareIsItsPartOfTheRate(t *testing.T) {
	for _, tt := range []struct {
		limit   Limit
		workers int
		n       float64
		length  time.Duration
		step    time.Duration
	}{
		{PerSecond(100), 4, 1, time.Minute, 5 * time.Millisecond},
		{PerMinute(300), 16, 1, 10 * time.Minute, 50 * time.Millisecond},
		{PerSecond(0.1), 1, 1, time.Hour, time.Second},
		{PerDay(1000), 4, 1, 2 * 24 * time.Hour, 20 * time.Second},
		{PerSecond(7.5), 3, 0.5, time.Minute, 10 * time.Millisecond},
		{PerSecond(100_000).Burst(1000), 2, 3, 200 * time.Millisecond, 10 * time.Microsecond},
		{PerMinute(60).Burst(8), 8, 4, time.Hour, 2 * time.Second}, // larger than the share's burst
	} {
		part := partOf(tt.limit, tt.workers)
		for _, longest := range []time.Duration{0, DefaultHorizon} {
			if longest == 0 && tt.n > part.Capacity {
				continue // never there at once: Allow is refused
			}
			patience := longest
			if tt.n > part.Capacity {
				patience = time.Minute
			}
			want := tt.limit.Rate / float64(tt.workers) * tt.length.Seconds()
			got := simulate(&share{}, part, simStart(), tt.length, tt.step, patience, tt.n)
			if math.Abs(got-want) > 0.05*want+tt.n+part.Rate*patience.Seconds() {
				t.Errorf("%v by %d workers, %v at a time: %v granted in %v, want %v", tt.limit, tt.workers, tt.n, got, tt.length, want)
			}
		}
	}
}

func TestShareStartsEmpty(t *testing.T) {
	part := partOf(PerSecond(10).Burst(1000), 2)
	var s share
	if wait, ok := s.take(simStart(), part, 1, 0); ok || wait != 200*time.Millisecond {
		t.Errorf("at the moment Redis goes: granted %v, wait %v, want 200ms", ok, wait)
	}
	if _, ok := s.take(simStart().Add(200*time.Millisecond), part, 1, 0); !ok {
		t.Error("a token that had come was refused")
	}
	s.settle(simStart().Add(time.Hour))
	if _, ok := s.take(simStart().Add(time.Hour), part, 1, 0); ok {
		t.Error("the next outage does not start empty")
	}
}

func TestShareNeverHoldsMoreThanItsBurst(t *testing.T) {
	part := partOf(PerSecond(10).Burst(20), 2)
	var s share
	s.take(simStart(), part, 1, 0)
	later := simStart().Add(time.Hour)
	if got := simulate(&s, part, later, 10*time.Millisecond, time.Millisecond, 0, 1); got != 10 {
		t.Errorf("after an hour %v are there at once, want 10", got)
	}
}

func TestRequestLargerThanTheSharesBurstWaitsForAllOfIt(t *testing.T) {
	part := partOf(PerSecond(8).Burst(16), 16) // 0.5/s, burst 1
	var s share
	wait, ok := s.take(simStart(), part, 3, 10*time.Second)
	if !ok || wait < 6*time.Second-time.Millisecond || wait > 6*time.Second+time.Millisecond {
		t.Fatalf("3 tokens at 0.5/s: %v, %v, want 6 s", wait, ok)
	}
	// The next is behind it, and is told so without booking anything.
	for range 3 {
		wait, ok = s.take(simStart(), part, 3, time.Second)
		if ok || wait < 12*time.Second-10*time.Millisecond || wait > 12*time.Second+10*time.Millisecond {
			t.Fatalf("3 more, within 1 s: %v, %v, want 12 s", wait, ok)
		}
	}
	if wait, ok = s.take(simStart().Add(6*time.Second), part, 1, 2*time.Second); !ok || wait > 2*time.Second {
		t.Errorf("after those refusals 1 token waits %v, %v", wait, ok)
	}
}

func TestRefusedRequestsTakeNothing(t *testing.T) {
	part := partOf(PerSecond(10).Burst(50), 1)
	var s share
	s.take(simStart(), part, 1, 0)
	now := simStart().Add(time.Second) // 10 tokens
	before := s.limiter.TokensAt(now)
	for _, n := range []float64{11, 49.5, 120, 1e6, 1e12} {
		if wait, ok := s.take(now, part, n, 50*time.Millisecond); ok || wait <= 0 {
			t.Errorf("%v tokens: granted %v, wait %v", n, ok, wait)
		}
	}
	if after := s.limiter.TokensAt(now); math.Abs(after-before) > 1 {
		t.Errorf("%v thousandths before the refusals, %v after them", before, after)
	}
}

// A wait that no duration can hold must not turn into none.
func TestWaitsBeyondAllTimeAreNoGrants(t *testing.T) {
	part := partOf(PerSecond(MinRate).Burst(100), UnknownWorkers)
	var s share
	for _, n := range []float64{1, 50, 100} {
		if wait, ok := s.take(simStart(), part, n, MaxHorizon); ok || wait < 24*time.Hour {
			t.Errorf("%v tokens at %v: granted %v, wait %v", n, part, ok, wait)
		}
	}
}

func TestShareFollowsTheLimit(t *testing.T) {
	slow, fast := partOf(PerSecond(10), 1), partOf(PerSecond(40).Burst(5), 1)
	var s share
	s.take(simStart(), slow, 1, 0)
	now := simStart().Add(time.Second)
	if got := s.limiter.TokensAt(now); got != 10*localUnits {
		t.Fatalf("%v thousandths after a second of 10/s", got)
	}
	s.take(now, fast, 100, 0) // refused, but seen
	if got := s.limiter.TokensAt(now); got > 5*localUnits {
		t.Errorf("%v thousandths above the new burst of 5", got)
	}
	if got := simulate(&s, fast, now, 10*time.Second, time.Millisecond, 0, 1); math.Abs(got-405) > 20 {
		t.Errorf("%v granted in 10 s at 40/s with 5 in stock", got)
	}
	later := now.Add(10 * time.Second)
	if got := simulate(&s, slow, later, 10*time.Second, time.Millisecond, 0, 1); math.Abs(got-100) > 10 {
		t.Errorf("%v granted in 10 s back at 10/s", got)
	}
}

func TestPartOf(t *testing.T) {
	got := partOf(PerMinute(300).Burst(4), 16)
	if got.Capacity != 1 || !close12(got.Rate, 5.0/16) || got.Per != time.Minute {
		t.Errorf("a sixteenth of 300/min: %+v", got)
	}
}

func TestSpending(t *testing.T) {
	const window = 16 * time.Second // slots of a second
	at := func(seconds float64) time.Time { return simStart().Add(time.Duration(seconds * float64(time.Second))) }
	var s spending
	if got := s.since(at(0)); got != 0 {
		t.Errorf("before anything was spent: %v", got)
	}
	for i := range 100 {
		s.add(at(float64(i)), 2, window)
	}
	for _, tt := range []struct{ after, want float64 }{{0, 32}, {1, 30}, {5, 22}, {15, 2}, {16, 0}, {1000, 0}} {
		if got := s.since(at(99 + tt.after)); got != tt.want {
			t.Errorf("%v s after the last: %v, want %v", tt.after, got, tt.want)
		}
	}
	s.add(at(500), 7, window) // slots of long ago are used again
	if got := s.since(at(500)); got != 7 {
		t.Errorf("after a pause: %v, want 7", got)
	}
}

// A limit that changes changes the window. What was spent within the old one
// is not lost, and not kept for ever either.
func TestSpendingOverAChangeOfTheWindow(t *testing.T) {
	for _, next := range []time.Duration{time.Second, time.Hour} {
		var s spending
		now := simStart()
		s.add(now, 5, time.Minute)
		s.add(now.Add(10*time.Second), 1, next)
		if got := s.since(now.Add(10 * time.Second)); got != 6 {
			t.Errorf("window of %v: %v, want 6", next, got)
		}
		if got := s.since(now.Add(10*time.Second + 2*next)); got != 0 {
			t.Errorf("window of %v: %v long after", next, got)
		}
	}
	for _, window := range []time.Duration{0, 1, math.MaxInt64} {
		var s spending
		s.add(simStart(), 1, window)
		if got := s.since(simStart()); got != 1 {
			t.Errorf("window of %v: %v, want 1", window, got)
		}
	}
}

func TestShareSettles(t *testing.T) {
	var s share
	s.spend(simStart(), 3, 16*time.Second)
	s.spend(simStart().Add(20*time.Second), 4, 16*time.Second)
	if recent, total := s.settle(simStart().Add(20 * time.Second)); recent != 4 || total != 7 {
		t.Errorf("settled %v of %v, want 4 of 7", recent, total)
	}
	if recent, total := s.settle(simStart().Add(20 * time.Second)); recent != 0 || total != 0 {
		t.Errorf("settled again: %v of %v", recent, total)
	}
}
