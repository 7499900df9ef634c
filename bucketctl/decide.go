package bucketctl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// decide answers one request: by Redis, or alone while Redis can't be asked.
// patience is the longest acceptable wait, in microseconds.
func (l *Limiter) decide(ctx context.Context, n float64, patience int64) (verdict, error) {
	if open, reason, _ := l.client.link.isOpen(); open {
		return l.decideAlone(n, patience, reason), nil
	}
	v, err := l.ask(ctx, n, patience)
	if errors.Is(err, ErrClosed) {
		return v, err
	}
	kind := classify(ctx, err)
	switch kind {
	case classNone:
		l.client.link.succeeded()
		l.took(v)
		return v, nil
	case classCaller:
		return v, l.gaveUp(ctx)
	case classBucket:
		l.client.link.succeeded()
		return v, fmt.Errorf("%w: %q: %s", ErrWrongType, l.key, cause(err))
	case classOutage, classConfig:
		l.client.failed(kind, err)
	}
	return l.decideAlone(n, patience, reasonOf(kind, err)), nil
}

// ask runs the take script beside the caller, who need not wait for a server
// that hangs: a caller that gives up leaves, and what its request is charged
// meanwhile is given back. A take that timed out is not repeated; it counts as
// spent, since nobody can know.
func (l *Limiter) ask(ctx context.Context, n float64, patience int64) (verdict, error) {
	type answer struct {
		v   verdict
		err error
	}
	answered := make(chan answer) // unbuffered: an answer is either received or given back
	left := make(chan struct{})
	go func() {
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		defer cancel()
		v, err := l.take(call, n, patience)
		select {
		case answered <- answer{v, err}:
		case <-left:
			if err == nil && v.code == codeCharged {
				l.refund(ctx, n, v)
			}
		}
	}()
	select {
	case a := <-answered:
		return a.v, a.err
	case <-ctx.Done():
		close(left)
		return verdict{}, ctx.Err()
	case <-l.client.alive.Done():
		close(left)
		return verdict{}, ErrClosed
	}
}

// take makes the call, after a debit that is owed.
func (l *Limiter) take(ctx context.Context, n float64, patience int64) (verdict, error) {
	if err := l.debit(ctx); err != nil {
		return verdict{}, err
	}
	began := time.Now()
	args := takeArguments(l.declared, l.client.gen.Load(), l.client.config.Horizon, n, patience)
	r, err := runScript(ctx, l.client.redis, l.client.scripts.take, l.keys(), args...)
	l.stats.called(time.Since(began))
	if err != nil {
		return verdict{}, err
	}
	v, err := decodeTake(r)
	if err != nil {
		return verdict{}, fmt.Errorf("take from %q: %w", l.key, err)
	}
	return v, nil
}

// try makes a call that takes nothing, to learn whether takes work again.
func (l *Limiter) try(ctx context.Context) error {
	args := append(declaredArguments(l.declared, l.client.gen.Load()), l.client.config.Horizon.Microseconds(), 0)
	_, err := runScript(ctx, l.client.redis, l.client.scripts.take, l.keys(), args...)
	return err
}

// took remembers what a reply tells beyond its answer.
func (l *Limiter) took(v verdict) {
	l.client.clock.set(v.at)
	l.client.gen.CompareAndSwap(0, v.gen)
	l.mu.Lock()
	l.seen = v
	l.mu.Unlock()
	if v.mended != 0 {
		l.client.tellMended(l.key, v.mended)
	}
}

// decideAlone answers by the fallback policy. A hold, a cooldown and an
// override that were seen stay in force until they end.
func (l *Limiter) decideAlone(n float64, patience int64, reason string) verdict {
	now := l.client.clock.now()
	l.mu.Lock()
	limit, seen := l.limitAt(now), l.seen
	l.mu.Unlock()
	v := verdict{
		at:        now,
		level:     math.NaN(),
		limit:     limit,
		local:     true,
		localMode: Mode(l.client.config.Fallback),
		reason:    reason,
		rev:       seen.rev,
	}
	if stopped, wait := seen.stoppedAt(now); stopped {
		v.stop, v.wait, v.ask = seen.stop, wait, wait
		v.code = codeWaits
		if wait.Microseconds() > patience {
			v.code = codeRefused
		}
		return v
	}
	switch {
	case n > limit.Capacity:
		v.code = codeImpossible
	case v.localMode == ModeOpen:
		v.code = codeCharged
	case v.localMode == ModeClosed:
		v.code, v.wait = codeRefused, recheck
	default:
		l.decideShare(&v, n, patience)
	}
	if v.code == codeCharged {
		window := seconds(limit.Capacity / limit.Rate)
		l.share.spend(time.Now(), n, window)
	}
	return v
}

// decideShare answers by this worker's share of the limit.
func (l *Limiter) decideShare(v *verdict, n float64, patience int64) {
	horizon := l.client.config.Horizon
	longest := min(horizon, microsSaturated(patience))
	part := partOf(v.limit, l.client.config.assumedWorkers())
	wait, ok := l.share.take(time.Now(), part, n, longest)
	v.wait = wait
	switch {
	case ok:
		v.code = codeCharged
	case wait > microsSaturated(patience):
		v.code = codeRefused
	default:
		v.code, v.ask = codeWaits, max(time.Microsecond, wait-horizon)
	}
}

// limitAt is the limit in force at t by what was seen last. Needs l.mu.
func (l *Limiter) limitAt(t time.Time) Limit {
	switch {
	case l.seen.limit.IsZero():
		return l.declared
	case l.seen.override && !l.seen.overEnd.IsZero() && !l.seen.overEnd.After(t):
		return l.declared
	}
	limit := l.seen.limit
	limit.Per = l.declared.Per
	return limit
}

// stoppedAt reports whether the stop that was seen is still in force at t, and
// for how long.
func (v verdict) stoppedAt(t time.Time) (bool, time.Duration) {
	switch {
	case v.stop == stopNone:
		return false, 0
	case v.stopEnd.IsZero():
		return true, microsSaturated(unlimited)
	}
	wait := v.stopEnd.Sub(t)
	return wait > 0, wait
}

// owe ends the share and remembers what it granted lately, to be debited
// before the next shared take. It returns what was granted alone in all.
func (l *Limiter) owe() float64 {
	recent, total := l.share.settle(time.Now())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owed += recent
	return total
}

// debit takes what was granted alone out of the shared bucket, once, so that
// an outage is not followed by a burst for free.
func (l *Limiter) debit(ctx context.Context) error {
	l.mu.Lock()
	owed := l.owed
	l.owed = 0
	l.mu.Unlock()
	if owed <= 0 {
		return nil
	}
	if _, err := l.give(ctx, "debit", owed, 0); err != nil {
		return fmt.Errorf("debit %q: %w", l.key, err)
	}
	return nil
}

// report is what the worker says of this bucket.
func (l *Limiter) report() WorkerBucket {
	b := WorkerBucket{Key: l.key, Mode: ModeShared, Declared: l.declared}
	l.stats.report(&b)
	open, reason, since := l.client.link.isOpen()
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.client.clock.now()
	if open {
		b.Mode, b.Reason, b.Since = Mode(l.client.config.Fallback), reason, since
	}
	b.Share = partOf(l.limitAt(now), l.client.config.assumedWorkers()).Rate
	b.Level = math.NaN()
	if !l.seen.limit.IsZero() {
		b.Limit, b.Rev, b.Level = l.limitAt(now), l.seen.rev, l.seen.level
	}
	return b
}
