package demo

import (
	"math"
	"slices"
	"testing"
	"time"

	"bucketop/bucketctl"
)

// TestNobodyExceedsTheBound looks at each bucket by what its callers saw, with
// one worker on its own share, and whoever else a busy machine keeps from Redis.
func TestNobodyExceedsTheBound(t *testing.T) {
	onBoth(t, func(t *testing.T, k kind) {
		s := startKind(t, k)
		began := time.Now()
		c := startWorkers(t, s)
		geo := c.workers[0]
		await(t, "everybody draws from the shared buckets", func() bool {
			granted, _, _ := c.tally.read()
			return len(granted) == c.buckets()-1 // the foreign one is not ours to count
		})
		geo.wire.setCut(true)
		await(t, "it draws from its share", func() bool {
			return geo.alone() && grantedAlone(geo, geocodeEU)+grantedAlone(geo, geocodeUS) >= 4
		})
		granted, _, _ := c.tally.read()
		span := time.Since(began)
		for _, r := range cast() {
			for _, j := range r.jobs {
				cut := 0
				for _, w := range c.workers {
					if grantedAlone(w, j.bucket) > 0 {
						cut++
					}
				}
				if got, most := granted[j.bucket], bound(j, span, r.workers, cut); got > most {
					t.Errorf("%s: %v tokens in %v, %d workers alone; at most %v are allowed", j.bucket, got, span, cut, most)
				}
			}
		}
		geo.wire.setCut(false)
		await(t, "it comes back", func() bool { return !geo.alone() })
		admin := openAdmin(t, s, "newcomer")
		await(t, "and says what it granted alone", func() bool {
			workers, _, err := admin.Workers(t.Context())
			return err == nil && workers[0].App == geo.name && workers[0].Buckets[0].Local > 0
		})
	})
}

// grantedAlone is how many tokens of a bucket a worker granted without Redis.
func grantedAlone(w *worker, bucket string) float64 {
	for _, b := range w.shift.client.Stats().Buckets {
		if b.Key == bucket {
			return b.Local
		}
	}
	return 0
}

// TestDemandExceedsTheLimits: else an edit would change nothing to see.
func TestDemandExceedsTheLimits(t *testing.T) {
	for _, r := range cast() {
		for _, j := range r.jobs {
			perSecond := (j.least + j.most) / 2 * float64(r.workers*j.callers) / j.work.Seconds()
			if busy := perSecond > 1.5*j.limit.Rate; busy == (j.bucket == mails) {
				t.Errorf("%s: callers can use %v a second of %v", j.bucket, perSecond, j.limit.Rate)
			}
		}
	}
}

func TestWorkersAreProcessesOfTheirOwn(t *testing.T) {
	s := startKind(t, miniKind(t))
	c := startWorkers(t, s)
	admin := openAdmin(t, s, "newcomer")
	await(t, "everybody reports", func() bool {
		workers, _, err := admin.Workers(t.Context())
		names := map[string]bool{}
		for _, w := range workers {
			if len(w.Buckets) > 0 {
				names[w.App] = true
			}
		}
		return err == nil && len(names) == len(c.workers)
	})
	workers, _, err := admin.Workers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.each(func(w *worker) {
		i := slices.IndexFunc(workers, func(reported bucketctl.Worker) bool { return reported.App == w.name })
		for _, b := range workers[i].Buckets {
			limit := w.shift.posts[b.Key].job.limit
			if b.Declared != limit || math.Abs(b.Share*float64(w.role.workers)-limit.Rate) > 1e-9*limit.Rate {
				t.Errorf("%s declares %v for %s, of which %v is its share; want %v", w.name, b.Declared, b.Key, b.Share, limit)
			}
		}
	})
}

func TestNoConnectionIsLeft(t *testing.T) {
	s := startKind(t, miniKind(t))
	c, err := startCrew(t.Context(), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "everybody draws", func() bool {
		granted, _, _ := c.tally.read()
		return len(granted) == c.buckets()-1
	})
	c.stop()
	for _, w := range c.workers {
		w.wire.mu.Lock()
		if n := len(w.wire.open); n > 0 {
			t.Errorf("%s leaves %d connections", w.name, n)
		}
		w.wire.mu.Unlock()
	}
}
