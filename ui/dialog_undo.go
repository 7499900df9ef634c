package ui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// undoDialog asks whether to change the newest change of limit or hold back.
// Its event comes from the snapshot, or is asked for where that does not reach
// back far enough.
type undoDialog struct {
	confirmDialog
	asking   int           // request for the bucket's events; 0: not asked
	askedFor bucketctl.Rev // the revision whose event was asked for
	asked    bool          // the reply is there
	events   []bucketctl.Event
}

func newUndoDialog(_ *app, b watch.Bucket) dialog {
	d := &undoDialog{confirmDialog: confirmDialog{
		changing: changing{b: b}, title: "UNDO", does: "change it back", what: "undo on " + b.Key,
	}}
	if b.State.Rev == 0 {
		d.does = ""
	}
	d.tell = func(a *app) confirmation {
		return a.tellUndo(d.b.State, d.newest(a), d.asked, a.serverNow())
	}
	d.do = func(ctx context.Context, admin Admin, rev bucketctl.Rev) (bucketctl.Change, error) {
		return admin.Undo(ctx, b.Key, rev, "")
	}
	return d
}

// update is confirmDialog's, and looks for the event.
func (d *undoDialog) update(msg tea.Msg, a *app) (dialog, tea.Cmd) {
	if got, isEvents := msg.(gotEvents); isEvents {
		if got.id == d.asking {
			d.asked = true
			d.events = got.events
		}
		return d, nil
	}
	next, cmd := d.confirmDialog.update(msg, a)
	if next == nil {
		return nil, cmd
	}
	return d, tea.Batch(cmd, d.lookFor(a))
}

// lookFor asks once per revision for the events of this bucket, if the change is not among
// those that the console follows.
func (d *undoDialog) lookFor(a *app) tea.Cmd {
	const most = 100
	rev := d.b.State.Rev
	if rev == 0 || rev == d.askedFor || d.newest(a) != nil {
		return nil
	}
	id, cmd := a.eventsOf(d.b.Key, most)
	d.asking, d.askedFor, d.asked = id, rev, false
	return cmd
}

// newest is the event that led to the frozen revision; nil where it is not
// known. An event of another revision would tell of another change than the
// one that is undone.
func (d *undoDialog) newest(a *app) *bucketctl.Event {
	for _, events := range [][]bucketctl.Event{a.snap.Events, d.events} {
		if e := eventOf(events, d.b.Key, d.b.State.Rev); e != nil {
			return e
		}
	}
	return nil
}

func eventOf(events []bucketctl.Event, key string, rev bucketctl.Rev) *bucketctl.Event {
	if rev == 0 {
		return nil
	}
	for i := range events {
		if events[i].Key == key && events[i].Rev == rev {
			return &events[i]
		}
	}
	return nil
}

// tellUndo tells what was changed, by whom, and what it will be changed back
// to. asked says that there is no more place to look for the event.
func (st *styles) tellUndo(s bucketctl.State, e *bucketctl.Event, asked bool, now time.Time) confirmation {
	said := confirmation{rev: s.Rev}
	say := func(label, text string) { said.lines = append(said.lines, labelled{label, text}) }
	switch {
	case s.Rev == 0:
		say(" ", "Nobody changed the limit or the hold of this bucket: nothing to undo. Resets can't be undone.")
		return said
	case e == nil && !asked:
		say(" ", "Looking for the newest change...")
		return said
	case e == nil:
		say(" ", st.lostEventText(s, now))
		return said
	}
	say(" Was   ", st.changeText(*e, now))
	if e.Kind == bucketctl.EventUndo {
		said.lines[0].label = " "
		say(" ", "The newest change is an undo itself: nothing is left to undo. e and H set what you want.")
		return said
	}
	isHold := e.Kind == bucketctl.EventHold || e.Kind == bucketctl.EventResume
	say("       ", differenceText(e.Before, e.After, isHold, now))
	say(" Then  ", "back to "+undoneTo(e.Before, s.Declared, isHold, now))
	say(" ", "Resets can't be undone.")
	said.question = fmt.Sprintf("y undoes the change by %s", nameOr(e.By, "somebody"))
	return said
}

