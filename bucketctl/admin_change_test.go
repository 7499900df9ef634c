package bucketctl

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// changes are all of an Admin's changes, each of which can be made to a bucket
// that is held and has an override.
func changes(a *Admin) map[string]func(t *testing.T, key string, rev Rev) (Change, error) {
	return map[string]func(t *testing.T, key string, rev Rev) (Change, error){
		"SetLimit": func(t *testing.T, key string, rev Rev) (Change, error) {
			return a.SetLimit(t.Context(), key, rev, LimitChange{Rate: To(2), Per: time.Minute, Reason: "r"})
		},
		"ClearLimit": func(t *testing.T, key string, rev Rev) (Change, error) {
			return a.ClearLimit(t.Context(), key, rev, "r")
		},
		"Hold": func(t *testing.T, key string, rev Rev) (Change, error) {
			return a.Hold(t.Context(), key, rev, EndAfter(time.Hour), "r")
		},
		"Resume": func(t *testing.T, key string, rev Rev) (Change, error) {
			return a.Resume(t.Context(), key, rev, "r")
		},
		"Reset": func(t *testing.T, key string, rev Rev) (Change, error) {
			return a.Reset(t.Context(), key, rev, ToLevel(3), "r")
		},
		"Delete": func(t *testing.T, key string, rev Rev) (Change, error) {
			return a.Delete(t.Context(), key, rev, "r")
		},
		"Undo": func(t *testing.T, key string, rev Rev) (Change, error) {
			return a.Undo(t.Context(), key, rev, "r")
		},
	}
}

// arrange makes a bucket with an override and a hold, and returns its state.
func arrange(t *testing.T, a *Admin, key string) State {
	t.Helper()
	takeFrom(t, a.client, key, PerMinute(300), 5)
	if _, err := a.SetLimit(t.Context(), key, AnyRev, LimitChange{Rate: To(10), Per: time.Minute, Capacity: To(30)}); err != nil {
		t.Fatal(err)
	}
	change, err := a.Hold(t.Context(), key, AnyRev, NoEnd(), "why")
	if err != nil {
		t.Fatal(err)
	}
	return change.After
}

func TestChangesTakeTheRevisionTheyWereDecidedOn(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	for name, change := range changes(a) {
		t.Run(name, func(t *testing.T) {
			do(t, c, []any{"FLUSHALL"})
			s := arrange(t, a, "k")
			before := snapshot(t, c)
			for _, stale := range []Rev{0, 1, s.Rev - 1, s.Rev + 1} {
				_, err := change(t, "k", stale)
				var conflict *ConflictError
				if !errors.As(err, &conflict) || !errors.Is(err, ErrConflict) {
					t.Fatalf("rev %d: %v, want a conflict", stale, err)
				}
				if conflict.Wanted != stale || conflict.State.Rev != s.Rev || conflict.State.Effective != s.Effective || !conflict.State.Hold.Active {
					t.Errorf("the conflict carries %+v", conflict)
				}
			}
			if after := snapshot(t, c); !maps.Equal(before, after) {
				t.Errorf("a conflict changed\n%v to\n%v", before, after)
			}
			done, err := change(t, "k", s.Rev)
			if err != nil {
				t.Fatalf("rev %d: %v", s.Rev, err)
			}
			if done.Before.Rev != s.Rev || done.Event.ID == "" || done.Event.By != "anna@ops1" || done.Event.Reason != "r" {
				t.Errorf("%+v", done)
			}
			if now, err := a.GetMany(t.Context(), []string{"k"}); err != nil || now[0].Rev != done.After.Rev || now[0].Hold != done.After.Hold || now[0].Override != done.After.Override {
				t.Errorf("the state after it is said to be\n%+v, and is\n%+v, %v", done.After, now, err)
			}
		})
	}
}

