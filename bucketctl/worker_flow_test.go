package bucketctl

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// quiet drops log lines.
func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// openClient opens a Client on the server, closed with the test.
func openClient(t *testing.T, s *redistest.Server, change ...func(*Config)) *Client {
	t.Helper()
	config := Config{URL: s.URL(), App: "test", Workers: 2, Logger: quiet()}
	for _, f := range change {
		f(&config)
	}
	c, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
	return c
}

// patientClient is openClient for what needs Redis' answers: on a busy machine one
// may take longer than a worker waits before it decides alone.
func patientClient(t *testing.T, s *redistest.Server, change ...func(*Config)) *Client {
	t.Helper()
	return openClient(t, s, append(change, func(c *Config) { c.callTimeout = 20 * time.Second })...)
}

func openAdmin(t *testing.T, s *redistest.Server) *Admin {
	t.Helper()
	a, err := NewAdmin(AdminConfig{Client: s.Client(t), By: "anna"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustBucket(t *testing.T, c *Client, key string, limit Limit) *Limiter {
	t.Helper()
	l, err := c.Bucket(key, limit)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestOperatorsChangeReachesTheNextCall(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "geocode:{acme}:eu", PerMinute(300))
	a := openAdmin(t, s)
	ctx := t.Context()

	if d, err := l.AllowN(ctx, 15); err != nil || !d.OK {
		t.Fatalf("a full bucket of 15 refused 15: %+v, %v", d, err)
	}
	c, err := ParseLimitChange(State{}, "600/min", "30", "")
	if err != nil {
		t.Fatal(err)
	}
	change, err := a.SetLimit(ctx, l.Key(), AnyRev, c)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := change.After.Effective, PerMinute(600).Burst(30); got != want {
		t.Errorf("in force after the change: %v, want %v", got, want)
	}
	if d, err := l.AllowN(ctx, 16); err != nil || d.OK || d.Limit.Capacity != 30 {
		t.Errorf("the next call does not see the change: %+v, %v", d, err)
	}
	state, err := a.Get(ctx, l.Key())
	if err != nil {
		t.Fatal(err)
	}
	if state.Declared != PerMinute(300) || state.By != "anna" || state.Rev != change.After.Rev {
		t.Errorf("state after the change: %+v", state)
	}
}

func TestHoldStopsAndResumeWakes(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerSecond(1000))
	a := openAdmin(t, s)
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Hold(t.Context(), "k", AnyRev, NoEnd(), "provider asked"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	waited := make(chan error, 1)
	go func() { waited <- l.Wait(context.WithoutCancel(ctx)) }()
	awaitTrue(t, func() bool { _, short := l.queue.shortage(); return short })
	if _, err := a.Resume(t.Context(), "k", AnyRev, ""); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-waited:
		if err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Fatal("a waiter was not woken by resume")
	}
}

// awaitTrue polls until the condition holds.
func awaitTrue(t *testing.T, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatal("waited for 20 s in vain")
		}
		time.Sleep(time.Millisecond)
	}
}

// A hold may be lifted long before a caller's deadline, and a loop around a
// Wait that refuses at once would hammer Redis through the whole hold.
func TestHoldDoesNotRefuseACallerWithADeadline(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerSecond(1000))
	a := openAdmin(t, s)
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Hold(t.Context(), "k", AnyRev, EndAfter(time.Hour), ""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	waited := make(chan error, 1)
	go func() { waited <- l.Wait(ctx) }()
	awaitTrue(t, func() bool { _, short := l.queue.shortage(); return short })
	if ok, err := l.Allow(ctx); ok || err != nil {
		t.Errorf("Allow on a held bucket: %v, %v", ok, err)
	}
	if _, err := a.Resume(t.Context(), "k", AnyRev, ""); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Errorf("after the resume: %v", err)
	}
}
