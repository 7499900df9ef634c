package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// runGet shows what it finds. A bucket that is not there, or that Redis keeps
// from this user, does not keep the others from being shown; a failure that would
// meet all of them does. Of several such the gravest is the verb's own.
func runGet(ctx context.Context, c *call) error {
	states, err := c.states(ctx, c.args)
	if err != nil {
		return err
	}
	var records []any
	t := lsTable()
	var blocks strings.Builder
	var failed error
	for _, s := range states {
		s, err = c.confirm(ctx, s)
		missing := errors.Is(err, bucketctl.ErrNotFound)
		if err != nil && !missing && s.Kind != bucketctl.KindDenied {
			return err
		}
		if err != nil {
			c.note("%s", sentence(err, c.target.Addr()))
			failed = graver(failed, alreadySaid{err})
		}
		if missing {
			continue
		}
		records = append(records, toBucket(s, time.Time{}))
		t.rows = append(t.rows, c.lsRow(s))
		if blocks.Len() > 0 {
			blocks.WriteByte('\n')
		}
		writeFacts(&blocks, c.facts(s))
	}
	if c.out.format == formatTable {
		err = c.out.write(blocks.String())
	} else {
		err = c.out.list(records, t)
	}
	if err != nil {
		return err
	}
	return failed
}

// graver is the one of two buckets' errors that tells more: that one is not there
// is an answer, that one can't be read is none.
func graver(a, b error) error {
	if a == nil || errors.Is(a, bucketctl.ErrNotFound) {
		return b
	}
	return a
}

// confirm tells a bucket that Redis does not know from one that is registered
// and has no state now: GetMany returns the same for both.
func (c *call) confirm(ctx context.Context, s bucketctl.State) (bucketctl.State, error) {
	if s.Kind != bucketctl.KindNone || !s.Override.IsZero() || s.Hold.Active {
		return s, s.Err()
	}
	return c.get(ctx, s.Key)
}

func (c *call) get(ctx context.Context, key string) (bucketctl.State, error) {
	return ask(ctx, func(ctx context.Context) (bucketctl.State, error) { return c.admin.Get(ctx, key) })
}

// fact is one line about a bucket: a name and a text that is safe to draw.
type fact struct{ name, text string }

// facts is all there is to tell of one bucket.
func (c *call) facts(s bucketctl.State) []fact {
	all := []fact{{"bucket", c.out.cell(s.Key)}, {"state", stateText(s)}}
	if s.Kind != bucketctl.KindDenied {
		all = append(all,
			fact{"tokens", levelText(s)},
			fact{"granted", grantedText(s)},
			fact{"limit", watch.LimitText(s.Effective, watch.IsWindow(&s))},
			fact{"declared", watch.LimitText(s.Declared, watch.IsWindow(&s))},
		)
	}
	if !s.Override.IsZero() {
		all = append(all, fact{"override", c.overrideText(s) + c.because(s.Reason)})
	}
	if s.Hold.Active {
		all = append(all, fact{"hold", c.holdText(s) + since(s.Hold.At) + c.because(s.Hold.Reason)})
	}
	if s.Cooldown.Until.After(s.At) {
		all = append(all, fact{"cooldown", showSpan(s.Cooldown.Until.Sub(s.At)) + " left" + by(c.out.cell(s.Cooldown.By))})
	}
	for _, p := range s.Problems {
		all = append(all, fact{"problem", c.out.cell(p.Text)})
	}
	if s.Rev != 0 {
		all = append(all, fact{"rev", c.revText(s)})
	}
	if s.Type != "" {
		all = append(all, fact{"key", s.Type + c.expiry(s)})
	}
	return append(all, fact{"read at", clock(s.At)})
}

func (c *call) revText(s bucketctl.State) string {
	text := revNumber(s.Rev)
	if !s.ChangedAt.IsZero() {
		text += since(s.ChangedAt) + by(c.out.cell(s.By))
	}
	return text
}

func (c *call) because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + c.out.cell(reason)
}

func (c *call) expiry(s bucketctl.State) string {
	if s.TTL <= 0 {
		return ""
	}
	return ", expires in " + showSpan(s.TTL)
}

func since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", since " + clock(t)
}

// clock is a moment for people, in UTC.
func clock(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func writeFacts(b *strings.Builder, facts []fact) {
	for _, f := range facts {
		writeAligned(b, []string{f.name, f.text}, []int{len("override"), 0}, nil)
	}
}
