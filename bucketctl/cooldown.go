package bucketctl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// MaxCooldown is the longest cooldown; a longer one counts as this.
const MaxCooldown = 24 * time.Hour

// providerAsked is the reason of a cooldown where none is given.
const providerAsked = "the provider asked"

// cooldown is one that this worker started or heard of through its own call.
type cooldown struct {
	until  time.Time     // server time, estimated while Redis can't be asked
	length time.Duration // as it was asked for
	owed   string        // the reason to tell Redis with; empty: Redis knows
}

// Cooldown stops the bucket for all its workers for d from now, since the
// provider said that it has had enough, such as by 429 Too Many Requests. Of
// several cooldowns the one that ends last holds; d is at most MaxCooldown, and
// 0 or less does nothing. What was in the bucket is gone: at the end of a
// cooldown tokens come at the rate, without a burst. A caller that was already
// charged starts within Config.Horizon all the same.
//
// Where Redis can't be asked the worker itself heeds the cooldown, and tells
// Redis of it on the way back if it is not over by then; that is no error.
// Errors are ErrClosed, ErrWrongType, a ctx that ended, and ErrDenied where
// Redis refuses: this worker heeds the cooldown then too, but nobody else does.
func (l *Limiter) Cooldown(ctx context.Context, d time.Duration) error {
	return l.coolDown(ctx, d, providerAsked)
}

// coolDown is Cooldown with a reason for the event.
func (l *Limiter) coolDown(ctx context.Context, d time.Duration, reason string) error {
	if l.client.alive.Err() != nil {
		return ErrClosed
	}
	if d = min(d, MaxCooldown); d < time.Microsecond {
		return nil
	}
	l.keepCooldown(cooldown{until: l.client.clock.now().Add(d), length: d, owed: reason})
	defer l.wake() // those who wait here learn of it at once
	if open, _, _ := l.link().isOpen(); open {
		return nil
	}
	err := l.beside(ctx, l.tellCooldown)
	if errors.Is(err, ErrClosed) {
		return err
	}
	kind := classify(ctx, err)
	switch kind {
	case classOutage:
		l.client.failed(l.link(), kind, err)
		return nil // kept until Redis can be told
	case classNone, classCaller, classConfig, classBucket:
	}
	return adminError(ctx, "cool down", l.key, err)
}

// keepCooldown remembers a cooldown that Redis has yet to be told of.
func (l *Limiter) keepCooldown(c cooldown) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.until.After(l.cool.until) {
		l.cool = c
	}
}

// tellCooldown tells Redis of the cooldown that it has yet to be told of, and
// everybody else if that is news to them.
func (l *Limiter) tellCooldown(ctx context.Context) error {
	l.mu.Lock()
	kept := l.cool
	l.mu.Unlock()
	left := kept.until.Sub(l.client.clock.now())
	if kept.owed == "" || left < time.Microsecond {
		return nil
	}
	args := append(l.declare(nil), left.Microseconds(), l.client.self.ID)
	r, err := l.run(ctx, l.scripts.cool, args...)
	if err != nil {
		return fmt.Errorf("cool down %q: %w", l.key, err)
	}
	now, end, news, err := decodeCool(r, left)
	if err != nil {
		return fmt.Errorf("cool down %q: %w", l.key, err)
	}
	l.client.clock.set(now)
	l.mu.Lock()
	if l.cool.until.Equal(kept.until) { // else a longer one came meanwhile
		l.cool = cooldown{until: end}
	}
	l.mu.Unlock()
	if news {
		l.client.goUnlessClosed(func(ctx context.Context) { l.announceCooldown(ctx, kept, end) })
	}
	return nil
}

// decodeCool is the one place where cool's reply is decoded. It is news where
// there was no cooldown, or one that ended a good deal earlier: many workers
// hear the same 429, and each moves the end by a little.
func decodeCool(r reply, length time.Duration) (now, end time.Time, news bool, err error) {
	if err := r.length(5); err != nil {
		return now, end, false, err
	}
	ints, err := r.integers(0, 4)
	if err != nil {
		return now, end, false, err
	}
	moved, before := micros(ints[1]), ints[2]
	began := moved > 0 && before <= ints[0]
	return time.UnixMicro(ints[0]).UTC(), time.UnixMicro(ints[3]).UTC(), began || moved > max(time.Second, length/10), nil
}

// announceCooldown adds the event and wakes the workers that wait at the bucket.
// That is one call of each, once per news: they are told when the cooldown ends,
// and their queues book their turns behind it. Its length is what was asked for,
// not the little less that is left once Redis is told.
func (l *Limiter) announceCooldown(ctx context.Context, kept cooldown, end time.Time) {
	c := l.client
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	e := Event{Kind: EventCooldown, Key: l.key, By: c.self.ID, Reason: kept.owed, Detail: map[string]string{
		"until":  end.Format(time.RFC3339Nano),
		"length": kept.length.Round(time.Millisecond).String(),
	}}
	_, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.XAdd(ctx, eventEntry(c.keys, e))
		p.Publish(ctx, c.keys.Wake(), l.key)
		return nil
	})
	if err != nil {
		c.config.Logger.Debug("bucketctl: a cooldown was not announced", "error", cause(err))
	}
}

// stopped reports what stops the bucket at server time now, by all that this
// worker knows, and for how long. A hold comes first, as at Redis.
func (l *Limiter) stopped(now time.Time, seen circumstances) (stop int64, wait time.Duration) {
	held, wait := seen.stoppedAt(now)
	if held && seen.stop == stopHeld {
		return stopHeld, wait
	}
	l.mu.Lock()
	own := l.cool.until.Sub(now)
	l.mu.Unlock()
	if wait = max(wait, own); wait > 0 {
		return stopCooldown, wait
	}
	return stopNone, 0
}
