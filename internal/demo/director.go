package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"bucketop/bucketctl"
)

const (
	lookEvery = 100 * time.Millisecond // for steps that are due
	stepTime  = 3 * time.Second        // of one step at Redis, at most

	crowd        = 3 // times the callers, in a burst
	retryAfter   = 20 * time.Second
	overrideTime = 75 * time.Second
)

// director makes the story happen. It acts for those around the workers: their
// providers, and an operator besides the one at the console.
type director struct {
	crew     *crew
	operator *bucketctl.Admin
	close    func()
	tell     func(string)

	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newDirector(ctx context.Context, s *server, c *crew, tell func(string)) (*director, error) {
	operator, closeOperator, err := s.admin(ctx, "anna@ops1")
	if err != nil {
		return nil, err
	}
	return &director{crew: c, operator: operator, close: closeOperator, tell: tell, cancel: func() {}}, nil
}

// start tells the story from now on, until stop.
func (d *director) start(ctx context.Context, s *story) {
	ctx, d.cancel = context.WithCancel(ctx)
	began := time.Now()
	d.done.Go(func() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				d.catchUp(ctx, s.due(time.Since(began)))
			case <-ctx.Done():
				return
			}
		}
	})
}

func (d *director) stop() {
	d.cancel()
	d.done.Wait()
	d.close()
}

// catchUp takes the steps. One that does not work out is left out: the story
// goes on, and gives way to whoever is at the console.
func (d *director) catchUp(ctx context.Context, steps []step) {
	for _, s := range steps {
		stepCtx, cancel := context.WithTimeout(ctx, stepTime)
		err := d.take(stepCtx, ctx, s)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			d.tell(s.sentence() + ", but: " + err.Error())
		default:
			d.tell(s.sentence())
		}
	}
}

// take takes one step. ctx bounds what it does at Redis, life what it starts.
func (d *director) take(ctx, life context.Context, s step) error {
	switch s.act {
	case losesRedis:
		d.worker(s.who, func(w *worker) { w.wire.setCut(true) })
	case findsRedis:
		d.worker(s.who, func(w *worker) { w.wire.setCut(false) })
	case bursts:
		d.crew.each(func(w *worker) { w.burst(life, s.who, crowd) })
	case calms:
		d.crew.each(func(w *worker) { w.calm(s.who) })
	case disagrees:
		return d.restart(life, s.who, smaller)
	case agrees:
		return d.restart(life, s.who, asAgreed)
	case refuses:
		return d.refuse(ctx, s.who)
	case overrides:
		return d.override(ctx, s.who)
	case sticks:
		return d.crew.foreign.stick(ctx, time.Now())
	}
	return nil
}

// worker lets f change the worker of that name.
func (d *director) worker(name string, f func(*worker)) {
	d.crew.each(func(w *worker) {
		if w.name == name {
			f(w)
		}
	})
}

// restart ends a worker and starts it anew with the limits that declare
// returns.
func (d *director) restart(ctx context.Context, name string, declare func(job) bucketctl.Limit) (err error) {
	d.worker(name, func(w *worker) {
		w.stop() //nolint:contextcheck // closing has its own bound
		err = w.start(ctx, declare)
	})
	return err
}

// smaller is two thirds of what all others declare.
func smaller(j job) bucketctl.Limit {
	limit := j.limit
	limit.Rate, limit.Capacity = limit.Rate*2/3, limit.Capacity*2/3
	return limit
}

// refuse lets a worker hear that its provider has had enough: all workers of
// the bucket pause. A bucket that is held sends its provider no request.
func (d *director) refuse(ctx context.Context, bucket string) error {
	state, err := d.operator.Get(ctx, bucket)
	if err != nil {
		return fmt.Errorf("look before the refusal: %w", err)
	}
	if state.Hold.Active {
		return errors.New("it is held already")
	}
	var limiter *bucketctl.Limiter
	d.crew.each(func(w *worker) {
		if w.shift != nil && limiter == nil {
			limiter = w.shift.posts[bucket].limiter
		}
	})
	if limiter == nil {
		return errors.New("nobody draws from it")
	}
	return limiter.Cooldown(ctx, retryAfter)
}

// override doubles a bucket's limit for a while, unless it is overridden
// already.
func (d *director) override(ctx context.Context, bucket string) error {
	state, err := d.operator.Get(ctx, bucket)
	if err != nil {
		return fmt.Errorf("look before the override: %w", err)
	}
	if !state.Override.IsZero() {
		return errors.New("it is overridden already")
	}
	_, err = d.operator.SetLimit(ctx, bucket, state.Rev, bucketctl.LimitChange{
		Rate: bucketctl.To(2 * state.Declared.Rate), Per: state.Declared.Per,
		Capacity: bucketctl.To(2 * state.Declared.Capacity),
		End:      bucketctl.EndAfter(overrideTime), Reason: "newsletter goes out",
	})
	return err
}
