package bucketctl

import (
	"context"
	"errors"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

func TestCooldownStopsEveryWorker(t *testing.T) {
	s := redistest.Start(t)
	a := openAdmin(t, s)
	first, second := patientClient(t, s), patientClient(t, s)
	hears := mustBucket(t, first, "k", PerSecond(100).Burst(50))
	other := mustBucket(t, second, "k", PerSecond(100).Burst(50))
	if err := other.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := hears.Cooldown(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Limiter{hears, other} {
		if d, err := l.AllowN(t.Context(), 1); err != nil || d.OK || d.Reason != "cooldown" || d.Wait < 59*time.Minute {
			t.Errorf("in a cooldown: %+v, %v", d, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := other.Wait(ctx); !errors.Is(err, ErrDeadline) {
		t.Errorf("Wait for a minute in a cooldown of an hour: %v", err)
	}
	state, err := a.Get(t.Context(), "k")
	if err != nil || state.Cooldown.By != first.self.ID || state.Cooldown.Until.Sub(state.At) < 59*time.Minute {
		t.Errorf("shown as %+v, %v", state.Cooldown, err)
	}
	e := awaitEvents(t, a, EventCooldown)[0]
	if e.Key != "k" || e.By != first.self.ID || e.Detail["until"] == "" || e.Detail["length"] != "1h0m0s" {
		t.Errorf("the event: %+v", e)
	}
}

// Many workers hear the same 429 within moments: one event, one wake.
func TestManyCooldownsAreOneEvent(t *testing.T) {
	s := redistest.Start(t)
	a := openAdmin(t, s)
	var last *Limiter
	for range 5 {
		last = mustBucket(t, patientClient(t, s), "k", PerSecond(100))
		for range 4 {
			if err := last.Cooldown(t.Context(), 30*time.Second); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := last.Cooldown(t.Context(), time.Minute); err != nil { // that is news
		t.Fatal(err)
	}
	awaitTrue(t, func() bool { return len(awaitEvents(t, a, EventCooldown)) >= 2 })
	if got := len(awaitEvents(t, a, EventCooldown)); got != 2 {
		t.Errorf("21 cooldowns made %d events, want 2", got)
	}
}

// Those who wait learn of a cooldown at once, not when their turn would come.
func TestCooldownReachesThoseWhoWait(t *testing.T) {
	s := redistest.Start(t)
	waiting := mustBucket(t, patientClient(t, s), "k", PerMinute(1).Burst(1))
	hears := mustBucket(t, patientClient(t, s), "k", PerMinute(1).Burst(1))
	if err := waiting.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	waited := make(chan error, 1)
	go func() { waited <- waiting.Wait(ctx) }()
	awaitTrue(t, func() bool { _, short := waiting.queue.shortage(); return short })
	if err := hears.Cooldown(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; !errors.Is(err, ErrDeadline) {
		t.Errorf("Wait with a quarter of an hour left: %v", err)
	}
}

func TestCooldownOfALostWorker(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.Proxy(t, s.Addr)
	c := openClient(t, s, func(c *Config) { c.URL, c.Workers = p.URL(), 1 })
	limit := PerSecond(1000).Burst(100)
	l := mustBucket(t, c, "k", limit)
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Cut()
	if err := l.Cooldown(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if d, err := l.AllowN(t.Context(), 1); err != nil || d.OK || d.Mode != ModeShare || d.Wait < 59*time.Minute {
		t.Errorf("alone and in a cooldown: %+v, %v", d, err)
	}
	p.Heal()
	awaitTrue(t, func() bool { return !isOpen(c) })
	// Redis is told on the way back, though nobody calls.
	a := openAdmin(t, s)
	awaitTrue(t, func() bool {
		state, err := a.Get(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		return state.Cooldown.Until.Sub(state.At) > 59*time.Minute
	})
	if e := awaitEvents(t, a, EventCooldown)[0]; e.Detail["length"] != "1h0m0s" {
		t.Errorf("the event tells what is left, not what was asked for: %v", e.Detail)
	}
	other := mustBucket(t, openClient(t, s), "k", limit)
	if d, err := other.AllowN(t.Context(), 1); err != nil || d.OK || d.Reason != "cooldown" {
		t.Errorf("another worker after the return: %+v, %v", d, err)
	}
}

// A cooldown that Redis was told of stays in force in an outage right after it.
func TestCooldownOutlivesTheOutage(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, openClient(t, s), "k", PerSecond(1000))
	if err := l.Cooldown(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if d, err := l.AllowN(t.Context(), 1); err != nil || d.OK || d.Source != SourceWorker || d.Wait < 59*time.Minute {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestCooldownThatCannotBe(t *testing.T) {
	s := redistest.Start(t)
	c := patientClient(t, s)
	l := mustBucket(t, c, "k", PerSecond(10))
	for _, d := range []time.Duration{0, -time.Second} {
		if err := l.Cooldown(t.Context(), d); err != nil {
			t.Errorf("for %v: %v", d, err)
		}
	}
	if ok, err := l.Allow(t.Context()); !ok || err != nil {
		t.Errorf("after cooldowns for nothing: %v, %v", ok, err)
	}
	do(t, s.Client(t), []any{"SET", "bad", "5"})
	if err := mustBucket(t, c, "bad", PerSecond(10)).Cooldown(t.Context(), time.Second); !errors.Is(err, ErrWrongType) {
		t.Errorf("a string: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Cooldown(t.Context(), time.Second); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
