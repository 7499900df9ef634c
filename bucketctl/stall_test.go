package bucketctl

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// The first call that times out decides for all: nobody after it waits for the
// server again, and once that is so a decision takes no time.
func TestFrozenServerStallsOnlyTheFirstCall(t *testing.T) {
	s := redistest.Start(t)
	c := openClient(t, s, func(c *Config) { c.Fallback = FallbackOpen })
	l := mustBucket(t, c, "k", PerSecond(1e6))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Freeze()
	began := time.Now()
	took := make([]time.Duration, 0, 1<<20)
	for time.Since(began) < 3*callTimeout {
		start := time.Now()
		if d, err := l.AllowN(t.Context(), 1); err != nil || !d.OK {
			t.Fatalf("%+v, %v", d, err)
		}
		took = append(took, time.Since(start))
	}
	if asked := c.Stats().Buckets[0].Failures; asked != 1 {
		t.Errorf("%d calls waited for the frozen server, want the first alone", asked)
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	t.Logf("%d decisions alone, p50 %v, p99 %v", len(took), took[len(took)/2], p99)
	if len(took) < 1000 || p99 > 5*time.Millisecond { // 1 ms on a machine that does nothing else
		t.Errorf("%d decisions, p99 %v", len(took), p99)
	}
}

// One lost answer is no outage: no line, no event, and the shared bucket again
// at once.
func TestOneLostAnswerIsNoOutage(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.Proxy(t, s.Addr)
	var log logBuffer
	c := openClient(t, s, logInto(&log), func(c *Config) { c.URL = p.URL() })
	l := mustBucket(t, c, "k", PerSecond(1000))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Drop()
	awaitTrue(t, func() bool {
		if _, err := l.Allow(t.Context()); err != nil {
			t.Fatal(err)
		}
		return !isOpen(c)
	})
	if d, err := l.AllowN(t.Context(), 1); err != nil || d.Mode != ModeShared {
		t.Errorf("after it: %+v, %v", d, err)
	}
	if lines := log.lines(); len(lines) != 1 || lines[0] != "" {
		t.Errorf("logged: %q", lines)
	}
}

// A server that answers probes and no calls is an outage all the same.
func TestCallsThatFailAgainAndAgainAreAnOutage(t *testing.T) {
	c := openClient(t, redistest.Start(t))
	for range failuresToOpen {
		c.failed(c.link, classOutage, errors.New("lost"))
		awaitTrue(t, func() bool { return !isOpen(c) || c.transitions.Load() > 0 })
	}
	if got := c.transitions.Load(); got == 0 {
		t.Error("nobody was told")
	}
}

// A server that answers probes and refuses each call must not be a line for each
// of them: it is asked again ever later.
func TestOutagesThatProbesDoNotSeeAreDamped(t *testing.T) {
	c := openClient(t, redistest.Start(t))
	for began := time.Now(); time.Since(began) < time.Second; time.Sleep(time.Millisecond) {
		c.failed(c.link, classConfig, errors.New("refused"))
	}
	if got := c.transitions.Load(); got > 8 {
		t.Errorf("%d transitions in a second", got)
	}
}

// A caller with a deadline is never kept by a server that hangs, even where the
// call itself has 20 s.
func TestNoCallOutlivesItsContext(t *testing.T) {
	s := redistest.Start(t)
	l := mustBucket(t, patientClient(t, s), "k", PerSecond(1000))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Freeze()
	for name, call := range map[string]func(context.Context) error{
		"Wait":     l.Wait,
		"Allow":    func(ctx context.Context) error { _, err := l.Allow(ctx); return err },
		"Cooldown": func(ctx context.Context) error { return l.Cooldown(ctx, time.Second) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		began := time.Now()
		err := call(ctx)
		if took := time.Since(began); took > 3*time.Second { // 150 ms where nothing else runs
			t.Errorf("%s with 100 ms to live returned after %v: %v", name, took, err)
		}
		cancel()
	}
}

func TestCloseDoesNotWaitForAFrozenServer(t *testing.T) {
	s := redistest.Start(t)
	c := patientClient(t, s)
	l := mustBucket(t, c, "k", PerSecond(1000))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Freeze()
	began := time.Now()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second { // 1 s where nothing else runs
		t.Errorf("Close took %v", took)
	}
}

// lineCounter counts what go-redis writes for the whole process.
type lineCounter struct{ lines atomic.Int64 }

func (c *lineCounter) Printf(context.Context, string, ...any) { c.lines.Add(1) }

// outageLines lets a fleet of callers make calls for so long while the server
// is gone, and returns how many lines that wrote, the Redis client's own included.
func outageLines(t *testing.T, length time.Duration, callsPerSecond int) (lines int, calls int64) {
	t.Helper()
	s := redistest.Start(t)
	var log logBuffer
	c := openClient(t, s, logInto(&log))
	l := mustBucket(t, c, "k", PerSecond(100))
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	counter := &lineCounter{}
	redis.SetLogger(counter)
	t.Cleanup(func() { redis.SetLogger(&lineCounter{}) })
	s.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var (
		all  sync.WaitGroup
		made atomic.Int64
	)
	const callers = 20
	for range callers {
		all.Go(func() {
			for sleep(ctx, time.Second*callers/time.Duration(callsPerSecond)) {
				if _, err := l.Allow(ctx); err == nil {
					made.Add(1)
				}
			}
		})
	}
	all.Wait()
	s.Restart()
	awaitTrue(t, func() bool { return !isOpen(c) })
	events := awaitEvents(t, openAdmin(t, s), EventShared)
	if len(events) != 1 || events[0].Detail["local"] == "" || events[0].Detail["since"] == "" || events[0].Detail["lasted"] == "" || events[0].Reason == "" {
		t.Errorf("the events of its end: %+v", events)
	}
	return len(log.lines()) + int(counter.lines.Load()), made.Load()
}

func TestOutageIsFewLines(t *testing.T) {
	lines, calls := outageLines(t, 2*time.Second, 1000)
	t.Logf("%d calls, %d lines", calls, lines)
	if lines >= 10 || calls < 500 {
		t.Errorf("%d lines for %d calls", lines, calls)
	}
}
