package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bucketop/bucketctl"
)

func runSet(ctx context.Context, c *call) error {
	if !c.changed("rate") && !c.changed("capacity") && !c.changed("for") {
		return usagef("set needs at least one of --rate, --capacity and --for")
	}
	if err := c.checkLimitFlags(); err != nil {
		return err
	}
	if c.in.dryRun {
		return c.previewSet(ctx)
	}
	return c.change(ctx, func(ctx context.Context, s bucketctl.State, rev bucketctl.Rev) (bucketctl.Change, error) {
		wanted, err := c.limitChange(s)
		if err != nil {
			return bucketctl.Change{}, err
		}
		if rev == bucketctl.AnyRev {
			rev = s.Rev // what is not named stays as it was read, and x2 doubles what was read
		}
		return c.admin.SetLimit(ctx, s.Key, rev, wanted)
	})
}

// checkLimitFlags finds what no bucket could make sense of, so that a wrong
// command line is told before Redis is asked.
func (c *call) checkLimitFlags() error {
	for _, flag := range []string{"rate", "capacity"} {
		text := c.value(flag)
		if digits, isFactor := strings.CutPrefix(strings.TrimSpace(text), "x"); isFactor && !isFactorNumber(digits) {
			return usagef("--%s %q: behind x stands a plain number above 0, such as x0.5 or x2", flag, text)
		}
	}
	if rate := strings.TrimSpace(c.in.rate); rate != "" && !relative(rate) {
		if _, err := bucketctl.ParseRate(rate); err != nil {
			return flagged("rate", err)
		}
	}
	if capacity := strings.TrimSpace(c.in.cap); capacity != "" && !relative(capacity) && !isSpan(capacity) {
		if _, err := bucketctl.ParseCapacity(capacity, 1); err != nil {
			return flagged("capacity", err)
		}
	}
	if _, err := bucketctl.ParseEnd(strings.TrimSpace(c.in.end)); err != nil {
		return flagged("for", err)
	}
	if c.changed("if-rev") {
		_, err := parseRev(c.in.ifRev)
		return err
	}
	return nil
}

// isFactorNumber reports whether the digits are a number as a rate's are.
func isFactorNumber(digits string) bool {
	_, err := bucketctl.ParseRate(digits + "/s")
	return err == nil
}

// relative reports whether only the bucket's own limit gives the text a value.
func relative(text string) bool { return text == "declared" || strings.HasPrefix(text, "x") }

// isSpan reports whether the text is a capacity in seconds of rate, which may be
// small or large enough only by the rate.
func isSpan(text string) bool {
	d, err := time.ParseDuration(text)
	return err == nil && d > 0 && text[0] >= '0' && text[0] <= '9'
}

// limitChange is what the flags want of a bucket in state s.
func (c *call) limitChange(s bucketctl.State) (bucketctl.LimitChange, error) {
	switch s.Kind {
	case bucketctl.KindForeign, bucketctl.KindForeignWindow:
		return bucketctl.LimitChange{}, fmt.Errorf("%w: %q: its workers read no overrides; only its level can be reset", bucketctl.ErrForeign, s.Key)
	case bucketctl.KindWrongType:
		return bucketctl.LimitChange{}, fmt.Errorf("%w: %q holds a %s", bucketctl.ErrWrongType, s.Key, s.Type)
	case bucketctl.KindNone, bucketctl.KindBucket, bucketctl.KindWindow, bucketctl.KindDenied:
	}
	wanted, err := bucketctl.ParseLimitChange(s, c.in.rate, c.in.cap, c.in.end)
	if err != nil {
		return wanted, err
	}
	if wanted.Rate.IsKeep() && wanted.Capacity.IsKeep() && s.Override.IsZero() {
		return wanted, fmt.Errorf("%w: %q has no override whose end could change, give --rate or --capacity too", bucketctl.ErrNothing, s.Key)
	}
	wanted.Reason = c.in.reason
	return wanted, nil
}

// levelUnder is the level once another limit is in force: what does not fit is
// cut off, and a debt keeps its time, not its tokens.
func levelUnder(s bucketctl.State, limit bucketctl.Limit) float64 {
	switch {
	case limit.IsZero():
		return s.Level
	case s.Level < 0 && !s.Effective.IsZero():
		return s.Level * limit.Rate / s.Effective.Rate
	}
	return min(s.Level, limit.Capacity) // unknown stays unknown
}

// previewSet prints what set would do.
func (c *call) previewSet(ctx context.Context) error {
	s, err := c.get(ctx, c.args[0])
	if err != nil {
		return err
	}
	if c.changed("if-rev") {
		wanted, err := parseRev(c.in.ifRev)
		if err != nil {
			return err
		}
		if wanted != s.Rev {
			return &bucketctl.ConflictError{Wanted: wanted, State: s}
		}
	}
	wanted, err := c.limitChange(s)
	if err != nil {
		return err
	}
	after := s
	after.Override, after.Effective, err = wanted.Preview(s)
	if err != nil {
		return err
	}
	after.Level = levelUnder(s, after.Effective)
	after.By, after.Reason = c.target.By(), c.in.reason
	return c.printChange(bucketctl.Change{Before: s, After: after}, false, "")
}
