package bucketctl

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

func TestBucketsHaveAFallbackOfTheirOwn(t *testing.T) {
	s := redistest.Start(t)
	s.Kill()
	var log logBuffer
	c := openClient(t, s, logInto(&log))
	for policy, want := range map[Policy]Mode{FallbackShare: ModeShare, FallbackClosed: ModeClosed, FallbackOpen: ModeOpen} {
		l, err := c.Bucket("k:"+string(policy), PerSecond(10), WithFallback(policy))
		if err != nil {
			t.Fatal(err)
		}
		d, err := l.AllowN(t.Context(), 1)
		if err != nil || d.Mode != want || d.OK != (policy == FallbackOpen) {
			t.Errorf("%s: %+v, %v", policy, d, err)
		}
		if err := l.Wait(t.Context()); (policy == FallbackClosed) != errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: Wait: %v", policy, err)
		}
		if b := l.report(); b.Mode != want || b.Fallback != policy {
			t.Errorf("%s: reported as %+v", policy, b)
		}
	}
	if said := c.describeFallback(c.all()); said != "closed (1 buckets); open (1 buckets); rate / 2 workers (1 buckets)" {
		t.Errorf("described as %q", said)
	}
}

func TestBucketIsAskedForAlikeEachTime(t *testing.T) {
	c := openClient(t, redistest.Start(t))
	l, err := c.Bucket("k", PerSecond(10), WithFallback(FallbackClosed))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Bucket("k", PerSecond(10), WithFallback(FallbackClosed)); err != nil || again != l {
		t.Errorf("asked for alike: %v, %v", again, err)
	}
	for _, options := range [][]BucketOption{nil, {WithFallback(FallbackOpen)}, {WithFallback("shut")}} {
		if _, err := c.Bucket("k", PerSecond(10), options...); !errors.Is(err, ErrConfig) {
			t.Errorf("asked for with %d other options: %v", len(options), err)
		}
	}
}

// heard collects transitions.
type heard struct {
	mu  sync.Mutex
	all []Transition
}

func (h *heard) add(t Transition) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, t)
}

func (h *heard) list() []Transition {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Transition(nil), h.all...)
}

func TestTransitionsAreTold(t *testing.T) {
	s := redistest.Start(t)
	var (
		log logBuffer
		h   heard
	)
	c := openClient(t, s, logInto(&log), func(c *Config) { c.OnTransition, c.Workers = h.add, 4 })
	l := mustBucket(t, c, "k", PerSecond(4000).Burst(100))
	if d, err := l.AllowN(t.Context(), 1); err != nil || !d.Since.IsZero() || d.Source != SourceRedis {
		t.Fatalf("%+v, %v", d, err)
	}
	s.Kill()
	awaitTrue(t, func() bool {
		_, err := l.Allow(t.Context())
		return err == nil && len(h.list()) == 1
	})
	g, err := l.Acquire(t.Context(), 1)
	if err != nil || g.Since.IsZero() || g.Source != SourceWorker || g.Reason == "" || g.Mode != ModeShare {
		t.Errorf("a grant alone: %+v, %v", g, err)
	}
	s.Restart()
	awaitTrue(t, func() bool { return len(h.list()) == 2 })
	gone, back := h.list()[0], h.list()[1]
	if gone.Mode != ModeShare || gone.Reason == "" || gone.Since.IsZero() || gone.Share != "rate / 4 workers" || gone.Lasted != 0 {
		t.Errorf("the first transition: %+v", gone)
	}
	if back.Mode != ModeShared || back.Reason != gone.Reason || !back.Since.Equal(gone.Since) || back.Lasted <= 0 || back.Local < 1 {
		t.Errorf("the second: %+v after %+v", back, gone)
	}
	if lines := log.lines(); len(lines) != 2 || !strings.Contains(lines[0], `share="rate / 4 workers"`) || !strings.Contains(lines[1], "granted_alone=") {
		t.Errorf("logged:\n%s", strings.Join(lines, "\n"))
	}
}

// Whoever's callback never returns loses transitions, and nothing else.
func TestSlowCallbackStopsNobody(t *testing.T) {
	s := redistest.Start(t)
	release := make(chan struct{})
	defer close(release)
	c := openClient(t, s, func(c *Config) { c.OnTransition = func(Transition) { <-release } })
	for range transitionsKept + 5 {
		c.tellTransition(c.link, Transition{})
	}
	if ok, err := mustBucket(t, c, "k", PerSecond(10)).Allow(t.Context()); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	began := time.Now()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
}
