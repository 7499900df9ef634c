package bucketctl

import (
	"context"
	"fmt"
	"time"
)

// refund gives back what was charged for a start that does not happen. It is
// an effort, not a promise: where it fails the tokens are spent.
func (l *Limiter) refund(ctx context.Context, n float64, v verdict) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := l.give(ctx, "refund", n, v.start().UnixMicro()); err != nil {
		l.client.config.Logger.Debug("bucketctl: tokens of a caller that gave up were not given back", "error", cause(err))
	}
}

// give runs the give script: why is refund, settle or debit.
func (l *Limiter) give(ctx context.Context, why string, tokens float64, start int64) error {
	args := append(declaredArguments(nil, l.declared, l.client.gen.Load()), why, formatExact(tokens), start)
	_, err := runScript(ctx, l.client.redis, l.client.scripts.give, l.keys, args...)
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
	if err := l.give(ctx, "debit", owed, 0); err != nil {
		return fmt.Errorf("debit %q: %w", l.key, err)
	}
	return nil
}