// lostEventText is what is still known of a change whose event is gone.
func (st *styles) lostEventText(s bucketctl.State, now time.Time) string {
	text := fmt.Sprintf("The event of the newest change (rev %s%s", st.rev(s.Rev), byText(s.By))
	if !s.ChangedAt.IsZero() {
		text += ", " + clockTime(s.ChangedAt, now)
	}
	return text + ") is no longer kept, so what was before is not known. e and H set what you want."
}

// changeText is who did what, when and why.
func (st *styles) changeText(e bucketctl.Event, now time.Time) string {
	text := fmt.Sprintf("%s by %s at %s (%s ago), rev %s",
		kindText(e.Kind), nameOr(e.By, "somebody"), clockTime(e.At, now), rough(now.Sub(e.At)), st.rev(e.Rev))
	if e.Reason != "" {
		text += ", " + quoteText(e.Reason)
	}
	return text
}

func kindText(k bucketctl.EventKind) string {
	switch k {
	case bucketctl.EventLimit:
		return "override set"
	case bucketctl.EventUnset:
		return "override taken away"
	case bucketctl.EventHold:
		return "held"
	case bucketctl.EventResume:
		return "resumed"
	case bucketctl.EventUndo:
		return "undone"
	case bucketctl.EventReset, bucketctl.EventDelete, bucketctl.EventFallback, bucketctl.EventShared,
		bucketctl.EventCooldown, bucketctl.EventMended:
	}
	return string(k)
}

// differenceText is "before -> after", for what changed alone.
func differenceText(before, after bucketctl.Record, isHold bool, now time.Time) string {
	if isHold {
		return holdState(before.Hold, now) + " -> " + holdState(after.Hold, now)
	}
	b, a := before.Override, after.Override
	var parts []string
	add := func(name, from, to string) {
		if from != to {
			parts = append(parts, name+" "+from+" -> "+to)
		}
	}
	add("rate", overriddenRate(b), overriddenRate(a))
	add("capacity", overriddenCapacity(b), overriddenCapacity(a))
	add("end", overrideEnd(b, now), overrideEnd(a, now))
	if len(parts) == 0 {
		return "nothing that could be seen"
	}
	return strings.Join(parts, ", ")
}

// undoneTo is what an undo brings back. What has ended meanwhile does not
// come back.
func undoneTo(r bucketctl.Record, declared bucketctl.Limit, isHold bool, now time.Time) string {
	if isHold {
		if !r.Hold.Until.IsZero() && !r.Hold.Until.After(now) {
			return "not held, since that hold's end has passed"
		}
		return holdState(r.Hold, now)
	}
	o := r.Override
	switch {
	case o.IsZero():
		return "declared, " + exactLimit(declared)
	case !o.Until.IsZero() && !o.Until.After(now):
		return "declared, " + exactLimit(declared) + ", since the end of the override before has passed"
	}
	return fmt.Sprintf("rate %s, capacity %s, %s", overriddenRate(o), overriddenCapacity(o), overrideEnd(o, now))
}

func holdState(h bucketctl.Hold, now time.Time) string {
	switch {
	case !h.Active:
		return "not held"
	case h.Until.IsZero():
		return "held, no end"
	}
	return "held until " + clockTime(h.Until, now)
}

func overriddenRate(o bucketctl.Override) string {
	if o.Rate == 0 {
		return "declared"
	}
	return exactRate(o.Rate, o.Per)
}

func overriddenCapacity(o bucketctl.Override) string {
	if o.Capacity == 0 {
		return "declared"
	}
	return exactTokens(o.Capacity)
}

func overrideEnd(o bucketctl.Override, now time.Time) string {
	switch {
	case o.IsZero():
		return "none"
	case o.Until.IsZero():
		return "no end"
	}
	return "until " + clockTime(o.Until, now)
}
