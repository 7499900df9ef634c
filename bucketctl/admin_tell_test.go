package bucketctl

import (
	"errors"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// Where the change is made and something that belongs to it is denied, the caller
// is told exactly what, and the change is not said to be undone.
func TestWhatAChangeLacksIsTold(t *testing.T) {
	s := redistest.Start(t)
	owner := s.Client(t)
	for without, says := range map[string]string{
		"publish": "nobody was woken (who waits looks again within 5 s): ",
		"xadd":    "its event is not: ",
		"zrem":    "the registry still lists the bucket: ",
	} {
		do(t, owner, []any{"FLUSHALL"})
		arrange(t, newAdmin(t, owner), "b:1")
		events := owner.XLen(t.Context(), "bucketctl:events").Val()
		userWith(t, owner, "less", slices.DeleteFunc(operatorCommands(), func(c string) bool { return c == without }))
		a := newAdmin(t, plainClient(t, &redis.Options{Addr: s.Addr, Username: "less", Password: "p"}))
		change, err := a.Delete(t.Context(), "b:1", AnyRev, "why")
		var audit *AuditError
		if !errors.As(err, &audit) || !errors.Is(err, ErrDenied) || len(audit.Unwrap()) != 1 || audit.Lacks()[:len(says)] != says {
			t.Errorf("without %s: %v, want one that says %q", without, err, says)
			continue
		}
		if change.Before.Kind != KindBucket || change.After.Kind != KindNone {
			t.Errorf("without %s the change is %+v", without, change)
		}
		written := owner.XLen(t.Context(), "bucketctl:events").Val() - events
		if told := audit.Event == nil; told != (written == 1) || told != (change.Event.ID != "") {
			t.Errorf("without %s: %d events written, %q, %v", without, written, change.Event.ID, err)
		}
	}
}

// What ls lists can be deleted, also when its state is gone: it is forgotten.
func TestABucketWithoutStateIsForgotten(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	s := arrange(t, a, "k")
	do(t, c, []any{"DEL", "k"}, []any{"ZADD", a.keys.Buckets(), "1", "k"}, []any{"ZADD", a.keys.Buckets(), "1", "other"})
	if _, err := a.Delete(t.Context(), "k", s.Rev-1, ""); !errors.Is(err, ErrConflict) {
		t.Errorf("over a newer record: %v", err)
	}
	change, err := a.Delete(t.Context(), "k", s.Rev, "gone")
	if err != nil || change.Before.Type != "none" || change.After.Type != "none" || change.After.Rev != s.Rev {
		t.Fatalf("%+v, %v", change, err)
	}
	if page, err := a.List(t.Context(), "", 10); err != nil || len(page.Buckets) != 1 || page.Buckets[0].Key != "other" {
		t.Errorf("the registry after it: %+v, %v", page, err)
	}
	events := mustEvents(t, a, EventQuery{Key: "k"})
	if last := events[len(events)-1]; last.Kind != EventDelete || last.Reason != "gone" || last.By != "anna@ops1" || last.ID != change.Event.ID {
		t.Errorf("the audit says %+v", last)
	}
	if now, err := a.Get(t.Context(), "k"); err != nil || !now.Hold.Active || now.Rev != s.Rev {
		t.Errorf("the record after it: %+v, %v", now, err)
	}
	if _, err := a.Delete(t.Context(), "k", AnyRev, ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("forgotten twice: %v", err)
	}
}