func TestReadOnlyWritesNothing(t *testing.T) {
	c := redistest.Start(t).Client(t)
	arrange(t, newAdmin(t, c), "k")
	readOnly, err := NewAdmin(AdminConfig{Client: c, By: "eve", ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, c)
	do(t, c, []any{"CONFIG", "RESETSTAT"})
	for name, change := range changes(readOnly) {
		for _, key := range []string{"k", "unheard"} {
			if _, err := change(t, key, AnyRev); !errors.Is(err, ErrReadOnly) {
				t.Errorf("%s of %s: %v", name, key, err)
			}
		}
	}
	stats, err := c.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(stats) {
		if strings.HasPrefix(line, "cmdstat_") && !strings.HasPrefix(line, "cmdstat_config") && !strings.HasPrefix(line, "cmdstat_info") {
			t.Errorf("read-only, and the server was asked: %s", line)
		}
	}
	if after := snapshot(t, c); !maps.Equal(before, after) {
		t.Errorf("read-only changed\n%v to\n%v", before, after)
	}
}

func TestSetLimitAndClearLimit(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	ctx := t.Context()
	takeFrom(t, c, "k", PerMinute(300), 15)
	set, err := a.SetLimit(ctx, "k", 0, LimitChange{Rate: To(10), Per: time.Minute, End: EndAfter(time.Hour), Reason: "backlog"})
	if err != nil {
		t.Fatal(err)
	}
	s := set.After
	if s.Effective != PerMinute(600).Burst(15) || s.Declared != PerMinute(300) || s.By != "anna@ops1" || s.Reason != "backlog" || !s.ChangedAt.Equal(s.At) {
		t.Errorf("after the change: %+v", s)
	}
	if left := s.Override.Until.Sub(s.At); left != time.Hour {
		t.Errorf("it ends in %v", left)
	}
	if !set.Before.Override.IsZero() || !set.Before.At.Equal(s.At) || s.Level > 1 {
		t.Errorf("before it: %+v, level after it %v", set.Before, s.Level)
	}
	// What is not named stays, the end too.
	next, err := a.SetLimit(ctx, "k", s.Rev, LimitChange{Capacity: To(4)})
	if err != nil || next.After.Override != (Override{Capacity: 4, Rate: 10, Per: time.Minute, Until: s.Override.Until}) || next.After.Rev <= s.Rev {
		t.Errorf("a capacity alone: %+v, %v", next.After, err)
	}
	cleared, err := a.ClearLimit(ctx, "k", next.After.Rev, "over")
	if err != nil || cleared.After.Effective != PerMinute(300) || cleared.Event.Kind != EventUnset || cleared.After.Rev <= next.After.Rev {
		t.Errorf("cleared: %+v, %v", cleared, err)
	}
	if _, err := a.ClearLimit(ctx, "k", AnyRev, ""); !errors.Is(err, ErrNothing) {
		t.Errorf("cleared twice: %v", err)
	}
	if _, err := a.SetLimit(ctx, "k", AnyRev, LimitChange{End: EndAfter(time.Hour)}); !errors.Is(err, ErrNothing) {
		t.Errorf("an end of nothing: %v", err)
	}
}

func TestChangesThatCannotBe(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	ctx := t.Context()
	takeFrom(t, c, "k", PerMinute(300), 1)
	do(t, c,
		[]any{"SET", "string", "5"},
		[]any{"HSET", "foreign", "tokens", "3", "ts", "1700000000.25"},
		[]any{"HSET", "stranger", "name", "bob"},
	)
	set := func(key string, c LimitChange) error { _, err := a.SetLimit(ctx, key, AnyRev, c); return err }
	hold := func(key string, e End) error { _, err := a.Hold(ctx, key, AnyRev, e, ""); return err }
	reset := func(key string, to Target) error { _, err := a.Reset(ctx, key, AnyRev, to, ""); return err }
	rate := LimitChange{Rate: To(1)}
	before := snapshot(t, c)
	for i, tt := range []struct{ err, want error }{
		{set("k", LimitChange{}), ErrNothing},
		{set("k", LimitChange{Reason: "just so"}), ErrNothing},
		{set("k", LimitChange{Rate: To(0)}), ErrLimit},
		{set("k", LimitChange{Rate: To(math.NaN())}), ErrLimit},
		{set("k", LimitChange{Rate: To(math.Inf(1))}), ErrLimit},
		{set("k", LimitChange{Rate: To(-1)}), ErrLimit},
		{set("k", LimitChange{Capacity: To(0.5)}), ErrLimit},
		{set("k", LimitChange{Capacity: To(2e12)}), ErrLimit},
		{set("k", LimitChange{Rate: To(1), Per: -time.Second}), ErrLimit},
		{set("k", LimitChange{Rate: To(1), End: EndAfter(-time.Second)}), ErrLimit},
		{set("k", LimitChange{Rate: To(1), End: EndAt(time.Unix(1, 0))}), ErrLimit},
		{hold("k", EndAt(time.Unix(1, 0))), ErrLimit},
		{hold("k", EndAfter(0)), ErrLimit},
		{set("unheard", rate), ErrNotFound},
		{hold("unheard", NoEnd()), ErrNotFound},
		{reset("unheard", ToEmpty()), ErrNotFound},
		{set("foreign", rate), ErrForeign},
		{hold("foreign", NoEnd()), ErrForeign},
		{reset("foreign", ToFull()), ErrForeign},
		{set("string", rate), ErrWrongType},
		{reset("string", ToFull()), ErrWrongType},
		{reset("stranger", ToEmpty()), ErrWrongType},
		{set("a{b", rate), ErrKey},
		{reset("bucketctl:buckets", ToEmpty()), ErrKey},
		{reset("k", ToLevel(-1)), ErrTokens},
		{reset("k", ToLevel(math.NaN())), ErrTokens},
		{reset("k", ToLevel(math.Inf(1))), ErrTokens},
	} {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("case %d: %v, want %v", i, tt.err, tt.want)
		}
	}
	for name, err := range map[string]error{
		"resume":          second(a.Resume(ctx, "k", AnyRev, "")),
		"clear":           second(a.ClearLimit(ctx, "k", AnyRev, "")),
		"undo":            second(a.Undo(ctx, "k", AnyRev, "")),
		"resume, foreign": second(a.Resume(ctx, "foreign", AnyRev, "")),
	} {
		if !errors.Is(err, ErrNothing) && !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := snapshot(t, c); !maps.Equal(before, after) {
		t.Errorf("refused changes changed\n%v to\n%v", before, after)
	}
}

func second(_ Change, err error) error { return err }

func TestHoldAndResume(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	ctx := t.Context()
	takeFrom(t, c, "k", PerMinute(300), 1)
	held, err := a.Hold(ctx, "k", 0, EndAfter(10*time.Minute), "asked\x1b[31m to")
	if err != nil {
		t.Fatal(err)
	}
	want := Hold{Active: true, Until: held.After.At.Add(10 * time.Minute), By: "anna@ops1", At: held.After.At, Reason: "asked\x1b[31m to"}
	if held.After.Hold != want || held.Before.Hold.Active {
		t.Errorf("held: %+v, want %+v", held.After.Hold, want)
	}
	if v := takeFrom(t, c, "k", PerMinute(300), 1); v.stop != stopHeld || v.code != codeRefused {
		t.Errorf("a take from a held bucket: %+v", v)
	}
	// Another reason keeps the end that is there.
	again, err := a.Hold(ctx, "k", held.After.Rev, End{}, "still")
	if err != nil || !again.After.Hold.Until.Equal(want.Until) || again.After.Hold.Reason != "still" {
		t.Errorf("held again: %+v, %v", again.After.Hold, err)
	}
	resumed, err := a.Resume(ctx, "k", again.After.Rev, "")
	if err != nil || resumed.After.Hold.Active || resumed.Event.Kind != EventResume {
		t.Errorf("resumed: %+v, %v", resumed, err)
	}
	if v := takeFrom(t, c, "k", PerMinute(300), 1); v.code != codeCharged {
		t.Errorf("a take after it: %+v", v)
	}
	if held, err = a.Hold(ctx, "k", AnyRev, End{}, ""); err != nil || !held.After.Hold.Until.IsZero() {
		t.Errorf("a hold without an end: %+v, %v", held.After.Hold, err)
	}
}

func TestResetMendsAndTellsWhatWasWrong(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	ctx := t.Context()
	for name, tt := range map[string]struct {
		field, value string
		to           Target
		want         float64
		problem      ProblemCode
	}{
		"text":      {"tokens", "abc", ToFull(), 15, ProblemCorrupt},
		"ts ahead":  {"ts", fmt.Sprint(time.Now().Add(9 * time.Minute).Unix()), ToEmpty(), 0, ProblemAhead},
		"debt":      {"tokens", "-4000", ToLevel(7.5), 7.5, ProblemDebt},
		"too much":  {"granted", "2", ToLevel(400), 15, ""},
		"a blocked": {"blocked", "nan", ToFull(), 15, ProblemCorrupt},
	} {
		do(t, c, []any{"DEL", "k"})
		takeFrom(t, c, "k", PerMinute(300), 1)
		do(t, c, []any{"HSET", "k", tt.field, tt.value})
		change, err := a.Reset(ctx, "k", 0, tt.to, "stuck")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if change.After.Level != tt.want || len(change.After.Problems) != 0 || change.After.Rev != 0 {
			t.Errorf("%s: after it %+v", name, change.After)
		}
		if tt.problem == "" {
			continue
		}
		if p := change.Before.Problems; len(p) == 0 || p[0].Code != tt.problem || change.Event.Detail["cause"] != p[0].Text {
			t.Errorf("%s: problems %+v, told as %v", name, p, change.Event.Detail)
		}
		if d := change.Event.Detail; d["level_after"] != formatNumber(tt.want) || d["to"] != tt.to.String() || d["type"] != "hash" {
			t.Errorf("%s: the event tells %v", name, d)
		}
	}
	// Another program's bucket: its level, by its own fields.
	do(t, c, []any{"HSET", "foreign", "tokens", "-3", "ts", "1700000000.25"})
	change, err := a.Reset(ctx, "foreign", AnyRev, ToLevel(9), "")
	if err != nil || change.After.Level != 9 || change.After.Kind != KindForeign {
		t.Errorf("foreign: %+v, %v", change.After, err)
	}
}

func TestDeleteForgetsTheBucketAndKeepsTheRecord(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	ctx := t.Context()
	s := arrange(t, a, "k")
	do(t, c, []any{"ZADD", a.keys.Buckets(), "1", "k"}, []any{"ZADD", a.keys.Buckets(), "1", "other"}, []any{"SET", "string", "5"})
	change, err := a.Delete(ctx, "k", s.Rev, "gone")
	if err != nil || change.After.Kind != KindNone || change.Before.Granted != 5 {
		t.Fatalf("%+v, %v", change, err)
	}
	if page, err := a.List(ctx, "", 10); err != nil || len(page.Buckets) != 1 || page.Buckets[0].Key != "other" {
		t.Errorf("the registry after it: %+v, %v", page, err)
	}
	if now, err := a.Get(ctx, "k"); err != nil || !now.Hold.Active || now.Override.IsZero() || now.Rev != s.Rev {
		t.Errorf("the record after it: %+v, %v", now, err)
	}
	if _, err := a.Delete(ctx, "k", AnyRev, ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if change, err = a.Delete(ctx, "string", AnyRev, ""); err != nil || change.Before.Type != "string" || change.After.Type != "none" {
		t.Errorf("a string: %+v, %v", change, err)
	}
}

func TestChangesHitExactlyTheirKey(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	keys := hostileKeys()
	for _, key := range keys {
		takeFrom(t, c, key, PerDay(1).Burst(100), 50)
	}
	for i, key := range keys {
		if _, err := a.Reset(t.Context(), key, 0, ToLevel(float64(i)), ""); err != nil {
			t.Errorf("%q: %v", key, err)
		}
		if change, err := a.Hold(t.Context(), key, 0, NoEnd(), key); err != nil || change.Event.Key != key {
			t.Errorf("%q: %+v, %v", key, change.Event, err)
		}
	}
	states, err := a.GetMany(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range states {
		if s.Key != keys[i] || math.Abs(s.Level-float64(i)) > 0.01 || s.Hold.Reason != keys[i] {
			t.Errorf("%q: level %v, held %+v, want level %d", keys[i], s.Level, s.Hold, i)
		}
		events, err := a.Events(t.Context(), EventQuery{Key: keys[i]})
		if err != nil || len(events) != 2 || events[1].Reason != keys[i] || events[1].After.Hold.Active != true {
			t.Errorf("%q: events %+v, %v", keys[i], events, err)
		}
	}
	if n := c.DBSize(t.Context()).Val(); n != int64(2*len(keys)+1) {
		t.Errorf("%d keys, want a bucket and a record for each of %d, and the events", n, len(keys))
	}
}
