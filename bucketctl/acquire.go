package bucketctl

import (
	"context"
	"fmt"
	"time"
)

// acquire waits until n tokens are charged and their start has come.
func (l *Limiter) acquire(ctx context.Context, n float64) (verdict, error) {
	if err := l.check(ctx, n); err != nil {
		return verdict{}, err
	}
	began := time.Now()
	l.stats.enter()
	defer l.stats.leave()
	v, err := l.queue(ctx, n)
	if err == nil {
		err = l.untilStart(ctx, n, v)
	}
	l.stats.count(err == nil, v.local, n, time.Since(began))
	return v, err
}

// queue stands in line, and speaks for it once it is this caller's turn.
func (l *Limiter) queue(ctx context.Context, n float64) (verdict, error) {
	place := l.line.enter()
	defer l.line.leave(place)
	select {
	case <-place.turn:
	case <-ctx.Done():
		return verdict{}, l.gaveUp(ctx)
	case <-l.client.alive.Done():
		return verdict{}, ErrClosed
	}
	defer l.setShort(false)
	return l.askUntilCharged(ctx, n)
}

// askUntilCharged asks, and sleeps as long as it is told to, until the request
// is charged or can't be.
func (l *Limiter) askUntilCharged(ctx context.Context, n float64) (verdict, error) {
	for {
		woken := l.wakeSignal()
		v, err := l.decide(ctx, n, patienceOf(ctx))
		if err != nil {
			return v, err
		}
		switch v.code {
		case codeCharged:
			return v, nil
		case codeImpossible:
			return v, l.exceeds(n, v)
		case codeRefused:
			return v, l.refused(ctx, v)
		}
		l.setShort(true)
		l.stats.setHead(time.Now().Add(v.wait))
		if err := l.sleepUntil(ctx, min(v.ask, recheck), woken); err != nil {
			return v, err
		}
	}
}

func (l *Limiter) setShort(short bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.short = short
}

// refused is the error of a wait that does not fit.
func (l *Limiter) refused(ctx context.Context, v verdict) error {
	if v.local && v.localMode == ModeClosed {
		return fmt.Errorf("%w: %q: %s", ErrUnavailable, l.key, v.reason)
	}
	left := micros(patienceOf(ctx))
	return &DeadlineError{Key: l.key, Wait: v.wait, Left: left}
}

// gaveUp is the error of a caller whose context ended.
func (l *Limiter) gaveUp(ctx context.Context) error {
	return fmt.Errorf("bucketctl: wait for %q: %w", l.key, ctx.Err())
}

// sleepUntil sleeps for d, or until woken; an error where ctx or the Client
// ended instead.
func (l *Limiter) sleepUntil(ctx context.Context, d time.Duration, woken <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-woken:
		return nil
	case <-ctx.Done():
		return l.gaveUp(ctx)
	case <-l.client.alive.Done():
		return ErrClosed
	}
}

// untilStart sleeps until a charged request may start. A caller that gives up
// before gives its tokens back.
func (l *Limiter) untilStart(ctx context.Context, n float64, v verdict) error {
	if v.wait <= 0 {
		return nil
	}
	err := l.sleepUntil(ctx, v.wait, nil)
	if err != nil && !v.local {
		l.refund(ctx, n, v)
	}
	return err
}

// refundTimeout bounds what a caller that gave up still waits for.
const refundTimeout = 50 * time.Millisecond

// refund gives back what was charged for a start that does not happen. It is
// an effort, not a promise: where it fails the tokens are spent.
func (l *Limiter) refund(ctx context.Context, n float64, v verdict) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refundTimeout)
	defer cancel()
	if _, err := l.give(ctx, "refund", n, v.start().UnixMicro()); err != nil {
		l.client.config.Logger.Debug("bucketctl: tokens of a caller that gave up were not given back", "error", cause(err))
	}
}

// give runs the give script: why is refund, settle or debit.
func (l *Limiter) give(ctx context.Context, why string, tokens float64, start int64) (given float64, err error) {
	args := append(declaredArguments(l.declared, l.client.gen.Load()), why, formatExact(tokens), start)
	r, err := runScript(ctx, l.client.redis, l.client.scripts.give, l.keys(), args...)
	if err != nil {
		return 0, err
	}
	if err := r.length(3); err != nil {
		return 0, err
	}
	return r.number(1)
}

func (l *Limiter) keys() []string { return []string{l.key, l.client.keys.Limit(l.key)} }
