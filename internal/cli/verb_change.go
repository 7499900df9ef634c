package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// defaultHold is how long a new hold lasts that names no end: long enough to
// look, short enough to be forgotten without harm.
const defaultHold = "10m"

func runUnset(ctx context.Context, c *call) error {
	return c.change(ctx, func(ctx context.Context, s bucketctl.State, rev bucketctl.Rev) (bucketctl.Change, error) {
		return c.admin.ClearLimit(ctx, s.Key, rev, c.in.reason)
	})
}

func runHold(ctx context.Context, c *call) error {
	if _, err := bucketctl.ParseEnd(c.in.end); err != nil {
		return flagged("for", err)
	}
	return c.change(ctx, func(ctx context.Context, s bucketctl.State, rev bucketctl.Rev) (bucketctl.Change, error) {
		text := c.in.end
		if text == "" && !s.Hold.Active {
			text = defaultHold
		}
		end, err := bucketctl.ParseEnd(text)
		if err != nil {
			return bucketctl.Change{}, flagged("for", err)
		}
		return c.admin.Hold(ctx, s.Key, rev, end, c.in.reason)
	})
}

func runResume(ctx context.Context, c *call) error {
	return c.change(ctx, func(ctx context.Context, s bucketctl.State, rev bucketctl.Rev) (bucketctl.Change, error) {
		return c.admin.Resume(ctx, s.Key, rev, c.in.reason)
	})
}

func runUndo(ctx context.Context, c *call) error {
	return c.change(ctx, func(ctx context.Context, s bucketctl.State, rev bucketctl.Rev) (bucketctl.Change, error) {
		change, err := c.admin.Undo(ctx, s.Key, rev, c.in.reason)
		if whose := change.Event.Detail["undoes_by"]; err == nil && whose != "" {
			c.note("the change undone was made by %s", whose)
		}
		return change, err
	})
}

func runReset(ctx context.Context, c *call) error {
	if c.in.delete == c.changed("to") {
		return usagef("reset needs one of --to full|empty|N and --delete")
	}
	if c.in.delete {
		return c.change(ctx, func(ctx context.Context, s bucketctl.State, rev bucketctl.Rev) (bucketctl.Change, error) {
			return c.admin.Delete(ctx, s.Key, rev, c.in.reason)
		})
	}
	to, err := parseTarget(c.in.to)
	if err != nil {
		return err
	}
	return c.change(ctx, func(ctx context.Context, s bucketctl.State, rev bucketctl.Rev) (bucketctl.Change, error) {
		c.warnReset(s)
		return c.admin.Reset(ctx, s.Key, rev, to, c.in.reason)
	})
}

// warnReset says where a reset alone starts nobody.
func (c *call) warnReset(s bucketctl.State) {
	if s.Hold.Active {
		c.note("the bucket is held: a reset starts nobody, bucketop resume does")
	}
	if s.Cooldown.Until.After(s.At) {
		c.note("the bucket cools down for another %s: a reset does not shorten that", showSpan(s.Cooldown.Until.Sub(s.At)))
	}
}

// changer makes one change to a bucket that was read as s.
type changer func(ctx context.Context, s bucketctl.State, rev bucketctl.Rev) (bucketctl.Change, error)

// change reads the bucket, makes the change and prints what it did. The
// reading comes first for every verb, so that a bucket that Redis does not know
// is told from a change that did nothing.
func (c *call) change(ctx context.Context, make changer) error {
	rev := bucketctl.AnyRev
	if c.changed("if-rev") {
		wanted, err := parseRev(c.in.ifRev)
		if err != nil {
			return err
		}
		rev = wanted
	}
	key := c.args[0]
	before, err := c.get(ctx, key)
	if err != nil {
		return err
	}
	done, err := ask(ctx, func(ctx context.Context) (bucketctl.Change, error) { return make(ctx, before, rev) })
	var audit *bucketctl.AuditError
	lacks := ""
	switch {
	case errors.As(err, &audit):
		c.note("warning: %s", plain(err))
		lacks = audit.Lacks()
	case isUnsure(err):
		return unsureError{verb: c.verb.name, err: err}
	case err != nil:
		return err
	}
	if err := c.printChange(done, true, lacks); err != nil {
		return fmt.Errorf("the change is written, but not shown: %w", err)
	}
	return nil
}

// isUnsure reports whether a change that failed may be written all the same.
func isUnsure(err error) bool {
	var call *bucketctl.CallError
	return errors.As(err, &call) && call.Unsure
}

// printChange writes what a change did, or would do, and what of it was not done.
func (c *call) printChange(done bucketctl.Change, written bool, lacks string) error {
	record := jsonChange{
		jsonKey: toKey(done.After.Key), Written: written, Lacks: orNull(lacks),
		Before: toBucket(done.Before, time.Time{}), After: toBucket(done.After, time.Time{}),
	}
	if done.Event.ID != "" {
		event := toEvent(done.Event)
		record.Event = &event
	}
	t := table{header: []string{"BUCKET", "WHAT", "BEFORE", "AFTER"}}
	for _, row := range c.differences(done) {
		t.rows = append(t.rows, append([]string{c.out.cell(done.After.Key)}, row...))
	}
	if err := c.out.one(record, t); err != nil {
		return err
	}
	if !written {
		c.note("dry run: nothing was written")
	}
	return nil
}

// differences are the lines in which a bucket before a change differs from the
// same bucket after it: what, before, after.
func (c *call) differences(done bucketctl.Change) [][]string {
	before, after := c.changeable(done.Before), c.changeable(done.After)
	var rows [][]string
	for i := range before {
		if before[i].text != after[i].text {
			rows = append(rows, []string{before[i].name, before[i].text, after[i].text})
		}
	}
	switch {
	case len(rows) == 0 && done.Event.Kind == bucketctl.EventDelete: // there was no state
		rows = append(rows, []string{"registry", "listed", "forgotten"})
	case len(rows) == 0:
		rows = append(rows, []string{"tokens", levelText(done.Before), levelText(done.After)})
	}
	return rows
}

// changeable is what a change can alter; every bucket has the same lines.
func (c *call) changeable(s bucketctl.State) []fact {
	return []fact{
		{"state", stateText(s)},
		{"limit", watch.LimitText(s.Effective, watch.IsWindow(&s))},
		{"override", c.overrideText(s)},
		{"hold", c.holdText(s)},
		{"tokens", levelText(s)},
		{"problem", c.problemText(s)},
		{"rev", revNumber(s.Rev)},
	}
}

func revNumber(rev bucketctl.Rev) string {
	if rev == 0 {
		return "-"
	}
	return strconv.FormatInt(int64(rev), 10)
}

// flagged says which flag an error of bucketctl is about.
func flagged(flag string, err error) error { return usagef("--%s: %s", flag, plain(err)) }
