package ui

import (
	"testing"
	"time"

	"bucketop/bucketctl"
)

// undoing is the question over geoBucket with events in the snapshot.
func undoing(t *testing.T, events ...bucketctl.Event) *bench {
	snap := snapshotOf(geoBucket())
	snap.Events = events
	b := newBench(t, snap, 80, 24)
	b.open(newUndoDialog(b.app, geoBucket()))
	return b
}

func TestUndoSaysWhoseChangeItIs(t *testing.T) {
	other, older := geoEvent(), geoEvent()
	other.Key, other.By = "another", "eve"
	older.Rev, older.By = 11, "zoe"
	b := undoing(t, older, geoEvent(), other)
	b.wantSaid(`override set by anna@ops1 at 14:28:05 (4m ago), rev 12, "backlog"`,
		"rate declared -> 600/min, capacity declared -> 30, end none -> until 14:58:05",
		"Then back to declared, 300/min and 15", "Resets can't be undone", "y undoes the change by anna@ops1")
	b.press("enter", "n", "u", "U")
	b.wantCalls()
	b.press("y")
	b.wantCalls("Undo geocode:{acme}:eu")
	if b.admin.rev != 12 {
		t.Errorf("decided on rev %d, want 12", b.admin.rev)
	}
}

func TestUndoBringsBack(t *testing.T) {
	past, ahead := t0.Add(-time.Minute), t0.Add(time.Hour)
	override := bucketctl.Override{Rate: 5, Per: time.Minute, Until: ahead}
	for _, c := range []struct {
		name   string
		kind   bucketctl.EventKind
		before bucketctl.Record
		want   string
	}{
		{"declared", bucketctl.EventLimit, bucketctl.Record{}, "back to declared, 300/min and 15"},
		{"an override", bucketctl.EventUnset, bucketctl.Record{Override: override}, "back to rate 300/min, capacity declared, until 15:32:05"},
		{"an ended override", bucketctl.EventLimit, bucketctl.Record{Override: bucketctl.Override{Rate: 5, Until: past}},
			"since the end of the override before has passed"},
		{"no hold", bucketctl.EventHold, bucketctl.Record{}, "back to not held"},
		{"a hold", bucketctl.EventResume, bucketctl.Record{Hold: bucketctl.Hold{Active: true}}, "back to held, no end"},
		{"an ended hold", bucketctl.EventResume, bucketctl.Record{Hold: bucketctl.Hold{Active: true, Until: past}}, "back to not held, since"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := geoEvent()
			e.Kind, e.Before = c.kind, c.before
			undoing(t, e).wantSaid(c.want)
		})
	}
}

func TestUndoWithNothingToUndo(t *testing.T) {
	undone := geoEvent()
	undone.Kind = bucketctl.EventUndo
	b := undoing(t, undone)
	b.wantSaid("The newest change is an undo itself")
	b.press("y")
	b.wantCalls()

	untouched := geoBucket()
	untouched.State.Rev = 0
	b = opened(t, newUndoDialog, untouched)
	b.wantSaid("Nobody changed the limit or the hold", "Resets can't be undone")
	if keys := b.app.top().help(); len(keys) != 1 {
		t.Errorf("keys are offered that do nothing: %v", keys)
	}
	b.press("y")
	b.wantCalls()
}

// TestUndoLooksForTheEvent holds that a change older than the snapshot's events
// is asked for once, and that nothing is undone that nobody could read.
func TestUndoLooksForTheEvent(t *testing.T) {
	b := undoing(t)
	b.wantSaid("Looking for the newest change")
	b.press("y")
	b.wantCalls()

	b = undoing(t)
	b.admin.events = []bucketctl.Event{geoEvent()}
	b.answer(b.send(snapshotMsg{}))
	b.wantSaid("y undoes the change by anna@ops1")
	b.press("y")
	b.wantCalls("Undo geocode:{acme}:eu")

	b = undoing(t)
	b.answer(b.send(snapshotMsg{}))
	b.wantSaid("is no longer kept, so what was before is not known", "rev 12 by anna@ops1, 14:28:05")
	b.press("y")
	b.wantCalls()
}

func TestUndoConflict(t *testing.T) {
	b := undoing(t, geoEvent())
	b.admin.err = &bucketctl.ConflictError{Wanted: 12, State: theirState()}
	b.press("y")
	b.wantSaid("Not written: bob@ops2 changed it at 14:31:58 (rev 13) meanwhile")
	b.admin.calls = nil
	b.press("y") // the event of rev 13 is not known: nothing may be undone blindly
	b.wantCalls()
}
