package bucketctl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
	"bucketop/internal/schema"
)

func kindsOf(events []Event) []EventKind {
	kinds := make([]EventKind, len(events))
	for i, e := range events {
		kinds[i] = e.Kind
	}
	return kinds
}

func mustEvents(t *testing.T, a *Admin, q EventQuery) []Event {
	t.Helper()
	events, err := a.Events(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestEventsTellBeforeAfterWhoAndWhy(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	ctx := t.Context()
	takeFrom(t, c, "k", PerMinute(300), 1)
	var done []Change
	for _, change := range []func() (Change, error){
		func() (Change, error) {
			return a.SetLimit(ctx, "k", AnyRev, LimitChange{Rate: To(10), Per: time.Minute, End: EndAfter(time.Hour), Reason: "backlog"})
		},
		func() (Change, error) { return a.Hold(ctx, "k", AnyRev, EndAfter(time.Minute), "asked to") },
		func() (Change, error) { return a.Resume(ctx, "k", AnyRev, "") },
		func() (Change, error) { return a.ClearLimit(ctx, "k", AnyRev, "over\n\x1b[2J") },
		func() (Change, error) { return a.Reset(ctx, "k", AnyRev, ToFull(), "") },
		func() (Change, error) { return a.Delete(ctx, "k", AnyRev, "") },
	} {
		did, err := change()
		if err != nil {
			t.Fatal(err)
		}
		done = append(done, did)
	}
	events := mustEvents(t, a, EventQuery{})
	want := []EventKind{EventLimit, EventHold, EventResume, EventUnset, EventReset, EventDelete}
	if got := kindsOf(events); !slices.Equal(got, want) {
		t.Fatalf("kinds %v, want %v", got, want)
	}
	for i, e := range events {
		told := done[i].Event
		if e.ID != told.ID || e.Key != "k" || e.By != "anna@ops1" || e.Reason != told.Reason || e.Rev != told.Rev ||
			(e.Rev != 0) != (i < 4) || fmt.Sprint(e.Detail) != fmt.Sprint(told.Detail) {
			t.Errorf("read\n%+v, told\n%+v", e, told)
		}
		if gap := e.At.Sub(done[i].After.At); gap < -time.Millisecond || gap > time.Minute {
			t.Errorf("%s at %v, made at %v", e.Kind, e.At, done[i].After.At)
		}
		if e.Rev == 0 {
			continue
		}
		before := Record{Override: done[i].Before.Override, Hold: done[i].Before.Hold}
		after := Record{Override: done[i].After.Override, Hold: done[i].After.Hold}
		if e.Before != before || e.After != after || e.Rev != done[i].After.Rev {
			t.Errorf("%s tells\n%+v to\n%+v, want\n%+v to\n%+v", e.Kind, e.Before, e.After, before, after)
		}
	}
	if text := events[3].String(); !strings.Contains(text, "unset") || strings.ContainsAny(text, "\n\x1b") {
		t.Errorf("for logs: %q", text)
	}
}

func TestEventsAreSelected(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	ctx := t.Context()
	const all = 2500 // more than two pages of reading
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range all {
			entry := eventEntry(a.keys, Event{Kind: EventMended, Key: fmt.Sprint("k", i%5), By: fmt.Sprint(i)})
			entry.ID = fmt.Sprintf("%d-%d", 1_700_000_000_000+i/2, 1+i%2)
			p.XAdd(ctx, entry)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) time.Time { return time.UnixMilli(int64(1_700_000_000_000 + i/2)).UTC() }
	for name, tt := range map[string]struct {
		query       EventQuery
		first, last string // By of them
		n           int
	}{
		"all":              {EventQuery{}, "0", "2499", all},
		"the newest":       {EventQuery{Max: 3}, "2497", "2499", 3},
		"since":            {EventQuery{Since: at(2000)}, "2000", "2499", 500},
		"since, inclusive": {EventQuery{Since: at(2499)}, "2498", "2499", 2},
		"after":            {EventQuery{After: "1700000001000-1"}, "2001", "2499", 499},
		"of one bucket":    {EventQuery{Key: "k3"}, "3", "2498", 500},
		"its newest":       {EventQuery{Key: "k3", Max: 2}, "2493", "2498", 2},
		"of nobody":        {EventQuery{Key: "k"}, "", "", 0},
		"after the last":   {EventQuery{After: "1700000001249-2"}, "", "", 0},
	} {
		events := mustEvents(t, a, tt.query)
		if len(events) != tt.n {
			t.Errorf("%s: %d events, want %d", name, len(events), tt.n)
			continue
		}
		if tt.n > 0 && (events[0].By != tt.first || events[tt.n-1].By != tt.last || !events[0].At.Equal(at(atoi(t, tt.first)))) {
			t.Errorf("%s: from %+v to %+v", name, events[0], events[tt.n-1])
		}
	}
}

func atoi(t *testing.T, text string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// What other versions and other hands wrote is shown as far as it can be read.
func TestEventsOfOthersAreRead(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	for _, values := range [][]any{
		{"nothing", "known"},
		{schema.EventKind, "invented", schema.EventKey, "k\xff", schema.EventRev, "nan", schema.EventBefore, "{", schema.EventDetail, "free text"},
		{schema.EventKind, "limit", schema.EventRev, "7", schema.EventAfter, `{"capacity":5,"new":1}`, schema.EventDetail, `{"n":5}`},
	} {
		do(t, c, append([]any{"XADD", a.keys.Events(), "*"}, values...))
	}
	events := mustEvents(t, a, EventQuery{})
	if len(events) != 3 || events[0].Kind != "" || events[0].At.IsZero() {
		t.Fatalf("%+v", events)
	}
	if e := events[1]; e.Kind != "invented" || e.Key != "k\xff" || e.Rev != 0 || e.Before != (Record{}) || e.Detail["detail"] != "free text" {
		t.Errorf("%+v", e)
	}
	if e := events[2]; e.Rev != 7 || e.After.Override.Capacity != 5 {
		t.Errorf("%+v", e)
	}
}

func TestEventsAreKeptInBounds(t *testing.T) {
	a := newAdmin(t, redistest.Start(t).Client(t))
	entry := eventEntry(a.keys, Event{Kind: EventHold})
	if entry.MaxLen != keptEvents || !entry.Approx || entry.Stream != "bucketctl:events" {
		t.Errorf("added by %+v", entry)
	}
}

func TestChangesWakeThoseWhoWait(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	for name, change := range changes(a) {
		do(t, c, []any{"FLUSHALL"})
		key := "wake\x00\x1b:" + name
		arrange(t, a, key)
		sub := c.Subscribe(t.Context(), "bucketctl:wake")
		if _, err := sub.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := change(t, key, 1); !errors.Is(err, ErrConflict) { // wakes nobody
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := change(t, key, AnyRev); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		do(t, c, []any{"PUBLISH", "bucketctl:wake", "the end"})
		var told []string
		for len(told) == 0 || told[len(told)-1] != "the end" {
			message, err := sub.ReceiveMessage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			told = append(told, message.Payload)
		}
		if want := []string{key, "the end"}; !slices.Equal(told, want) {
			t.Errorf("%s: told %q, want %q", name, told, want)
		}
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A change whose event can't be written is made, and said to be.
func TestChangeWithoutItsEvent(t *testing.T) {
	s := redistest.Start(t)
	owner := s.Client(t)
	arrange(t, newAdmin(t, owner), "k")
	do(t, owner,
		[]any{"ACL", "SETUSER", "noxadd", "on", ">p", "~*", "&*", "+@all", "-xadd"},
		[]any{"ACL", "SETUSER", "nowake", "on", ">p", "~*", "resetchannels", "+@all"},
		[]any{"ACL", "SETUSER", "noforget", "on", ">p", "~*", "&*", "+@all", "-zrem"},
	)
	as := func(user string) *Admin {
		return newAdmin(t, plainClient(t, &redis.Options{Addr: s.Addr, Username: user, Password: "p"}))
	}
	var audit *AuditError
	change, err := as("noxadd").Resume(t.Context(), "k", AnyRev, "")
	if !errors.As(err, &audit) || !errors.Is(err, ErrDenied) || change.After.Hold.Active || !change.Before.Hold.Active || change.Event.ID != "" {
		t.Errorf("without XADD: %+v, %v", change, err)
	}
	if change, err = as("nowake").Hold(t.Context(), "k", AnyRev, NoEnd(), ""); !errors.As(err, &audit) || !change.After.Hold.Active {
		t.Errorf("without the channel: %+v, %v", change, err)
	}
	if change, err = as("noforget").Delete(t.Context(), "k", AnyRev, ""); !errors.As(err, &audit) || change.After.Kind != KindNone {
		t.Errorf("without ZREM: %+v, %v", change, err)
	}
	if state, err := newAdmin(t, owner).Get(t.Context(), "k"); err != nil || state.Kind != KindNone || !state.Hold.Active {
		t.Errorf("what was said to be made: %+v, %v", state, err)
	}
}
