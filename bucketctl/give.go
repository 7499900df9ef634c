package bucketctl

import (
	"context"
	"fmt"
	"time"
)

// refund gives back what was charged for a start that does not happen. It is
// an effort, not a promise: where it fails the tokens are spent.
func (l *Limiter) refund(ctx context.Context, n float64, v verdict) {
	ctx, cancel := context.WithTimeout(ctx, l.client.config.callTimeout)
	defer cancel()
	if err := l.give(ctx, "refund", n, v.start().UnixMicro()); err != nil {
		l.client.config.Logger.Debug("bucketctl: tokens of a caller that gave up were not given back", "error", cause(err))
	}
}

// give runs the give script: why is refund, settle or debit.
func (l *Limiter) give(ctx context.Context, why string, tokens float64, start int64) error {
	args := append(l.declare(nil), why, formatExact(tokens), start)
	_, err := l.run(ctx, l.scripts.give, args...)
	return err
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

// payDebts tells Redis what it missed, before anything else is asked of the
// bucket. Who comes while that is under way waits for it.
func (l *Limiter) payDebts(ctx context.Context) error {
	l.paying.Lock()
	defer l.paying.Unlock()
	if err := l.debit(ctx); err != nil {
		return err
	}
	return l.tellCooldown(ctx)
}

// debit takes what was granted alone out of the shared bucket, once, so that
// an outage is not followed by a burst for free. One whose answer was lost
// counts as made.
func (l *Limiter) debit(ctx context.Context) error {
	l.mu.Lock()
	owed := l.owed
	l.owed = 0
	l.mu.Unlock()
	if owed <= 0 {
		return nil
	}
	err := l.give(ctx, "debit", owed, 0)
	if err == nil {
		return nil
	}
	if notDone(err) {
		l.mu.Lock()
		l.owed += owed
		l.mu.Unlock()
	}
	return fmt.Errorf("debit %q: %w", l.key, err)
}
