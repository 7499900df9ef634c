package bucketctl

import (
	"context"
	"fmt"
	"time"
)

// Undo changes the newest change of limit or hold back, and says whose it was
// in Change.Event.Detail ("undoes", "undoes_by"). rev is AnyRev or the state's
// revision. ErrNothing where the newest change is itself an undo, or its event
// is no longer kept. A reset can't be undone.
func (a *Admin) Undo(ctx context.Context, key string, rev Rev, reason string) (Change, error) {
	if a.readOnly {
		return Change{}, ErrReadOnly
	}
	s, err := a.Get(ctx, key)
	if err != nil {
		return Change{}, err
	}
	if rev != AnyRev && rev != s.Rev {
		return Change{}, &ConflictError{Wanted: rev, State: s}
	}
	newest, err := a.newestChange(ctx, s)
	if err != nil {
		return Change{}, err
	}
	detail := map[string]string{"undoes": string(newest.Kind), "undoes_by": newest.By, "undoes_id": newest.ID}
	e := Event{Kind: EventUndo, Key: key, Reason: reason, Detail: detail}
	switch newest.Kind {
	case EventHold, EventResume:
		return a.change(ctx, a.scripts.hold, s.Rev, e, holdArgument(newest.Before.Hold, s.At), a.by, reason)
	case EventLimit, EventUnset:
		return a.changeLimit(ctx, EventUndo, key, s.Rev, changeTo(newest.Before.Override, s.At, reason), detail)
	case EventUndo, EventReset, EventDelete, EventFallback, EventShared, EventCooldown, EventMended:
	}
	return Change{}, fmt.Errorf("%w: the newest change of %q is an undo by %s", ErrNothing, key, newest.By)
}

// newestChange finds the event that led to the state's revision.
func (a *Admin) newestChange(ctx context.Context, s State) (Event, error) {
	if s.Rev == 0 {
		return Event{}, fmt.Errorf("%w: no operator changed %q", ErrNothing, s.Key)
	}
	events, err := a.Events(ctx, EventQuery{Key: s.Key})
	if err != nil {
		return Event{}, err
	}
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Rev == s.Rev {
			return events[i], nil
		}
	}
	return Event{}, fmt.Errorf("%w: the event of the newest change of %q (rev %d) is not kept", ErrNothing, s.Key, s.Rev)
}

// changeTo is the change that brings an override back. One that has ended
// meanwhile is none.
func changeTo(o Override, now time.Time, reason string) LimitChange {
	c := LimitChange{Rate: ToDeclared(), Capacity: ToDeclared(), End: NoEnd(), Reason: reason}
	if !o.Until.IsZero() {
		if !o.Until.After(now) {
			return c
		}
		c.End = EndAt(o.Until)
	}
	if o.Rate != 0 {
		c.Rate, c.Per = To(o.Rate), o.Per
	}
	if o.Capacity != 0 {
		c.Capacity = To(o.Capacity)
	}
	return c
}

// holdArgument is what brings a hold back, or takes it away.
func holdArgument(h Hold, now time.Time) string {
	switch {
	case !h.Active, !h.Until.IsZero() && !h.Until.After(now):
		return "resume"
	case h.Until.IsZero():
		return NoEnd().argument()
	}
	return EndAt(h.Until).argument()
}
