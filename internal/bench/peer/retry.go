package peer

import (
	"context"
	"time"
)

// try asks once: either the token is taken, or wait is how long the library
// says to sleep before asking again.
type try func(ctx context.Context) (taken bool, wait time.Duration, err error)

// shortestSleep is slept where a library returned no usable wait, so that its
// caller does not spin.
const shortestSleep = 10 * time.Millisecond

// Wait sleeps what was returned and asks again, until the token is taken.
func (t try) Wait(ctx context.Context) error {
	for {
		taken, wait, err := t(ctx)
		if err != nil || taken {
			return err
		}
		if wait <= 0 {
			wait = shortestSleep
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
