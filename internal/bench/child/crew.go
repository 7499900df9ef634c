package child

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"bucketop/internal/bench/figure"
	"bucketop/internal/bench/peer"
)

// crew are the goroutines that draw from one limiter, one grant after the
// other.
type crew struct {
	limiter peer.Limiter
	short   bool

	cancel  context.CancelFunc
	gate    chan struct{} // closed when they may begin
	stopped atomic.Bool
	began   time.Time
	all     sync.WaitGroup
	tallies []tally
}

// tally is what one goroutine got. Its size keeps it from sharing cache lines.
type tally struct {
	grants   int64
	failures int64
	failure  error
	latency  figure.Latency
	starts   []int64
}

// newCrew brings its goroutines up to the gate.
func newCrew(ctx context.Context, limiter peer.Limiter, job Job) *crew {
	c := &crew{limiter: limiter, short: job.Short, gate: make(chan struct{}), tallies: make([]tally, job.Goroutines)}
	ctx, c.cancel = context.WithCancel(ctx)
	wait := c.wait()
	for i := range c.tallies {
		c.all.Go(func() { c.draw(ctx, wait, &c.tallies[i]) })
	}
	return c
}

// wait returns how to wait for one grant and learn its start. The time that
// received grants get is also the end of their latency, so it is free here.
func (c *crew) wait() func(context.Context) (time.Time, error) {
	if stamper, ok := c.limiter.(peer.Stamper); ok && c.short {
		return stamper.WaitStamped
	}
	return func(ctx context.Context) (time.Time, error) { return time.Time{}, c.limiter.Wait(ctx) }
}

func (c *crew) draw(ctx context.Context, wait func(context.Context) (time.Time, error), t *tally) {
	<-c.gate
	last := time.Now()
	for !c.stopped.Load() {
		start, err := wait(ctx)
		if err != nil {
			if ctx.Err() == nil {
				t.failures++
				t.failure = err
			}
			continue
		}
		now := time.Now()
		t.grants++
		t.latency.Add(now.Sub(last))
		last = now
		if c.short {
			if start.IsZero() {
				start = now
			}
			t.starts = append(t.starts, start.UnixMicro())
		}
	}
}

func (c *crew) start() {
	c.began = time.Now()
	close(c.gate)
}

// stop lets each goroutine finish its call, or calls it off where it may wait
// for long, and adds up what they got.
func (c *crew) stop() Result {
	c.stopped.Store(true)
	if c.short {
		c.cancel()
	}
	c.all.Wait()
	c.cancel()
	sum := Result{Elapsed: time.Since(c.began)}
	for i := range c.tallies {
		t := &c.tallies[i]
		sum.Grants += t.grants
		sum.Failures += t.failures
		sum.Starts = slices.Concat(sum.Starts, t.starts)
		sum.Latency.Merge(&t.latency)
		if t.failure != nil {
			sum.Failure = t.failure.Error()
		}
	}
	return sum
}
