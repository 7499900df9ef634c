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
	deadline, _ := ctx.Deadline()
	if err := l.fits(n, deadline); err != nil {
		l.stats.refuse()
		return verdict{}, err
	}
	v, err := l.ask(ctx, n, nil, deadline, false)
	if err != nil {
		return v, err
	}
	switch v.code {
	case codeImpossible:
		return v, l.exceeds(n, v)
	case codeRefused:
		return v, l.refused(v, deadline)
	}
	return v, l.untilStart(ctx, orphan{n: n, verdict: v})
}

// fits refuses a caller whose deadline can't be met behind those who wait
// already, by what the newest reply told.
func (l *Limiter) fits(n float64, deadline time.Time) error {
	if deadline.IsZero() {
		return nil
	}
	l.mu.Lock()
	limit := l.seen.limit
	l.mu.Unlock()
	if l.window {
		n -= limit.Capacity // so many may start together with the first of the queue
	}
	start, known := l.queue.startBehind(n, limit.Rate)
	if !known || !start.After(deadline) {
		return nil
	}
	now := time.Now()
	return &DeadlineError{Key: l.key, Wait: start.Sub(now), Left: deadline.Sub(now)}
}

// newRequest takes a used request where there is one: a caller that was served
// leaves nothing behind.
func (c *Client) newRequest() *request {
	if r, ok := c.requests.Get().(*request); ok {
		return r
	}
	return &request{answer: make(chan answer, 2)}
}

// ask stands in the queue until the request is answered, or its caller gives
// up.
func (d *desk) ask(ctx context.Context, n float64, each []float64, deadline time.Time, allow bool) (verdict, error) {
	r := d.client.newRequest()
	r.n, r.each, r.deadline, r.allow, r.joined = n, each, deadline, allow, time.Now()
	start, heeds := d.queue.join(r)
	if start {
		d.client.goUnlessClosed(d.dispatch)
	}
	if a, answered := r.await(ctx, heeds); answered {
		d.client.requests.Put(r)
		return a.verdict, a.err
	}
	d.service.refuse()
	if d.queue.leave(r) {
		if a := <-r.answer; a.err == nil && a.code == codeCharged {
			d.handOn(orphan{n, each, a.verdict})
		}
		d.client.requests.Put(r)
	}
	return verdict{}, d.service.gaveUp(ctx) // a request still in flight is the dispatcher's to forget
}

// refused is the error of a wait that does not fit.
func (l *Limiter) refused(v verdict, deadline time.Time) error {
	if v.local && v.localMode == ModeClosed {
		return fmt.Errorf("%w: %q: %s", ErrUnavailable, l.key, v.reason)
	}
	return &DeadlineError{Key: l.key, Wait: v.wait, Left: max(0, time.Until(deadline))}
}

// count counts answered requests.
func (l *Limiter) count(all []served, now time.Time) { l.stats.count(all, 0, now) }

// refuse counts a request whose caller gave up before it was answered.
func (l *Limiter) refuse() { l.stats.refuse() }

// putBack refunds what nobody uses, beside its caller.
func (l *Limiter) putBack(o orphan) {
	if o.n >= MinTokens {
		l.client.goUnlessClosed(func(ctx context.Context) { l.refund(ctx, o.n, o.verdict) })
	}
}

// gaveUp is the error of a caller whose context ended.
func (l *Limiter) gaveUp(ctx context.Context) error {
	return fmt.Errorf("bucketctl: wait for %q: %w", l.key, ctx.Err())
}

// untilStart sleeps until a charged request may start. The charge of a caller
// that gives up before is handed on.
func (d *desk) untilStart(ctx context.Context, o orphan) error {
	if o.wait <= 0 {
		return nil
	}
	timer := time.NewTimer(time.Until(o.due))
	defer timer.Stop()
	var err error
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		err = d.service.gaveUp(ctx)
	case <-d.client.alive.Done():
		err = ErrClosed
	}
	d.handOn(o)
	return err
}
