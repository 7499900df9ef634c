package bucketctl

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"bucketop/internal/redistest"
)

var _ Waiter = (*rate.Limiter)(nil)

func acquireN(t *testing.T, l *Limiter, n float64) *Grant {
	t.Helper()
	g, err := l.Acquire(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func levelOf(t *testing.T, l *Limiter) float64 {
	t.Helper()
	s, err := l.Peek(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Level
}

// wantLevelOf compares levels of a bucket that refills too slowly to matter.
func wantLevelOf(t *testing.T, l *Limiter, want float64) {
	t.Helper()
	if got := levelOf(t, l); math.Abs(got-want) > 0.01 {
		t.Errorf("the level is %v, want %v", got, want)
	}
}

func TestSettleChargesWhatItReallyCost(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerDay(1).Burst(100))
	g := acquireN(t, l, 60)
	if g.Mode != ModeShared || g.N != 60 || g.At.IsZero() {
		t.Errorf("the grant is %+v", g)
	}
	for _, used := range []float64{20, 0, 60} { // only the first counts
		if err := g.Settle(t.Context(), used); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantLevelOf(t, l, 80)

	if err := acquireN(t, l, 10).Settle(t.Context(), 50); err != nil {
		t.Fatal(err)
	}
	wantLevelOf(t, l, 30)
	if err := acquireN(t, l, 10).Settle(t.Context(), 1e6); err != nil {
		t.Fatal(err)
	}
	wantLevelOf(t, l, -100) // a debt of one capacity, and no more
}

func TestSettleRefusesWhatIsNoCost(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerDay(1).Burst(100))
	g := acquireN(t, l, 10)
	for _, used := range []float64{-1, math.NaN(), math.Inf(1), 2 * MaxCapacity} {
		if err := g.Settle(t.Context(), used); !errors.Is(err, ErrTokens) {
			t.Errorf("a cost of %v: %v", used, err)
		}
	}
	if err := g.Settle(t.Context(), 0); err != nil { // a refused cost did not settle it
		t.Fatal(err)
	}
	wantLevelOf(t, l, 100)
}

func TestCancelGivesBack(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerDay(1).Burst(100))
	g := acquireN(t, l, 40)
	for range 2 {
		if err := g.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantLevelOf(t, l, 100)
}

func TestSettleEndsWithItsContextAndSaysWhenRedisIsDown(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, openClient(t, s), "k", PerDay(1).Burst(100))
	first, second := acquireN(t, l, 10), acquireN(t, l, 10)
	s.Freeze()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := first.Settle(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	if err := second.Settle(t.Context(), 1); !errors.Is(err, ErrUnavailable) {
		t.Errorf("with Redis frozen: %v", err)
	}
}

func TestSettleOfALocalGrantChangesWhatIsDebited(t *testing.T) {
	s := redistest.Start(t)
	s.Kill()
	l := mustBucket(t, openClient(t, s), "k", PerSecond(1000).Burst(1000))
	g := acquireN(t, l, 10)
	if !g.Mode.Local() || g.Reason == "" {
		t.Fatalf("without Redis: %+v", g)
	}
	if err := g.Settle(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	if recent, _ := l.share.settle(time.Now()); recent != 4 {
		t.Errorf("%v tokens are to be debited, want 4", recent)
	}
}

func TestDo(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerDay(1).Burst(1))
	mine := errors.New("mine")
	if err := l.Do(t.Context(), func(context.Context) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("the function's error: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := l.Do(ctx, func(context.Context) error { t.Error("called without a token"); return nil })
	if !errors.Is(err, ErrDeadline) {
		t.Errorf("without a token in time: %v", err)
	}
}

func TestStrictNeverExceedsItsSpan(t *testing.T) {
	for _, tt := range []struct {
		n   float64
		per time.Duration
	}{{300, time.Minute}, {10, time.Second}, {2, time.Minute}, {1.5, time.Hour}, {1e6, 24 * time.Hour}} {
		l := Strict(tt.n, tt.per)
		if err := l.Validate(); err != nil {
			t.Errorf("Strict(%v, %v): %v", tt.n, tt.per, err)
		}
		most := l.Capacity + l.Rate*tt.per.Seconds()
		if most > tt.n*(1+1e-12) || most < tt.n*(1-1e-12) {
			t.Errorf("Strict(%v, %v) lets through %v", tt.n, tt.per, most)
		}
	}
	if err := Strict(1, time.Minute).Validate(); !errors.Is(err, ErrLimit) {
		t.Errorf("Strict(1, …), which could never let through anything in time: %v", err)
	}
}
