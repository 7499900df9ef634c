package bucketctl

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// SetLimit changes the override. The level is settled at the limit in force
// until now; a debt keeps its time, not its tokens. Returns ErrLimit,
// ErrForeign (its workers read no overrides), ErrNotFound, ErrWrongType,
// ErrConflict, ErrNothing.
func (a *Admin) SetLimit(ctx context.Context, key string, rev Rev, c LimitChange) (Change, error) {
	if c.Rate.IsKeep() && c.Capacity.IsKeep() && c.End.IsKeep() {
		return Change{}, fmt.Errorf("%w: neither rate, nor capacity, nor end is given", ErrNothing)
	}
	if err := c.validate(); err != nil {
		return Change{}, err
	}
	return a.changeLimit(ctx, EventLimit, key, rev, c, nil)
}

// validate checks what can be checked without the bucket's state.
func (c LimitChange) validate() error {
	if c.Rate.op == toSetting {
		if err := validateRate(c.Rate.value); err != nil {
			return err
		}
	}
	if c.Capacity.op == toSetting {
		if err := validateCapacity(c.Capacity.value); err != nil {
			return err
		}
	}
	return validateUnit(c.Per)
}

// ClearLimit takes the override away; ErrNothing where there is none.
func (a *Admin) ClearLimit(ctx context.Context, key string, rev Rev, reason string) (Change, error) {
	c := LimitChange{Rate: ToDeclared(), Capacity: ToDeclared(), Reason: reason}
	return a.changeLimit(ctx, EventUnset, key, rev, c, nil)
}

func (a *Admin) changeLimit(ctx context.Context, kind EventKind, key string, rev Rev, c LimitChange, detail map[string]string) (Change, error) {
	per := ""
	if c.Rate.op == toSetting {
		per = strconv.FormatInt(c.Per.Microseconds(), 10)
	}
	args := []any{c.Capacity.argument(), c.Rate.argument(), per, c.End.argument(), a.by, c.Reason}
	e := Event{Kind: kind, Key: key, Reason: c.Reason, Detail: detail}
	return a.change(ctx, a.scripts.limit, rev, e, args...)
}

// argument is the setting as the limit script reads it.
func (s Setting) argument() string {
	switch s.op {
	case declaredSetting:
		return "declared"
	case toSetting:
		return formatExact(s.value)
	case keepSetting:
	}
	return ""
}

// argument is the end as the scripts read it.
func (e End) argument() string {
	switch e.op {
	case noEnd:
		return "forever"
	case afterEnd:
		return "+" + strconv.FormatInt(e.after.Microseconds(), 10)
	case atEnd:
		return strconv.FormatInt(e.at.UnixMicro(), 10)
	case keepEnd:
	}
	return ""
}

