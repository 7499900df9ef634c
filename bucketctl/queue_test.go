package bucketctl

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

func TestUnusableNumbersOfTokensAreRefusedBeforeAnyCall(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerSecond(10))
	for _, n := range []float64{0, -3, math.NaN(), math.Inf(1), math.Inf(-1), 1e-12, 1e13} {
		if err := l.WaitN(t.Context(), n); !errors.Is(err, ErrTokens) {
			t.Errorf("WaitN(%v): %v", n, err)
		}
		if _, err := l.AllowN(t.Context(), n); !errors.Is(err, ErrTokens) {
			t.Errorf("AllowN(%v): %v", n, err)
		}
	}
	if n, err := s.Client(t).Exists(t.Context(), "k").Result(); err != nil || n != 0 {
		t.Errorf("a refused request left state: %v, %v", n, err)
	}
}

func TestMoreThanTheCapacityIsRefusedAtOnce(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerSecond(1).Burst(5))
	var exceeds *ExceedsCapacityError
	if err := l.WaitN(t.Context(), 6); !errors.As(err, &exceeds) || exceeds.Capacity != 5 || !errors.Is(err, ErrExceedsCapacity) {
		t.Errorf("6 of 5: %v", err)
	}
	if d, err := l.AllowN(t.Context(), 5); err != nil || !d.OK {
		t.Errorf("the refusal charged something: %+v, %v", d, err)
	}
}

func TestWaitThatDoesNotFitTheDeadlineChargesNothing(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerMinute(1).Burst(1))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := l.Peek(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	began := time.Now()
	var late *DeadlineError
	err = l.Wait(ctx)
	if !errors.As(err, &late) || !errors.Is(err, ErrDeadline) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a wait of a minute within 10 s: %v", err)
	}
	if late.Wait < 50*time.Second || late.Wait > time.Minute {
		t.Errorf("the error tells a wait of %v, want about a minute", late.Wait)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it was refused after %v, not at once", took)
	}
	after, err := l.Peek(t.Context())
	if err != nil || after.Granted != before.Granted {
		t.Errorf("charged %v before, %v after, %v", before.Granted, after.Granted, err)
	}
}

func TestReturnedWaitIsExact(t *testing.T) {
	s := redistest.Start(t)
	c := patientClient(t, s)
	for _, limit := range []Limit{PerDay(1), PerHour(7), PerMinute(300), PerSecond(3), PerSecond(10_000)} {
		limit = limit.Burst(5)
		key := "wait:" + limit.String()
		l := mustBucket(t, c, key, limit)
		if d, err := l.AllowN(t.Context(), 5); err != nil || !d.OK {
			t.Fatalf("%v: %+v, %v", limit, d, err)
		}
		v, err := l.ask(t.Context(), 5, nil, time.Time{}, true)
		if err != nil || v.code != codeRefused && limit.Rate < 100 {
			t.Fatalf("%v: an empty bucket answers %+v, %v", limit, v, err)
		}
		if v.code == codeCharged {
			continue // on a busy machine it filled up between the two calls
		}
		stored, err := s.Client(t).HMGet(t.Context(), key, "tokens", "ts").Result()
		if err != nil {
			t.Fatal(err)
		}
		tokens, ts := parse(t, stored[0]), parse(t, stored[1])
		elapsed := float64(v.at.UnixMicro()) - math.Round(ts*1e6)
		want := (5-tokens)/limit.Rate*1e6 - elapsed
		if got := float64(v.wait.Microseconds()); got < want-0.01 || got > want+1 {
			t.Errorf("%v: the wait is %v µs, exactly it is %v µs", limit, got, want)
		}
	}
}

