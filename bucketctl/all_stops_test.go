package bucketctl

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

func TestAllRefusesWhatCannotBeDrawnTogether(t *testing.T) {
	s := redistest.Start(t)
	c := patientClient(t, s)
	requests, tokens := twoBuckets(t, c)
	elsewhere := mustBucket(t, c, "other", PerSecond(1))
	stranger := mustBucket(t, patientClient(t, s), "llm:{gpt}:stranger", PerSecond(1))
	window, err := c.Window("llm:{gpt}:window", Window{Limit: 10, Per: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		needs []Need
		want  error
	}{
		"nothing":        {nil, ErrTogether},
		"no bucket":      {[]Need{{}}, ErrTogether},
		"one twice":      {[]Need{requests.Need(1), requests.Need(2)}, ErrTogether},
		"another client": {[]Need{requests.Need(1), stranger.Need(1)}, ErrTogether},
		"a window":       {[]Need{requests.Need(1), window.Need(1)}, ErrTogether},
		"no tokens":      {[]Need{requests.Need(1), tokens.Need(0)}, ErrTokens},
		"other slots":    {[]Need{requests.Need(1), elsewhere.Need(1)}, ErrSlots},
	} {
		if _, err := c.All(tt.needs...); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	_, err = c.All(tokens.Need(1), elsewhere.Need(1))
	var slots *SlotsError
	if !errors.As(err, &slots) || !errors.Is(err, ErrTogether) || slots.Key != tokens.Key() || slots.Other != elsewhere.Key() || !strings.Contains(err.Error(), "{tag}") {
		t.Errorf("other slots: %v", err)
	}
	if mustAll(t, c, requests.Need(1), tokens.Need(5)).set != mustAll(t, c, tokens.Need(7), requests.Need(2)).set {
		t.Error("the same buckets in another order stand in another queue")
	}
}

// A stop of one bucket stops all, whichever it is, and nothing is charged.
func TestAStopOfOneStopsAll(t *testing.T) {
	s := redistest.Start(t)
	c, a := patientClient(t, s), openAdmin(t, s)
	requests, tokens := twoBuckets(t, c)
	all := mustAll(t, c, requests.Need(1), tokens.Need(100))
	if err := all.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Hold(t.Context(), tokens.Key(), AnyRev, NoEnd(), ""); err != nil {
		t.Fatal(err)
	}
	if d, err := all.Allow(t.Context()); err != nil || d.OK || d.Key != tokens.Key() || d.Reason != "held" {
		t.Errorf("held: %+v, %v", d, err)
	}
	waited := make(chan error, 1)
	go func() { waited <- all.Wait(t.Context()) }()
	awaitTrue(t, func() bool {
		for _, b := range c.Stats().Buckets {
			if b.Waiting != 1 {
				return false
			}
		}
		return true
	})
	wantLevels(t, "held", map[*Limiter]float64{requests: 9, tokens: 900})
	resumed := time.Now()
	if _, err := a.Resume(t.Context(), tokens.Key(), AnyRev, ""); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil || time.Since(resumed) > 3*time.Second {
		t.Errorf("after the resume: %v, %v", err, time.Since(resumed))
	}
	if err := requests.Cooldown(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if d, err := all.Allow(t.Context()); err != nil || d.OK || d.Key != requests.Key() || d.Reason != "cooldown" {
		t.Errorf("cooling down: %+v, %v", d, err)
	}
}

func TestAllNamesTheKeyThatIsNoBucket(t *testing.T) {
	s := redistest.Start(t)
	c := patientClient(t, s)
	requests, tokens := twoBuckets(t, c)
	do(t, s.Client(t), []any{"SET", tokens.Key(), "5"})
	err := mustAll(t, c, requests.Need(1), tokens.Need(1)).Wait(t.Context())
	if !errors.Is(err, ErrWrongType) || !strings.Contains(err.Error(), tokens.Key()) || strings.Contains(err.Error(), requests.Key()) {
		t.Errorf("a text beside a bucket: %v", err)
	}
	if err := requests.Wait(t.Context()); err != nil {
		t.Errorf("the bucket beside it: %v", err)
	}
}

func TestCloseWakesWhoeverWaitsForSeveral(t *testing.T) {
	c := patientClient(t, redistest.Start(t))
	requests, tokens := twoBuckets(t, c)
	waited := make(chan error, 1)
	if err := mustAll(t, c, requests.Need(10), tokens.Need(1)).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := mustAll(t, c, requests.Need(1), tokens.Need(1))
	go func() { waited <- all.Wait(t.Context()) }()
	awaitTrue(t, func() bool { _, short := all.set.queue.shortage(); return short })
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; !errors.Is(err, ErrClosed) {
		t.Errorf("a waiter of a closed client: %v", err)
	}
}

// Settled and cancelled grants put back exactly what was not used, in each.
func TestAllGrantsAreSettledAndCancelled(t *testing.T) {
	c := patientClient(t, redistest.Start(t))
	requests, tokens := twoBuckets(t, c)
	all := mustAll(t, c, requests.Need(1), tokens.Need(500))
	g, err := all.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := mustBucket(t, c, "llm:{gpt}:other", PerSecond(1))
	if err := g.Settle(t.Context(), other.Need(1)); !errors.Is(err, ErrTogether) {
		t.Errorf("a bucket that was not drawn from: %v", err)
	}
	if err := errors.Join(g.Settle(t.Context(), tokens.Need(120)), g.Cancel(t.Context()), g.Settle(t.Context(), tokens.Need(0))); err != nil {
		t.Fatal(err)
	}
	wantLevels(t, "settled once", map[*Limiter]float64{requests: 9, tokens: 880})
	if g, err = all.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.Cancel(t.Context()), g.Cancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	wantLevels(t, "cancelled once", map[*Limiter]float64{requests: 9, tokens: 880})
}

// A caller that leaves before its start hands on what was charged, or gives it
// back in every bucket.
func TestWhatWasChargedInVainIsGivenBackInEach(t *testing.T) {
	c := patientClient(t, redistest.Start(t))
	slow := mustBucket(t, c, "{v}:slow", PerSecond(5).Burst(10))
	wide := mustBucket(t, c, "{v}:wide", PerSecond(0.01).Burst(100))
	if err := slow.WaitN(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- mustAll(t, c, slow.Need(1), wide.Need(50)).Wait(ctx) }()
	awaitTrue(t, func() bool { state, err := wide.Peek(t.Context()); return err == nil && state.Level < 60 })
	cancel()
	if err := <-left; err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	} else if err == nil {
		return // it started meanwhile
	}
	awaitTrue(t, func() bool { state, err := wide.Peek(t.Context()); return err == nil && state.Level > 97 })
}

// Callers of one process are served in their order, whatever they need.
func TestAllServesInOrderOfArrival(t *testing.T) {
	s := redistest.Start(t)
	c, a := patientClient(t, s), openAdmin(t, s)
	one, two := mustBucket(t, c, "{o}:1", PerSecond(100).Burst(4)), mustBucket(t, c, "{o}:2", PerSecond(20).Burst(4))
	if _, err := a.Hold(t.Context(), one.Key(), AnyRev, NoEnd(), ""); err == nil || !errors.Is(err, ErrNotFound) {
		t.Fatalf("an unknown bucket is held: %v", err)
	}
	if err := mustAll(t, c, one.Need(4), two.Need(4)).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Hold(t.Context(), one.Key(), AnyRev, NoEnd(), ""); err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	starts := make([]time.Time, 12)
	for i := range starts {
		all := mustAll(t, c, one.Need(float64(1+i%4)), two.Need(float64(1+(i*3)%4)))
		callers.Go(func() {
			g, err := all.Acquire(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			starts[i] = g.At
		})
		awaitTrue(t, func() bool { return all.set.queue.waiting() == i+1 })
	}
	if _, err := a.Resume(t.Context(), one.Key(), AnyRev, ""); err != nil {
		t.Fatal(err)
	}
	callers.Wait()
	for i := 1; i < len(starts); i++ {
		if starts[i].Before(starts[i-1]) {
			t.Errorf("caller %d starts %v before the one who came earlier", i, starts[i-1].Sub(starts[i]))
		}
	}
}
