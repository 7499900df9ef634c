package demo

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"bucketop/bucketctl"
)

// caller is one goroutine of a worker that asks, works, and asks again, like a
// program that calls its provider in a loop.
type caller struct {
	post
	log   *modeLog
	tally *tally
	rng   *rand.Rand
}

// afterRefusal is how long a caller lets be what can't be served, such as a
// request above the capacity that an operator has just lowered.
const afterRefusal = 500 * time.Millisecond

func (c *caller) run(ctx context.Context) {
	for ctx.Err() == nil {
		pause := c.work()
		switch err := c.draw(ctx); {
		case errors.Is(err, bucketctl.ErrClosed):
			return
		case err != nil:
			pause = afterRefusal
		}
		sleep(ctx, pause)
	}
}

// draw takes the tokens of one request.
func (c *caller) draw(ctx context.Context) error {
	tokens := math.Round(c.job.least + c.rng.Float64()*(c.job.most-c.job.least))
	if c.job.tries {
		d, err := c.limiter.AllowN(ctx, tokens)
		if err == nil && d.OK {
			c.tally.grant(c.job.bucket, tokens, d.Mode.Local())
		}
		return err
	}
	c.tally.wait(1)
	err := c.limiter.WaitN(ctx, tokens)
	c.tally.wait(-1)
	if err == nil {
		c.tally.grant(c.job.bucket, tokens, c.log.alone.Load())
	}
	return err
}

// work is how long the next request takes: around the average, by a half.
func (c *caller) work() time.Duration {
	return time.Duration((0.5 + c.rng.Float64()) * float64(c.job.work))
}

// sleep returns early with ctx.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// newRand is a source of its own for everybody with a name.
func newRand(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))                  // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64())) // #nosec G404 -- a story needs no secrecy
}