func parse(t *testing.T, v any) float64 {
	t.Helper()
	text, ok := v.(string)
	if !ok {
		t.Fatalf("%v is no text", v)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCallerThatGivesUpGivesItsTokensBack(t *testing.T) {
	s := redistest.Start(t)
	c := patientClient(t, s, func(c *Config) { c.Horizon = 5 * time.Second })
	l := mustBucket(t, c, "k", PerSecond(1).Burst(1))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() { gone <- l.Wait(ctx) }()
	level := func() float64 {
		state, err := l.Peek(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return state.Level
	}
	awaitTrue(t, func() bool { return level() < -0.2 }) // charged ahead of its start
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	// Without the refund only time would pay the debt, a second for each token.
	began, debt := time.Now(), level()
	awaitTrue(t, func() bool { return level() >= 0 })
	if earned := time.Since(began).Seconds(); debt < 0 && earned > -debt {
		t.Errorf("the debt of %v was paid by time, not by the refund", debt)
	}
}

func TestQueueServesInOrderOfArrival(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerSecond(50).Burst(1))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := openAdmin(t, s)
	if _, err := a.Hold(t.Context(), "k", AnyRev, NoEnd(), "until all have arrived"); err != nil {
		t.Fatal(err)
	}
	const callers = 20
	var (
		all    sync.WaitGroup
		mu     sync.Mutex
		starts = map[int]time.Time{}
	)
	for i := range callers {
		all.Go(func() {
			v, err := l.acquire(t.Context(), 1)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			starts[i] = v.start()
		})
		awaitTrue(t, func() bool { return l.queue.waiting() == i+1 })
	}
	if _, err := a.Resume(t.Context(), "k", AnyRev, ""); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	for i := 1; i < callers; i++ {
		if !starts[i].After(starts[i-1]) {
			t.Errorf("caller %d starts at %v, the one before it at %v", i, starts[i], starts[i-1])
		}
	}
}

func TestAllowTakesNothingFromThoseWhoWait(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerSecond(1).Burst(1))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() { waited <- l.Wait(t.Context()) }()
	for {
		select {
		case err := <-waited:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
		if _, short := l.queue.shortage(); !short {
			continue // it does not wait yet, or no longer
		}
		if d, err := l.AllowN(t.Context(), 1); err != nil || (d.OK && d.Reason == "others wait") {
			t.Fatalf("Allow beside a waiter: %+v, %v", d, err)
		}
	}
}

func TestCloseWakesWaiters(t *testing.T) {
	s := redistest.Start(t)
	c := patientClient(t, s)
	l := mustBucket(t, c, "k", PerDay(1))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 2)
	for range 2 { // one speaks for the queue, one stands in it
		go func() { waited <- l.Wait(t.Context()) }()
	}
	awaitTrue(t, func() bool { _, short := l.queue.shortage(); return short && l.queue.waiting() == 2 })
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-waited; !errors.Is(err, ErrClosed) {
			t.Errorf("a waiter of a closed Client: %v", err)
		}
	}
	if err := l.Wait(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := c.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerSecond(1000))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Freeze()
	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan error, 1)
	go func() { returned <- l.Wait(ctx) }()
	awaitTrue(t, func() bool { return l.queue.waiting() == 1 })
	cancelled := time.Now()
	cancel()
	if err := <-returned; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	if took := time.Since(cancelled); took > 3*time.Second { // of the 20 s that the call has
		t.Errorf("it outlived its context by %v", took)
	}
}

func TestOneBucketHasOneLimiterAndOneLimit(t *testing.T) {
	s := redistest.Start(t)
	c := patientClient(t, s)
	first := mustBucket(t, c, "k", PerSecond(1))
	if again := mustBucket(t, c, "k", PerSecond(1)); again != first {
		t.Error("the same bucket got two limiters")
	}
	if _, err := c.Bucket("k", PerSecond(2)); !errors.Is(err, ErrLimit) {
		t.Errorf("another limit for the same bucket: %v", err)
	}
	for _, key := range []string{"", "a{b", "bucketctl:x"} {
		if _, err := c.Bucket(key, PerSecond(1)); !errors.Is(err, ErrKey) {
			t.Errorf("bucket %q: %v", key, err)
		}
	}
}

// A charge whose caller left is counted once, whoever starts with it in the
// end: as the bucket itself counts.
func TestChargeThatIsHandedOnIsCountedOnce(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s, func(c *Config) { c.Horizon = 3 * time.Second }), "k", PerSecond(0.5).Burst(1))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	left, served := make(chan error, 1), make(chan error, 1)
	go func() { left <- l.Wait(ctx) }() // charged for a start in 2 s
	awaitTrue(t, func() bool { return l.report().Granted == 2 })
	go func() { served <- l.Wait(t.Context()) }() // 4 s: beyond the horizon, so it stands in the queue
	awaitTrue(t, func() bool { _, short := l.queue.shortage(); return short })
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	state, err := l.Peek(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := l.report().Granted; got != 2 || state.Granted != 2 {
		t.Errorf("the worker counts %v granted, the bucket %v, want 2", got, state.Granted)
	}
}
