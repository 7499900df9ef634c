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

// Four workers that want more than there is, and Redis hangs for 10 s.
func TestSoakFleetThroughAnOutage(t *testing.T) {
	const (
		workers = 4
		outage  = 10 * time.Second
		around  = 5 * time.Second
	)
	s := redistest.Start(t)
	limit := PerSecond(100).Burst(100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var (
		all    sync.WaitGroup
		mu     sync.Mutex
		starts []time.Time
	)
	clients := make([]*Client, workers)
	for i := range clients {
		clients[i] = openClient(t, s, func(c *Config) { c.Workers = workers })
		l := mustBucket(t, clients[i], "k", limit)
		for range 50 {
			all.Go(func() {
				for {
					v, err := l.acquire(ctx, 1)
					if err != nil {
						return
					}
					mu.Lock()
					starts = append(starts, v.start())
					mu.Unlock()
				}
			})
		}
	}
	sleep(ctx, around)
	s.Freeze()
	frozen := clients[0].clock.now()
	sleep(ctx, outage)
	s.Thaw()
	thawed := clients[0].clock.now()
	sleep(ctx, around)
	cancel()
	all.Wait()

	slices.SortFunc(starts, time.Time.Compare)
	count := func(from, to time.Time) (n int) {
		for _, at := range starts {
			if !at.Before(from) && at.Before(to) {
				n++
			}
		}
		return n
	}
	during := float64(count(frozen, thawed)) / (limit.Rate * thawed.Sub(frozen).Seconds())
	t.Logf("%d starts; in the outage of %v: %.3f of rate x time", len(starts), thawed.Sub(frozen), during)
	if during < 0.85 || during > 1.05 {
		t.Errorf("granted %.3f of rate x time in the outage, want 0.85 to 1.05", during)
	}
	for name, edge := range map[string]time.Time{"into it": frozen, "out of it": thawed} {
		near := slices.DeleteFunc(slices.Clone(starts), func(at time.Time) bool {
			return at.Before(edge.Add(-2*time.Second)) || at.After(edge.Add(5*time.Second))
		})
		for _, span := range []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, time.Second, 3 * time.Second, 7 * time.Second} {
			got, most := worstSpan(near, span), limit.Capacity+limit.Rate*span.Seconds()
			t.Logf("%s: at most %d starts in %v, bound %v", name, got, span, most)
			if float64(got) > most+limit.Rate/workers {
				t.Errorf("%s: %d starts in %v, at most %v and one share", name, got, span, most)
			}
		}
	}
}