// formatExact is x without an exponent, which not every server's Lua reads.
func formatExact(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Hold stops the bucket: nothing more is charged until end or Resume. A zero
// End keeps the end of the hold that is there, or is NoEnd. Returns ErrLimit for
// an end in the past, ErrForeign, ErrNotFound, ErrConflict.
func (a *Admin) Hold(ctx context.Context, key string, rev Rev, end End, reason string) (Change, error) {
	e := Event{Kind: EventHold, Key: key, Reason: reason}
	return a.change(ctx, a.scripts.hold, rev, e, end.argument(), a.by, reason)
}

// Resume takes the hold away; ErrNothing where there is none.
func (a *Admin) Resume(ctx context.Context, key string, rev Rev, reason string) (Change, error) {
	e := Event{Kind: EventResume, Key: key, Reason: reason}
	return a.change(ctx, a.scripts.hold, rev, e, "resume", a.by, reason)
}

// Reset sets the level and mends values that can't be. It touches no hold, no
// cooldown and no override, and can't be undone. Change.Before.Problems says
// what was wrong. Returns ErrNotFound, ErrWrongType, ErrTokens, and ErrForeign
// for ToFull where the capacity is unknown.
func (a *Admin) Reset(ctx context.Context, key string, rev Rev, to Target, reason string) (Change, error) {
	if !to.full && !(to.tokens >= 0 && to.tokens <= MaxCapacity) { // also true for NaN
		return Change{}, fmt.Errorf("%w: a level of %s: it must be from 0 to %s",
			ErrTokens, formatNumber(to.tokens), formatNumber(MaxCapacity))
	}
	e := Event{Kind: EventReset, Key: key, Reason: reason, Detail: map[string]string{"to": to.String()}}
	return a.change(ctx, a.scripts.reset, rev, e, to.String())
}

// String is "full" or the level in tokens.
func (t Target) String() string {
	if t.full {
		return "full"
	}
	return formatExact(t.tokens)
}

// Delete deletes the state, of whatever type, and forgets the bucket in the
// registry, also one that has no state any more; override and hold stay. A worker
// that still takes from it registers it again, and begins a new bucket, full.
// Returns ErrNotFound where there is neither state nor a place in the registry.
func (a *Admin) Delete(ctx context.Context, key string, rev Rev, reason string) (Change, error) {
	e := Event{Kind: EventDelete, Key: key, Reason: reason}
	change, err := a.change(ctx, a.scripts.reset, rev, e, "delete")
	var audit *AuditError
	if err != nil && !errors.As(err, &audit) {
		return change, err
	}
	if errForget := a.client.ZRem(ctx, a.keys.Buckets(), key).Err(); errForget != nil {
		if audit == nil {
			audit = &AuditError{}
		}
		audit.Forget = writeError(ctx, "forget", key, errForget)
		return change, audit
	}
	return change, err
}

// change runs one of the changing scripts, tells of it, and wakes whoever
// waits. Read-only is enforced here, below every caller.
func (a *Admin) change(ctx context.Context, script *redis.Script, rev Rev, e Event, args ...any) (Change, error) {
	if a.readOnly {
		return Change{}, ErrReadOnly
	}
	if err := checkKey(a.keys, e.Key); err != nil {
		return Change{}, err
	}
	known, err := a.registered(ctx, e.Key)
	if err != nil {
		return Change{}, err
	}
	head := []any{int64(rev), flag(known)}
	keys := []string{e.Key, a.keys.Limit(e.Key), a.keys.Log(e.Key)}
	reply, err := runOnce(ctx, a.client, script, keys, func(string) {}, append(head, args...)...)
	if err != nil {
		return Change{}, changeError(ctx, e, err)
	}
	change, result, err := decodeChange(e.Key, reply)
	if err != nil {
		return Change{}, fmt.Errorf("bucketctl: %s %q: %w", e.Kind, e.Key, err)
	}
	if err := resultError(result, e, rev, change); err != nil {
		return change, err
	}
	change.Event = a.describe(e, change)
	id, lacking := a.tell(ctx, change.Event)
	change.Event.ID = id
	if lacking != nil {
		return change, lacking
	}
	return change, nil
}

// usedReply is what is used of a window, as a log of one entry that has just
// started: when it leaves the span is not told.
func usedReply(r reply, i int) (windowLog, error) {
	text, err := r.text(i)
	if err != nil || text == "" {
		return windowLog{}, err
	}
	used, err := r.number(i)
	return windowLog{known: true, used: used}, err
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// changeError is what a script's failure means. Whether an end lies ahead is
// known to the server's clock alone, so the scripts judge it.
func changeError(ctx context.Context, e Event, err error) error {
	switch {
	case strings.Contains(err.Error(), "the end is no time to come"):
		return fmt.Errorf("%w: the end lies in the past, or too far ahead", ErrLimit)
	case strings.Contains(err.Error(), "the window would hold less than 1 token"):
		return errWindowTooSmall()
	}
	return writeError(ctx, string(e.Kind), e.Key, err)
}

// decodeChange decodes the reply that limit, hold and reset share.
func decodeChange(key string, r reply) (Change, string, error) {
	const items = 10
	if err := r.length(items); err != nil {
		return Change{}, "", err
	}
	result, err := r.text(0)
	if err != nil {
		return Change{}, "", err
	}
	now, err := r.integer(1)
	if err != nil {
		return Change{}, "", err
	}
	typ, err := r.text(2)
	if err != nil {
		return Change{}, "", err
	}
	var parts [4]map[string]string // bucket before, record before, bucket after, record after
	for i := range parts {
		if parts[i], err = r.fields(3 + i); err != nil {
			return Change{}, "", err
		}
	}
	ttl, err := r.integer(7)
	if err != nil {
		return Change{}, "", err
	}
	before := reading{key: key, at: time.UnixMicro(now).UTC(), typ: typ, fields: parts[0], record: parts[1]}
	after := before
	after.fields, after.record, after.ttl = parts[2], parts[3], max(0, time.Duration(ttl)*time.Millisecond)
	after.typ = typeAfter(typ, ttl, parts[2])
	if before.log, err = usedReply(r, 8); err != nil {
		return Change{}, "", err
	}
	if after.log, err = usedReply(r, 9); err != nil {
		return Change{}, "", err
	}
	return Change{Before: before.state(), After: after.state()}, result, nil
}

// typeAfter: the scripts leave a hash, nothing, or what they did not touch.
func typeAfter(before string, ttl int64, fields map[string]string) string {
	const gone = -2 // PTTL of a key that does not exist
	switch {
	case len(fields) > 0:
		return "hash"
	case ttl == gone:
		return "none"
	}
	return before
}

// resultError is the error that a script's result stands for; nil for ok.
func resultError(result string, e Event, rev Rev, c Change) error {
	switch result {
	case "ok":
		return nil
	case "conflict":
		return &ConflictError{Wanted: rev, State: c.After}
	case "unknown":
		if e.Kind == EventDelete {
			return fmt.Errorf("%w: %q is not registered and has no state to delete", ErrNotFound, e.Key)
		}
		return fmt.Errorf("%w: %q is neither registered nor has it state or an override", ErrNotFound, e.Key)
	case "nothing":
		return fmt.Errorf("%w: %q has no %s", ErrNothing, e.Key, missing(e.Kind))
	case "foreign":
		return fmt.Errorf("%w: %q: %s", ErrForeign, e.Key, foreignBecause(e.Kind, c.Before.Kind))
	case "wrongtype":
		return fmt.Errorf("%w: %q holds a %s", ErrWrongType, e.Key, c.Before.Type)
	}
	return fmt.Errorf("bucketctl: %s %q: unknown result %q", e.Kind, e.Key, result)
}

func missing(kind EventKind) string {
	if kind == EventResume || kind == EventHold {
		return "hold"
	}
	return "override"
}

func foreignBecause(kind EventKind, what Kind) string {
	switch {
	case what == KindWindow:
		return "the window's limit can't be read: it is mended by its workers' next take"
	case kind == EventReset:
		return "its capacity is unknown here: reset it to empty or to a number of tokens"
	}
	return "its workers read neither overrides nor holds; only its level can be reset"
}

// describe fills in what the change tells about its event.
func (a *Admin) describe(e Event, c Change) Event {
	e.At, e.By = c.After.At, a.by
	e.Before = Record{Override: c.Before.Override, Hold: c.Before.Hold}
	e.After = Record{Override: c.After.Override, Hold: c.After.Hold}
	if c.After.Rev != c.Before.Rev {
		e.Rev = c.After.Rev
	}
	if e.Kind == EventReset || e.Kind == EventDelete {
		e.Detail = withLevels(e.Detail, c)
	}
	return e
}

// withLevels adds what a reset found and left.
func withLevels(detail map[string]string, c Change) map[string]string {
	out := map[string]string{"type": c.Before.Type}
	for name, value := range detail {
		out[name] = value
	}
	if c.Before.Known() {
		out["level_before"] = formatNumber(c.Before.Level)
	}
	if c.After.Known() {
		out["level_after"] = formatNumber(c.After.Level)
	}
	if len(c.Before.Problems) > 0 {
		out["cause"] = c.Before.Problems[0].Text
	}
	return out
}
