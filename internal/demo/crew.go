package demo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/bucketctl"
)

// crew is everybody who works: the workers of the cast, and one of a program
// that knows nothing of bucketctl.
type crew struct {
	tally *tally

	mu      sync.Mutex // held while the story changes a worker or somebody looks
	workers []*worker

	foreign *foreign
	redis   redis.UniversalClient // the foreign worker's
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

// startCrew starts everybody.
func startCrew(ctx context.Context, s *server, seed uint64) (*crew, error) {
	options, err := bucketctl.Options(s.url)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	alive, cancel := context.WithCancel(ctx)
	client := bucketctl.NewClient(options)
	c := &crew{tally: newTally(), redis: client, cancel: cancel, foreign: newForeign(client)}
	_, _ = c.foreign.take(alive, time.Now()) // a console that opens now scans for its key, and not again for a while
	for _, r := range cast() {
		for number := range r.workers {
			w := newWorker(r, number+1, s.url, c.tally, seed)
			if err := w.start(alive, asAgreed); err != nil {
				c.stop()
				return nil, fmt.Errorf("demo: %w", err)
			}
			c.workers = append(c.workers, w)
		}
	}
	c.done.Go(func() { c.foreign.run(alive) })
	return c, nil
}

// asAgreed is the limit that all workers of a bucket declare, usually.
func asAgreed(j job) bucketctl.Limit { return j.limit }

// stop ends everybody at the same time.
func (c *crew) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel()
	for _, w := range c.workers {
		c.done.Go(w.stop)
	}
	c.done.Wait()
	_ = c.redis.Close() // nothing is under way
}

// each lets f change every worker, or look at it.
func (c *crew) each(f func(*worker)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.workers {
		f(w)
	}
}

// fallback returns how many workers decide without Redis.
func (c *crew) fallback() int {
	n := 0
	c.each(func(w *worker) {
		if w.alone() {
			n++
		}
	})
	return n
}

// buckets returns how many buckets there are, the foreign one included.
func (c *crew) buckets() int {
	known := map[string]bool{foreignKey: true}
	for _, r := range cast() {
		for _, j := range r.jobs {
			known[j.bucket] = true
		}
	}
	return len(known)
}
