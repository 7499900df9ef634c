package bucketctl

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// AllGrant is what All.Acquire got. It need not be given back: a forgotten one
// is simply spent. Of its methods the first call counts, later ones do nothing,
// so that a deferred Cancel is harmless after a Settle.
type AllGrant struct {
	At time.Time // server time at which the caller may start, which has come

	grants []*Grant // of each bucket
	once   sync.Once
}

// Grants returns what was taken from each bucket, in the order of their keys.
// To settle or cancel one of them alone does not end the others'.
func (g *AllGrant) Grants() []*Grant { return g.grants }

// Settle tells what the request really cost of these buckets, as Grant.Settle
// does for one; the others' charges stand as they are. Each bucket takes a call
// of its own; an error in one leaves the others settled. ErrTogether: a bucket
// that was not drawn from, or one twice; nothing is settled then.
func (g *AllGrant) Settle(ctx context.Context, used ...Need) error {
	settled := make([]*Grant, len(used))
	for i, need := range used {
		for _, grant := range g.grants {
			if grant.limiter == need.limiter {
				settled[i] = grant
			}
		}
		if settled[i] == nil {
			return fmt.Errorf("%w: settle %s, which was not drawn from", ErrTogether, need.name())
		}
		for _, before := range settled[:i] {
			if before == settled[i] {
				return fmt.Errorf("%w: settle %s twice", ErrTogether, need.name())
			}
		}
		if err := validateCost(need.limiter.key, need.n); err != nil {
			return err
		}
	}
	var errs []error
	g.once.Do(func() {
		for i, need := range used {
			errs = append(errs, settled[i].Settle(ctx, need.n))
		}
	})
	return errors.Join(errs...)
}

// Cancel tells that the request was not made, and refunds all buckets, each as
// Grant.Cancel does.
func (g *AllGrant) Cancel(ctx context.Context) error {
	var errs []error
	g.once.Do(func() {
		for _, grant := range g.grants {
			errs = append(errs, grant.Cancel(ctx))
		}
	})
	return errors.Join(errs...)
}
