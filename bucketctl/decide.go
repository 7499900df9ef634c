package bucketctl

import (
	"context"
	"fmt"
	"math"
	"time"
)

// decide answers a batch of requests in order: by Redis, or alone while Redis
// can't be asked. It appends one verdict for each, or returns an error that
// holds for all.
func (l *Limiter) decide(ctx context.Context, batch []*request, verdicts []verdict) ([]verdict, error) {
	if open, reason, since := l.link().isOpen(); open {
		return l.decideAlone(batch, verdicts, reason, since), nil
	}
	taken, err := l.take(ctx, batch, verdicts)
	kind := classify(ctx, err)
	switch kind {
	case classNone:
		l.took(taken[0].circumstances)
		return taken, nil
	case classCaller:
		return nil, ErrClosed // the only context here is the Client's life
	case classBucket:
		return nil, fmt.Errorf("%w: %q: %s", ErrWrongType, l.key, cause(err))
	case classOutage, classConfig:
		l.stats.failed()
		l.client.failed(l.link(), kind, err)
	}
	return l.decideAlone(batch, verdicts, reasonOf(kind, err), l.client.clock.now()), nil
}

// take makes the call, after what Redis is owed. A call that timed out is not
// repeated: it counts as spent, since nobody can know.
func (l *Limiter) take(ctx context.Context, batch []*request, verdicts []verdict) ([]verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, l.client.config.callTimeout)
	defer cancel()
	if err := l.payDebts(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	l.arguments = appendTake(l.declare(l.arguments[:0]), l.client.config.Horizon, l.ticket, batch, began)
	r, err := l.run(ctx, l.scripts.take, l.arguments...)
	took := time.Since(began)
	l.stats.called(took)
	if err != nil {
		return nil, err
	}
	l.roundTrip = took
	taken, err := decodeTake(r, l.arguments, len(batch), verdicts)
	if err != nil {
		return nil, fmt.Errorf("take from %q: %w", l.key, err)
	}
	l.tellLapse(taken[0])
	l.overlook(taken[0])
	l.ticket = taken[0].ticket
	return taken, nil
}

// try makes a call that takes nothing, to learn whether takes work again.
func (l *Limiter) try(ctx context.Context) error {
	args := appendTake(l.declare(nil), l.client.config.Horizon, 0, nil, time.Time{})
	_, err := l.run(ctx, l.scripts.take, args...)
	return err
}

// took remembers what a reply tells beyond its answers.
func (l *Limiter) took(c *circumstances) {
	l.client.clock.set(c.at)
	l.client.gen.CompareAndSwap(0, c.gen)
	l.mu.Lock()
	l.seen = *c
	l.mu.Unlock()
	if c.mended != 0 && c.mended != mendedQueue {
		l.client.tellMended(l.key, c.mended)
	}
}

// decideAlone answers by the fallback policy. A hold, a cooldown and an
// override that were seen stay in force until they end.
func (l *Limiter) decideAlone(batch []*request, verdicts []verdict, reason string, since time.Time) []verdict {
	c, stopWait := l.alone(reason, since)
	stop, limit := c.stop, c.limit
	var head time.Duration // how long the first of those who wait has to; they keep their order
	for _, r := range batch {
		v := verdict{circumstances: c, wait: stopWait}
		patience := micros(r.patience(time.Now()))
		switch {
		case stop != stopNone:
			v.code = waitsOrRefused(r, v.wait, patience, c.stop)
		case r.n > limit.Capacity:
			v.code = codeImpossible
		case c.localMode == ModeOpen:
			v.code = codeCharged
		case c.localMode == ModeClosed:
			v.code, v.wait = codeRefused, recheck
		case head > 0:
			v.wait = head
			v.code = waitsOrRefused(r, v.wait, patience, c.stop)
		default:
			l.decideShare(&v, r, patience)
		}
		if v.code == codeWaits && head == 0 {
			head = v.wait
		}
		if v.code == codeCharged {
			v.due = time.Now().Add(v.wait)
			l.share.spend(time.Now(), r.n, seconds(limit.Capacity/limit.Rate))
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// alone is what this worker knows of the bucket while it decides alone, and how
// long what stops the bucket still does.
func (l *Limiter) alone(reason string, since time.Time) (c *circumstances, stopWait time.Duration) {
	now := l.client.clock.now()
	l.mu.Lock()
	limit, seen := l.limitAt(now), l.seen
	l.mu.Unlock()
	c = &circumstances{
		at:        now,
		level:     math.NaN(),
		limit:     limit,
		local:     true,
		localMode: Mode(l.options.fallback),
		reason:    reason,
		since:     since,
		rev:       seen.rev,
	}
	c.stop, stopWait = l.stopped(now, seen)
	if c.stop != stopNone {
		c.ask = stopWait
	}
	return c, stopWait
}

// waitsOrRefused is the code of a request that can't be served within wait. A
// hold may be lifted at any time, so it ends nobody's patience but Allow's.
func waitsOrRefused(r *request, wait, patience time.Duration, stop int64) int64 {
	if r.allow || wait > patience && stop != stopHeld {
		return codeRefused
	}
	return codeWaits
}

// decideShare answers by this worker's share of the limit.
func (l *Limiter) decideShare(v *verdict, r *request, patience time.Duration) {
	horizon := l.client.config.Horizon
	part := partOf(v.limit, l.workers())
	wait, ok := l.share.take(time.Now(), part, r.n, min(horizon, patience))
	v.wait = wait
	if ok {
		v.code = codeCharged
		return
	}
	v.code = waitsOrRefused(r, wait, patience, stopNone)
	if v.code == codeWaits {
		v.ask = max(time.Microsecond, wait-horizon)
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
func (c circumstances) stoppedAt(t time.Time) (bool, time.Duration) {
	switch {
	case c.stop == stopNone:
		return false, 0
	case c.stopEnd.IsZero():
		return true, micros(unlimited)
	}
	wait := c.stopEnd.Sub(t)
	return wait > 0, max(0, wait)
}
