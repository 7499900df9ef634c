package bucketctl

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// Grant is what Acquire got. It need not be given back: a forgotten Grant is
// simply spent. Its methods may be called by several goroutines at once; the
// first of them counts, later ones do nothing.
type Grant struct {
	At     time.Time // server time at which the caller may start, which has come
	N      float64   // tokens charged
	Mode   Mode      // who granted it: ModeShared is Redis
	Reason string    // why the mode is not ModeShared
	Since  time.Time // server time, estimated, since when it is not; zero: it is
	Source Source    // SourceRedis or SourceWorker

	limiter *Limiter
	verdict verdict
	once    sync.Once
}

// Acquire is WaitN for callers that learn the true cost only afterwards, such
// as the tokens of a language model: it waits until n tokens are taken and
// returns a Grant to settle. Errors are as WaitN's.
func (l *Limiter) Acquire(ctx context.Context, n float64) (*Grant, error) {
	v, err := l.acquire(ctx, n)
	if err != nil {
		return nil, err
	}
	return l.newGrant(n, v), nil
}

func (l *Limiter) newGrant(n float64, v verdict) *Grant {
	return &Grant{At: v.start(), N: n, Mode: v.mode(), Reason: v.reason, Since: v.since, Source: v.source(), limiter: l, verdict: v}
}

// Settle tells what the request really cost, in tokens: the rest is put back,
// up to the capacity, or more is taken. The bucket then may go into debt, by at
// most one capacity; whatever is beyond is forgotten. It returns ErrTokens for
// a cost that is no finite number from 0, and ErrUnavailable where Redis can't
// be asked: the charge then stays as it is.
func (g *Grant) Settle(ctx context.Context, used float64) error {
	if err := validateCost(g.limiter.key, used); err != nil {
		return err
	}
	var err error
	g.once.Do(func() { err = g.giveBack(ctx, "settle", g.N-used) })
	return err
}

func validateCost(key string, used float64) error {
	if !(used >= 0 && used <= MaxCapacity) { // also true for NaN
		return fmt.Errorf("bucket %q: %w: a cost of %s: it must be from 0 to %s",
			key, ErrTokens, formatNumber(used), formatNumber(MaxCapacity))
	}
	return nil
}

// Cancel tells that the request was not made. Its tokens are put back as far as
// nobody who was charged later has been delayed by them. Errors are as
// Settle's.
func (g *Grant) Cancel(ctx context.Context) error {
	var err error
	g.once.Do(func() { err = g.giveBack(ctx, "refund", g.N) })
	return err
}

// giveBack changes the bucket that was charged: the shared one, or what the
// worker is to debit from it on its return.
func (g *Grant) giveBack(ctx context.Context, why string, tokens float64) error {
	if math.Abs(tokens) < MinTokens {
		return nil
	}
	l := g.limiter
	if g.verdict.local {
		l.share.spend(time.Now(), -tokens, seconds(g.verdict.limit.Capacity/g.verdict.limit.Rate))
		return nil
	}
	return l.beside(ctx, func(ctx context.Context) error {
		if err := l.give(ctx, why, tokens, g.At.UnixMicro()); err != nil {
			return adminError(context.WithoutCancel(ctx), why, l.key, err) // our own bound is no caller's wish
		}
		return nil
	})
}

// beside runs a call to Redis beside its caller, who need not wait for a server
// that hangs longer than ctx allows.
func (l *Limiter) beside(ctx context.Context, call func(context.Context) error) error {
	answered := make(chan error, 1)
	l.client.goUnlessClosed(func(alive context.Context) {
		bounded, cancel := context.WithTimeout(alive, l.client.config.callTimeout)
		defer cancel()
		answered <- call(bounded)
	})
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return fmt.Errorf("bucketctl: tell Redis about %q: %w", l.key, ctx.Err())
	case <-l.client.alive.Done():
		return ErrClosed
	}
}

// Do calls f once a token is taken, and returns its error, or Wait's.
func (l *Limiter) Do(ctx context.Context, f func(context.Context) error) error {
	if err := l.Wait(ctx); err != nil {
		return err
	}
	return f(ctx)
}

// Waiter is what most code needs of a limiter; a *Limiter and the Limiter of
// golang.org/x/time/rate both are one.
type Waiter interface {
	Wait(ctx context.Context) error
}

var _ Waiter = (*Limiter)(nil)
