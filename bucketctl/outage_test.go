package bucketctl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// logBuffer collects log lines from several goroutines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) lines() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Split(strings.TrimSpace(b.buf.String()), "\n")
}

// logInto makes a Config log to b.
func logInto(b *logBuffer) func(*Config) {
	return func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(b, nil)) }
}

// draw calls Allow until stop is closed and counts what is granted, by mode.
func draw(ctx context.Context, l *Limiter, stop <-chan struct{}) (shared, local float64, failed error) {
	for {
		select {
		case <-stop:
			return shared, local, nil
		default:
		}
		d, err := l.AllowN(ctx, 1)
		switch {
		case err != nil:
			return shared, local, err
		case d.OK && d.Mode.Local():
			local++
		case d.OK:
			shared++
		}
		time.Sleep(time.Millisecond) // a caller has something else to do, too
	}
}

func isOpen(c *Client) bool {
	open, _, _ := c.link.isOpen()
	return open
}

// awaitEvents waits for events of one kind.
func awaitEvents(t *testing.T, a *Admin, kind EventKind) []Event {
	t.Helper()
	var found []Event
	awaitTrue(t, func() bool {
		events, err := a.Events(t.Context(), EventQuery{})
		if err != nil {
			t.Fatal(err)
		}
		found = nil
		for _, e := range events {
			if e.Kind == kind {
				found = append(found, e)
			}
		}
		return len(found) > 0
	})
	return found
}

func TestReportsTellTheFallback(t *testing.T) {
	t.Parallel() // it waits until a worker counts as silent
	s := redistest.Start(t)
	p := redistest.Proxy(t, s.Addr)
	c := openClient(t, s, func(c *Config) { c.URL = p.URL() })
	l := mustBucket(t, c, "k", PerSecond(100))
	a := openAdmin(t, s)
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, func() bool {
		workers, _, err := a.Workers(t.Context())
		return err == nil && len(workers) == 1 && workers[0].Buckets[0].Mode == ModeShared && workers[0].Buckets[0].Granted == 1
	})
	p.Cut()
	awaitTrue(t, func() bool {
		if _, err := l.Allow(t.Context()); err != nil {
			t.Fatal(err)
		}
		return isOpen(c)
	})
	workers, now, err := a.Workers(t.Context())
	if err != nil || workers[0].SilentAt(now) {
		t.Fatalf("silent at once: %+v, %v", workers, err)
	}
	awaitTrue(t, func() bool {
		workers, now, err = a.Workers(t.Context())
		return err == nil && workers[0].SilentAt(now)
	})
	p.Heal()
	awaitTrue(t, func() bool { return !isOpen(c) })
	workers, now, err = a.Workers(t.Context())
	if err != nil || workers[0].SilentAt(now) || workers[0].Buckets[0].Mode == "" {
		t.Errorf("after the return: %+v, %v", workers, err)
	}
	awaitTrue(t, func() bool {
		workers, now, err = a.Workers(t.Context())
		o := workers[0].Outage
		return err == nil && o.Reason != "" && o.Lasted > 0 && o.Since.Before(now) && !o.Since.IsZero()
	})
}

// A probe is several calls, and each may take as long as a take may.
func TestAWorkerFarAwayComesBack(t *testing.T) {
	t.Parallel() // it waits for answers that are long on their way
	s := redistest.Start(t)
	p := redistest.Proxy(t, s.Addr)
	c := openClient(t, s, func(c *Config) { c.URL = p.URL() })
	l := mustBucket(t, c, "k", PerSecond(100))
	p.Delay(0, callTimeout/5) // a new connection and a new script are three answers
	awaitTrue(t, func() bool { d, err := l.AllowN(t.Context(), 1); return err == nil && d.Mode == ModeShared })
	p.Drop()
	awaitTrue(t, func() bool {
		_, err := l.Allow(t.Context())
		return err != nil || isOpen(c)
	})
	awaitTrue(t, func() bool { return !isOpen(c) })
}

func TestFallbackPolicies(t *testing.T) {
	for policy, want := range map[Policy]struct {
		ok   bool
		mode Mode
		err  error
	}{
		FallbackOpen:   {ok: true, mode: ModeOpen},
		FallbackClosed: {ok: false, mode: ModeClosed, err: ErrUnavailable},
	} {
		s := redistest.Start(t)
		s.Kill()
		l := mustBucket(t, openClient(t, s, func(c *Config) { c.Fallback = policy }), "k", PerSecond(10))
		d, err := l.AllowN(t.Context(), 1)
		if err != nil || d.OK != want.ok || d.Mode != want.mode {
			t.Errorf("%s: AllowN: %+v, %v", policy, d, err)
		}
		if err := l.Wait(t.Context()); !errors.Is(err, want.err) {
			t.Errorf("%s: Wait: %v, want %v", policy, err, want.err)
		}
	}
}

