package bucketctl

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// crowd is callers of several clients who draw from three buckets, alone and
// together, in whatever order.
type crowd struct {
	clients, callers int
	length           time.Duration
	limits           map[string]Limit
}

// run returns the starts of each bucket.
func (w crowd) run(t *testing.T) map[string][]amount {
	t.Helper()
	s := redistest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), w.length)
	defer cancel()
	var (
		all    sync.WaitGroup
		mu     sync.Mutex
		starts = map[string][]amount{}
	)
	clients := make([]*Client, w.clients)
	for i := range clients {
		c := patientClient(t, s)
		clients[i] = c
		members := make([]*Limiter, 0, len(w.limits))
		for key, limit := range w.limits {
			members = append(members, mustBucket(t, c, key, limit))
		}
		for j := range w.callers {
			random := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			all.Go(func() {
				for {
					needs := someNeeds(random, members)
					a, err := c.All(needs...)
					if err != nil {
						t.Error(err)
						return
					}
					g, err := a.Acquire(ctx)
					if err != nil {
						return // its time is over: what it was charged for does not start
					}
					mu.Lock()
					for _, need := range needs {
						starts[need.limiter.key] = append(starts[need.limiter.key], amount{g.At.UnixMicro(), need.n})
					}
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	for _, c := range clients {
		for _, b := range c.Stats().Buckets {
			if b.Local > 0 {
				t.Errorf("%v tokens of %q were granted without Redis", b.Local, b.Key)
			}
		}
	}
	return starts
}

// someNeeds draws one to all of the buckets, in any order, and up to a whole
// bucket of each.
func someNeeds(random *rand.Rand, members []*Limiter) []Need {
	var needs []Need
	for _, i := range random.Perm(len(members))[:1+random.IntN(len(members))] {
		l := members[i]
		most := l.declared.Capacity
		if random.IntN(4) > 0 {
			most /= 4
		}
		needs = append(needs, l.Need(most*(0.05+0.95*random.Float64())))
	}
	return needs
}

// In each bucket no span sees more than it allows, whoever draws from which
// buckets together; and nobody waits for ever for a bucket that another holds,
// since nobody holds any.
func TestSetsStayWithinTheBoundOfEachBucket(t *testing.T) {
	t.Parallel()
	w := crowd{clients: 6, callers: 4, length: 6 * time.Second, limits: map[string]Limit{
		"{set}:fast": PerSecond(200).Burst(40), "{set}:slow": PerSecond(20).Burst(8), "{set}:brim": PerSecond(100).Burst(5),
	}}
	most := 0.0
	for key, starts := range w.run(t) {
		limit := w.limits[key]
		h := history{starts: starts, horizon: DefaultHorizon, limits: []inForce{{0, limit}}}
		h.check(t)
		used := 0.0
		for _, s := range starts {
			used += s.n
		}
		used /= limit.Capacity + limit.Rate*w.length.Seconds()
		t.Logf("%s: %d starts, %.2f of its allowance used", key, len(starts), used)
		most = max(most, used)
	}
	if most < 0.5 {
		t.Errorf("%.2f of the tightest bucket is used: somebody waits for what nobody holds", most)
	}
}
