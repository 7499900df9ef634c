//go:build soak

package bucketctl

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// hungry are workers that always want more than one bucket has.
type hungry struct {
	clients []*Client
	proxies []*redistest.Forwarder // of each its own way to Redis
	limit   Limit

	mu     sync.Mutex
	starts []time.Time // server time
	end    func()
}

// newHungry starts so many workers with 50 callers each.
func newHungry(t *testing.T, s *redistest.Server, workers int, limit Limit) *hungry {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	h := &hungry{limit: limit}
	var all sync.WaitGroup
	h.end = func() { cancel(); all.Wait() }
	for range workers {
		p := redistest.Proxy(t, s.Addr)
		c := openClient(t, s, func(c *Config) { c.URL, c.Workers = p.URL(), workers })
		l := mustBucket(t, c, "k", limit)
		h.clients, h.proxies = append(h.clients, c), append(h.proxies, p)
		for range 50 {
			all.Go(func() {
				for {
					v, err := l.acquire(ctx, 1)
					if err != nil {
						return
					}
					h.mu.Lock()
					h.starts = append(h.starts, v.start())
					h.mu.Unlock()
				}
			})
		}
	}
	return h
}

func (h *hungry) now() time.Time { return h.clients[0].clock.now() }

// part is what was granted between two times, as a part of rate x time.
func (h *hungry) part(from, to time.Time) float64 {
	return float64(len(h.between(from, to))) / (h.limit.Rate * to.Sub(from).Seconds())
}

func (h *hungry) between(from, to time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(h.starts), func(at time.Time) bool { return at.Before(from) || !at.Before(to) })
}

// holds holds the bound over spans of all lengths between two times, with more
// tokens a second for those who are cut off, and one share.
func (h *hungry) holds(t *testing.T, what string, from, to time.Time, more float64) {
	t.Helper()
	near := h.between(from, to)
	for _, span := range []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, time.Second, 3 * time.Second, 7 * time.Second} {
		got := worstSpan(near, span)
		most := h.limit.Capacity + (h.limit.Rate+more)*span.Seconds() + h.limit.Rate/float64(len(h.clients))
		t.Logf("%s: at most %d starts in %v, bound %.1f", what, got, span, most)
		if float64(got) > most {
			t.Errorf("%s: %d starts in %v, at most %.1f", what, got, span, most)
		}
	}
}

const (
	beforeOutage = 5 * time.Second
	outageLasts  = 10 * time.Second
	afterOutage  = 5 * time.Second
)

// Four workers, and Redis hangs for 10 s.
func TestSoakFleetThroughAnOutage(t *testing.T) {
	s := redistest.Start(t)
	h := newHungry(t, s, 4, PerSecond(100).Burst(100))
	sleep(t.Context(), beforeOutage)
	s.Freeze()
	frozen := h.now()
	sleep(t.Context(), outageLasts)
	s.Thaw()
	thawed := h.now()
	sleep(t.Context(), afterOutage)
	h.end()

	got := h.part(frozen, thawed)
	t.Logf("%.3f of rate x time in the outage", got)
	if got < 0.85 || got > 1.05 {
		t.Errorf("granted %.3f of rate x time in the outage, want 0.85 to 1.05", got)
	}
	h.holds(t, "into it", frozen.Add(-2*time.Second), frozen.Add(5*time.Second), 0)
	h.holds(t, "out of it", thawed.Add(-2*time.Second), thawed.Add(5*time.Second), 0)
}

// Two of four workers are cut off and come back one by one: the price is their
// two shares, and nothing else.
func TestSoakWorkersCutOffOneByOne(t *testing.T) {
	s := redistest.Start(t)
	h := newHungry(t, s, 4, PerSecond(100).Burst(100))
	sleep(t.Context(), beforeOutage)
	began := h.now()
	h.proxies[1].Cut()
	sleep(t.Context(), outageLasts/2)
	h.proxies[2].Cut()
	sleep(t.Context(), outageLasts)
	h.proxies[1].Heal()
	sleep(t.Context(), outageLasts/2)
	h.proxies[2].Heal()
	ended := h.now()
	sleep(t.Context(), afterOutage)
	h.end()

	got := h.part(began, ended)
	t.Logf("%.3f of rate x time while one or two of four were cut off", got)
	if most := 1 + 0.25*1.5 + 0.05; got > most || got < 0.85 {
		t.Errorf("granted %.3f of rate x time, want 0.85 to %.3f", got, most)
	}
	h.holds(t, "with two alone", began, ended, h.limit.Rate/2)
	h.holds(t, "out of it", ended.Add(-2*time.Second), ended.Add(5*time.Second), h.limit.Rate/4)
}