func TestHoldOutlivesTheOutage(t *testing.T) {
	s := redistest.Start(t)
	c := openClient(t, s)
	l := mustBucket(t, c, "k", PerSecond(100))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := openAdmin(t, s).Hold(t.Context(), "k", AnyRev, NoEnd(), ""); err != nil {
		t.Fatal(err)
	}
	if ok, err := l.Allow(t.Context()); ok || err != nil { // the worker sees the hold
		t.Fatal(ok, err)
	}
	s.Kill()
	awaitTrue(t, func() bool {
		d, err := l.AllowN(t.Context(), 1)
		if err != nil || d.OK {
			t.Fatalf("a held bucket granted: %+v, %v", d, err)
		}
		return isOpen(c)
	})
}

func TestReturnDebitsWhatWasGrantedAlone(t *testing.T) {
	s := redistest.Start(t)
	c := openClient(t, s, func(c *Config) { c.Workers = 1 })
	limit := PerSecond(50).Burst(200)
	l := mustBucket(t, c, "k", limit)
	for range 180 { // leaves about 20
		if _, err := l.Allow(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.Freeze()
	stop := make(chan struct{})
	time.AfterFunc(2*time.Second, func() { close(stop) })
	_, local, err := draw(t.Context(), l, stop)
	if err != nil || local < 20 {
		t.Fatalf("granted %v alone, %v", local, err)
	}
	s.Thaw()
	awaitTrue(t, func() bool { return !isOpen(c) })
	if _, err := l.Allow(t.Context()); err != nil {
		t.Fatal(err)
	}
	state, err := l.Peek(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Every token granted is accounted for: what the bucket charged is what
	// was granted, in whatever mode, and takes that timed out count as spent.
	granted := state.Granted
	if mine := l.report().Granted; granted < mine-1 || granted > mine+failuresToOpen+1 {
		t.Errorf("the bucket charged %v for %v granted", granted, mine)
	}
}

func TestOneBucketOfAWrongTypeStaysAlone(t *testing.T) {
	s := redistest.Start(t)
	if err := s.Client(t).Set(t.Context(), "bad", 5, 0).Err(); err != nil {
		t.Fatal(err)
	}
	c := patientClient(t, s)
	bad := mustBucket(t, c, "bad", PerSecond(10))
	for range 2 * failuresToOpen {
		if _, err := bad.Allow(t.Context()); !errors.Is(err, ErrWrongType) {
			t.Fatalf("a string key: %v", err)
		}
	}
	for i := range 99 {
		if d, err := mustBucket(t, c, fmt.Sprint("good:", i), PerSecond(10)).AllowN(t.Context(), 1); err != nil || d.Mode != ModeShared {
			t.Errorf("its neighbour %d: %+v, %v", i, d, err)
		}
	}
}

func TestRefusedScriptsAreReported(t *testing.T) {
	s := redistest.Start(t)
	admin := s.Client(t)
	if err := admin.Do(t.Context(), "ACL", "SETUSER", "w", "on", ">p", "~*", "&*", "+@all", "-time").Err(); err != nil {
		t.Fatal(err)
	}
	c := patientClient(t, s, func(c *Config) { c.URL = "redis://w:p@" + s.Addr })
	l := mustBucket(t, c, "k", PerSecond(10))
	if _, err := l.Allow(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := openAdmin(t, s)
	awaitTrue(t, func() bool {
		workers, _, err := a.Workers(t.Context())
		if err != nil || len(workers) != 1 || len(workers[0].Buckets) != 1 {
			return false
		}
		b := workers[0].Buckets[0]
		return b.Mode == ModeShare && strings.HasPrefix(b.Reason, "configuration: ") && !b.Since.IsZero()
	})
	if err := admin.Do(t.Context(), "ACL", "SETUSER", "w", "+time").Err(); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, func() bool { return !isOpen(c) })
}

func TestRefusedReportsDoNotKeepAWorkerAway(t *testing.T) {
	s := redistest.Start(t)
	if err := s.Client(t).Do(t.Context(), "ACL", "SETUSER", "w", "on", ">p", "~*", "&*", "+@all", "-xadd").Err(); err != nil {
		t.Fatal(err)
	}
	c := openClient(t, s, func(c *Config) { c.URL = "redis://w:p@" + s.Addr })
	l := mustBucket(t, c, "k", PerSecond(1000))
	s.Kill()
	awaitTrue(t, func() bool {
		if _, err := l.Allow(t.Context()); err != nil {
			t.Fatal(err)
		}
		return isOpen(c)
	})
	s.Restart()
	if err := s.Client(t).Do(t.Context(), "ACL", "SETUSER", "w", "on", ">p", "~*", "&*", "+@all", "-xadd").Err(); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, func() bool { return !isOpen(c) })
}
