package bucketctl

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// recheck is about the longest sleep without asking again, so that a change of
// the bucket reaches everybody who waits for long, also where nobody tells.
const recheck = 5 * time.Second

// longNap is the longest part of a sleep that has several: recheck, less what
// the call takes.
const longNap = 4980 * time.Millisecond

// Limiter draws tokens from one bucket that many processes share. It may be
// used by several goroutines at once. Most callers want Wait.
//
// Its methods differ in what they do when the tokens are not there: Wait and
// WaitN block until they are, in the order of arrival within the process;
// Allow and AllowN say no. Acquire is WaitN for those who learn the true cost
// only afterwards, Do wraps a function. Peek looks and takes nothing.
//
// While Redis can't be asked a Limiter decides by its fallback policy, and
// every Decision says so.
type Limiter struct {
	desk

	key      string
	keys     []string // of the scripts: the bucket, its operators' record, a window's log
	window   bool     // a sliding window: capacity tokens in each span of capacity / rate
	scripts  limiterScripts
	declared Limit
	spelled  scriptLimit // the same

	options bucketOptions
	route   atomic.Pointer[link]
	pulse   *pulse // its live workers

	share share
	stats stats

	mu   sync.Mutex
	seen circumstances // of the newest reply of Redis; zero before the first
	owed float64       // granted alone and not yet debited from the shared bucket
	cool cooldown
	sets []*set // that it is a member of

	paying sync.Mutex // held while Redis is told what it missed

	// Of the dispatcher alone.
	arguments []any
	ticket    int64     // its place in the queue across processes, server microseconds
	lapseTold time.Time // when others were told last that the queue had gone
	served    time.Time // when a call was charged last, by the server's clock
}

// limiterScripts are the scripts of a limiter's kind. They take the same
// arguments and reply alike.
type limiterScripts struct{ take, give, cool *redis.Script }

func newLimiter(c *Client, key string, declared Limit, window bool, options bucketOptions) *Limiter {
	l := &Limiter{
		key:      key,
		keys:     []string{key, c.keys.Limit(key)},
		declared: declared,
		spelled:  scriptLimitOf(declared),
		options:  options,
		pulse:    newPulse(c.keys.Workers(key), c.config),
		window:   window,
		scripts:  limiterScripts{c.scripts.take, c.scripts.give, c.scripts.cool},
	}
	if window {
		l.keys = append(l.keys, c.keys.Log(key))
		l.scripts = limiterScripts{c.scripts.windowTake, c.scripts.windowGive, c.scripts.windowCool}
	}
	l.desk = newDesk(c, l)
	l.route.Store(c.link)
	return l
}

// Key returns the bucket's name.
func (l *Limiter) Key() string { return l.key }

// Declared returns the limit that this worker was configured with; the one in
// force may be another, see Peek.
func (l *Limiter) Declared() Limit { return l.declared }

// Wait is shorthand for WaitN(ctx, 1).
func (l *Limiter) Wait(ctx context.Context) error { return l.WaitN(ctx, 1) }

// WaitN blocks until n tokens are taken. It returns an error, and nothing is
// taken, if n is no usable number (ErrTokens) or more than the capacity
// (ErrExceedsCapacity), if the wait can't end before ctx's deadline
// (ErrDeadline), if ctx ends, if the Client is closed (ErrClosed), if the key
// is no bucket (ErrWrongType), or if Redis can't be asked and the fallback
// policy is FallbackClosed (ErrUnavailable). A hold may be lifted at any time,
// so at a held bucket it waits until ctx ends, whatever the hold's own end.
func (l *Limiter) WaitN(ctx context.Context, n float64) error {
	_, err := l.acquire(ctx, n)
	return err
}

// Allow is shorthand for AllowN(ctx, 1), without the particulars.
func (l *Limiter) Allow(ctx context.Context) (bool, error) {
	d, err := l.AllowN(ctx, 1)
	return d.OK, err
}

// AllowN takes n tokens if they are there now and nobody waits for them; it
// never waits for tokens. Errors are as WaitN's, except that too few tokens
// are no error: Decision.Wait says how long they would take.
func (l *Limiter) AllowN(ctx context.Context, n float64) (Decision, error) {
	if err := l.check(ctx, n); err != nil {
		return Decision{}, err
	}
	if due, short := l.queue.shortage(); short {
		l.stats.refuse()
		mode, since := l.mode()
		return Decision{Key: l.key, Wait: max(0, time.Until(due)), Level: math.NaN(), Mode: mode, Reason: "others wait", Since: since, Source: SourceQueue}, nil
	}
	v, err := l.ask(ctx, n, nil, time.Time{}, true)
	if err != nil {
		return Decision{}, err
	}
	if v.code == codeImpossible {
		return v.decision(l.key), l.exceeds(n, v)
	}
	return v.decision(l.key), nil
}

// Peek returns the bucket's state and takes nothing.
func (l *Limiter) Peek(ctx context.Context) (State, error) {
	states, err := readStates(ctx, l.client.redis, l.client.keys, []string{l.key})
	if err != nil {
		return State{}, err
	}
	return states[0], states[0].Err()
}

// check refuses what no bucket could serve, before any I/O.
func (l *Limiter) check(ctx context.Context, n float64) error {
	if err := validateTokens(n); err != nil {
		return fmt.Errorf("bucket %q: %w", l.key, err)
	}
	if l.client.alive.Err() != nil {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("bucketctl: wait for %q: %w", l.key, err)
	}
	return nil
}

func (l *Limiter) exceeds(n float64, v verdict) error {
	return &ExceedsCapacityError{Key: l.key, N: n, Capacity: v.limit.Capacity}
}

// decision is what AllowN's caller sees of a verdict.
func (v verdict) decision(key string) Decision {
	d := Decision{Key: key, OK: v.code == codeCharged, Level: v.level, Limit: v.limit, Mode: v.mode(), Reason: v.reason, Since: v.since, Source: v.source()}
	if d.OK {
		d.At = v.start()
		return d
	}
	d.Wait = v.wait
	switch {
	case v.local:
	case v.stop == stopHeld:
		d.Reason = "held"
	case v.stop == stopCooldown:
		d.Reason = "cooldown"
	}
	return d
}

func (v verdict) source() Source {
	if v.local {
		return SourceWorker
	}
	return SourceRedis
}

func (v verdict) mode() Mode {
	if v.local {
		return v.localMode
	}
	return ModeShared
}

// wake ends every sleep of this bucket's waiters.
func (l *Limiter) wake() {
	l.bell.ring()
	l.mu.Lock()
	sets := l.sets
	l.mu.Unlock()
	for _, s := range sets {
		s.bell.ring()
	}
}
