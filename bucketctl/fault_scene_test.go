package bucketctl

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// Of all scenes.
const (
	hungryCallers = 2                      // of each worker, who always wait
	ownLife       = 150 * time.Millisecond // of calls with a deadline
)

// scene is a server with a fault, and workers that saturate one bucket of it.
type scene struct {
	fault
	t      *testing.T
	limit  Limit
	length time.Duration // of the fault
	pace   time.Duration // of each worker's calls beside the saturated bucket

	server *redistest.Server
	proxy  *redistest.Forwarder
	owner  *redis.Client // one connection that stays
	second *redis.Client // for calls that hang
	pools  []redis.UniversalClient

	workers []*actor
	idle    *actor // makes one call in the fault, and none else

	calls      context.Context // of all that is called here
	endCalls   context.CancelFunc
	also       sync.WaitGroup
	stopRepeat func()

	began, ended time.Time
	idleBack     time.Time
	late         time.Duration // of the machine itself, at most
}

// actor is one worker in a scene.
type actor struct {
	client    *Client
	saturated *Limiter
	own       *Limiter // a bucket of its own, where nobody waits
	log       logBuffer
	told      heard

	mu                    sync.Mutex
	starts                []amount // of the saturated bucket
	startsAlone           int      // of them: granted without Redis
	shared                int      // decisions, on both buckets
	local                 int
	reasons               map[string]bool
	firstAlone, lastAlone time.Time
	longest               time.Duration   // of a call without a deadline
	overrun               time.Duration   // of a call with one
	alone                 []time.Duration // how long decisions took while the link was open
}

// stage makes all ready for a scene.
func (f fault) stage(t *testing.T, workers int, limit Limit, length, pace time.Duration) *scene {
	t.Helper()
	s := &scene{t: t, fault: f, limit: limit, length: length, pace: pace, server: redistest.Start(t), began: time.Now()}
	s.proxy = redistest.Proxy(t, s.server.Addr)
	s.owner, s.second = s.server.Client(t), s.server.Client(t)
	s.calls, s.endCalls = context.WithCancel(t.Context())
	if f.absent {
		s.server.Kill()
	}
	for range workers + 1 {
		s.workers = append(s.workers, s.newActor(t, workers))
	}
	s.idle, s.workers = s.workers[0], s.workers[1:]
	if !f.absent {
		for _, a := range append(s.workers, s.idle) {
			awaitTrue(t, func() bool { d, err := a.own.AllowN(t.Context(), 1); return err == nil && d.Mode == ModeShared })
		}
	}
	return s
}

// act lets the workers' callers begin.
func (s *scene) act() {
	s.also.Go(s.watchMachine)
	for _, a := range s.workers {
		for range hungryCallers {
			s.also.Go(func() { a.hunger(s.calls) })
		}
		s.also.Go(func() { a.ask(s.calls, s.pace) })
		s.also.Go(func() { a.askBriefly(s.calls, s.pace) })
	}
}

func (s *scene) newActor(t *testing.T, workers int) *actor {
	t.Helper()
	a := &actor{reasons: map[string]bool{}}
	a.client = openClient(t, s.server, logInto(&a.log), func(c *Config) {
		c.URL, c.Workers, c.OnTransition = s.proxy.URL(), workers, a.told.add
		if s.config != nil {
			s.config(s, c)
		}
	})
	a.saturated = mustBucket(t, a.client, "saturated", s.limit)
	a.own = mustBucket(t, a.client, "own:"+a.client.self.ID, PerSecond(1e6))
	return a
}

// hunger waits for one token after the other.
func (a *actor) hunger(ctx context.Context) {
	for {
		v, err := a.saturated.acquire(ctx, 1)
		if err != nil {
			return
		}
		a.mu.Lock()
		a.starts = append(a.starts, amount{v.start().UnixMicro(), 1})
		if v.local {
			a.startsAlone++
		}
		a.decided(v.mode(), v.reason)
		a.mu.Unlock()
	}
}

// decided counts a decision. Needs a.mu.
func (a *actor) decided(mode Mode, reason string) {
	if !mode.Local() {
		a.shared++
		return
	}
	a.local++
	a.reasons[reason] = true
}

// ask asks at a pace whether a token is there.
func (a *actor) ask(ctx context.Context, pace time.Duration) {
	for sleep(ctx, pace) {
		alone := isOpen(a.client)
		began := time.Now()
		d, err := a.own.AllowN(ctx, 1)
		took := time.Since(began)
		if err != nil {
			return
		}
		a.mu.Lock()
		a.decided(d.Mode, d.Reason)
		a.longest = max(a.longest, took)
		if d.Mode.Local() {
			a.lastAlone = time.Now()
			if a.firstAlone.IsZero() {
				a.firstAlone = a.lastAlone
			}
			if alone {
				a.alone = append(a.alone, took)
			}
		}
		a.mu.Unlock()
	}
}

// askBriefly does so with a deadline.
func (a *actor) askBriefly(ctx context.Context, pace time.Duration) {
	for sleep(ctx, pace) {
		brief, cancel := context.WithTimeout(ctx, ownLife)
		began := time.Now()
		_, _ = a.own.AllowN(brief, 1) // how long it takes is all that is of interest
		took := time.Since(began)
		cancel()
		a.mu.Lock()
		a.overrun = max(a.overrun, took-ownLife)
		a.mu.Unlock()
	}
}

// spoil begins the fault.
func (s *scene) spoil() {
	s.t.Helper()
	if s.begin != nil {
		s.began = time.Now()
		for _, a := range s.workers {
			a.forget()
		}
		s.begin(s, s.t)
	}
	if s.what != stayShared {
		s.also.Go(func() { _, _ = s.idle.own.Allow(s.calls) }) // so that it knows
	}
}

// watchMachine notes how late a goroutine runs that wants nothing: no call can be
// quicker.
func (s *scene) watchMachine() {
	for wanted := time.Now().Add(ownLife / 10); sleep(s.calls, time.Until(wanted)); wanted = time.Now().Add(ownLife / 10) {
		s.late = max(s.late, time.Since(wanted))
	}
}

// forget drops what was before the fault.
func (a *actor) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.firstAlone, a.lastAlone, a.longest, a.overrun = time.Time{}, time.Time{}, 0, 0
}

// mend ends the fault.
func (s *scene) mend() {
	s.t.Helper()
	if s.end != nil {
		s.end(s, s.t)
	}
	s.ended = time.Now()
}

// finish ends all calls.
func (s *scene) finish() {
	s.endCalls()
	s.also.Wait()
}

// allKnow reports whether every worker has told of an outage, and somebody knows
// what it is.
func (s *scene) allKnow() bool {
	known := false
	for _, a := range s.workers {
		if len(a.told.list()) == 0 {
			return false
		}
		a.mu.Lock()
		for reason := range a.reasons {
			known = known || strings.Contains(reason, s.reason)
		}
		a.mu.Unlock()
	}
	return known
}

// back reports whether all workers draw from the shared bucket.
func (s *scene) back() bool {
	return !slices.ContainsFunc(append([]*actor{s.idle}, s.workers...), func(a *actor) bool { return isOpen(a.client) })
}
