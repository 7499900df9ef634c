package bucketctl

import (
	"errors"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// undoing is a bucket with an override that ends and a hold, two operators, and
// what the record said before their last change.
func undoing(t *testing.T) (anna, ben *Admin, s State) {
	t.Helper()
	c := redistest.Start(t).Client(t)
	anna = newAdmin(t, c)
	takeFrom(t, c, "k", PerMinute(300), 1)
	if _, err := anna.SetLimit(t.Context(), "k", 0, LimitChange{Rate: To(10), Per: time.Minute, Capacity: To(30), End: EndAfter(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	change, err := anna.Hold(t.Context(), "k", AnyRev, EndAfter(time.Hour), "why")
	if err != nil {
		t.Fatal(err)
	}
	ben, err = NewAdmin(AdminConfig{Client: c, By: "ben@ops2"})
	if err != nil {
		t.Fatal(err)
	}
	return anna, ben, change.After
}

func TestUndoBringsBackWhatWas(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, a *Admin) (Change, error){
		"a limit": func(t *testing.T, a *Admin) (Change, error) {
			return a.SetLimit(t.Context(), "k", AnyRev, LimitChange{Rate: To(1), Capacity: To(2), End: NoEnd()})
		},
		"half a limit": func(t *testing.T, a *Admin) (Change, error) {
			return a.SetLimit(t.Context(), "k", AnyRev, LimitChange{Rate: ToDeclared()})
		},
		"an end": func(t *testing.T, a *Admin) (Change, error) {
			return a.SetLimit(t.Context(), "k", AnyRev, LimitChange{End: NoEnd()})
		},
		"unset": func(t *testing.T, a *Admin) (Change, error) { return a.ClearLimit(t.Context(), "k", AnyRev, "") },
		"hold": func(t *testing.T, a *Admin) (Change, error) {
			return a.Hold(t.Context(), "k", AnyRev, NoEnd(), "longer")
		},
		"resume": func(t *testing.T, a *Admin) (Change, error) { return a.Resume(t.Context(), "k", AnyRev, "") },
	} {
		t.Run(name, func(t *testing.T) {
			anna, ben, was := undoing(t)
			did, err := change(t, anna)
			if err != nil {
				t.Fatal(err)
			}
			undone, err := ben.Undo(t.Context(), "k", did.After.Rev, "too much")
			if err != nil {
				t.Fatal(err)
			}
			now := undone.After
			if now.Override != was.Override || now.Hold.Active != was.Hold.Active || !now.Hold.Until.Equal(was.Hold.Until) || now.Rev <= did.After.Rev {
				t.Errorf("now\n%+v, was\n%+v", now, was)
			}
			e := undone.Event
			if e.Kind != EventUndo || e.By != "ben@ops2" || e.Reason != "too much" || e.Detail["undoes"] != string(did.Event.Kind) ||
				e.Detail["undoes_by"] != "anna@ops1" || e.Detail["undoes_id"] != did.Event.ID {
				t.Errorf("the event does not say whose change it was: %+v", e)
			}
			if _, err := ben.Undo(t.Context(), "k", AnyRev, ""); !errors.Is(err, ErrNothing) {
				t.Errorf("undone twice: %v", err)
			}
		})
	}
}

func TestUndoOfTheFirstChange(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	ctx := t.Context()
	takeFrom(t, c, "k", PerMinute(300), 1)
	if _, err := a.Undo(ctx, "k", AnyRev, ""); !errors.Is(err, ErrNothing) {
		t.Errorf("where nobody changed anything: %v", err)
	}
	if _, err := a.Undo(ctx, "unheard", AnyRev, ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("of an unknown bucket: %v", err)
	}
	if _, err := a.SetLimit(ctx, "k", 0, LimitChange{Rate: To(1)}); err != nil {
		t.Fatal(err)
	}
	if change, err := a.Undo(ctx, "k", AnyRev, ""); err != nil || !change.After.Override.IsZero() || change.After.Effective != PerMinute(300) {
		t.Errorf("the first limit: %+v, %v", change, err)
	}
	if _, err := a.Hold(ctx, "k", AnyRev, NoEnd(), ""); err != nil {
		t.Fatal(err)
	}
	// A reset is no change of the record: what is undone is the hold.
	if _, err := a.Reset(ctx, "k", AnyRev, ToEmpty(), ""); err != nil {
		t.Fatal(err)
	}
	if change, err := a.Undo(ctx, "k", AnyRev, ""); err != nil || change.After.Hold.Active || change.Event.Detail["undoes"] != "hold" {
		t.Errorf("the first hold, and a reset after it: %+v, %v", change, err)
	}
}

func TestUndoAfterSomebodyElsesChange(t *testing.T) {
	anna, ben, s := undoing(t)
	bens, err := ben.Resume(t.Context(), "k", AnyRev, "")
	if err != nil {
		t.Fatal(err)
	}
	var conflict *ConflictError
	if _, err := anna.Undo(t.Context(), "k", s.Rev, ""); !errors.As(err, &conflict) || conflict.State.Rev != bens.After.Rev || conflict.Wanted != s.Rev {
		t.Errorf("decided on the older state: %v", err)
	}
	// Without a revision it is the newest change that is undone, and it says whose.
	if change, err := anna.Undo(t.Context(), "k", AnyRev, ""); err != nil || change.Event.Detail["undoes_by"] != "ben@ops2" || !change.After.Hold.Active {
		t.Errorf("the newest change: %+v, %v", change, err)
	}
}

func TestUndoWhoseEventIsGone(t *testing.T) {
	anna, _, s := undoing(t)
	do(t, anna.client, []any{"XTRIM", anna.keys.Events(), "MAXLEN", "0"})
	if _, err := anna.Undo(t.Context(), "k", AnyRev, ""); !errors.Is(err, ErrNothing) {
		t.Errorf("%v", err)
	}
	if now, err := anna.Get(t.Context(), "k"); err != nil || now.Rev != s.Rev {
		t.Errorf("%+v, %v", now, err)
	}
}

// What has ended meanwhile does not come back.
func TestUndoBringsNothingBackThatHasEnded(t *testing.T) {
	now := time.Unix(1000, 0)
	past, ahead := now.Add(-time.Second), now.Add(time.Second)
	if c := changeTo(Override{Rate: 5, Until: past}, now, ""); c.Rate != ToDeclared() || c.Capacity != ToDeclared() {
		t.Errorf("an override that ended: %+v", c)
	}
	if c := changeTo(Override{Rate: 5, Per: time.Minute, Until: ahead}, now, "r"); c.Rate != To(5) || c.Per != time.Minute || c.End != EndAt(ahead) || c.Capacity != ToDeclared() || c.Reason != "r" {
		t.Errorf("one in force: %+v", c)
	}
	for _, tt := range []struct {
		hold Hold
		want string
	}{
		{Hold{}, "resume"},
		{Hold{Active: true, Until: past}, "resume"},
		{Hold{Active: true}, "forever"},
		{Hold{Active: true, Until: ahead}, "1001000000"},
	} {
		if got := holdArgument(tt.hold, now); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.hold, got, tt.want)
		}
	}
}
