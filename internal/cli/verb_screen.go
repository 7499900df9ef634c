package cli

import (
	"context"
	"errors"
	"fmt"

	"bucketop/bucketctl"
)

// runConsole opens the console. Where nobody chose a server and none answers at
// the default address, whoever typed the name for the first time is told what
// to type next.
func runConsole(ctx context.Context, c *call) error {
	if err := c.needTerminal("bucketop ls prints the buckets"); err != nil {
		return err
	}
	if !c.target.Explicit() {
		_, err := ask(ctx, c.admin.Server)
		switch {
		case err != nil && isUnreachable(err):
			c.note("no Redis at %s (%s): name one with -u URL or REDIS_URL, or look around with bucketop demo", c.target.Addr(), reason(err))
			return alreadySaid{err}
		case errors.Is(err, bucketctl.ErrDenied):
			return err
		}
	}
	return ended(ctx, c.env.Console(ctx, c.screen()))
}

func runDemo(ctx context.Context, c *call) error {
	if c.in.headless == 0 {
		if err := c.needTerminal("bucketop demo --headless 10s runs without one"); err != nil {
			return err
		}
	}
	return ended(ctx, c.env.Demo(ctx, Demo{Headless: c.in.headless, Screen: c.screen()}))
}

func (c *call) screen() Screen {
	return Screen{
		Target: c.target, Match: c.in.match, Refresh: c.in.refresh,
		ASCII: c.in.ascii, NoColor: c.in.noColor || c.env.Getenv("NO_COLOR") != "",
	}
}

func (c *call) needTerminal(instead string) error {
	if c.env.Interactive {
		return nil
	}
	return usagef("the console needs a terminal on stdin and stdout; %s", instead)
}

// ended makes the end by a signal an error, so that the exit code tells it: a
// screen takes it for an order to leave.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return fmt.Errorf("ended early: %w", context.Cause(ctx))
	}
	return err
}
