package bucketctl

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// A key that the ACL keeps from a user says so, and keeps no other from being
// read.
func TestADeniedKeyKeepsNoOtherFromBeingRead(t *testing.T) {
	s := redistest.Start(t)
	owner := s.Client(t)
	userWith(t, owner, "some", operatorCommands())
	a := newAdmin(t, plainClient(t, &redis.Options{Addr: s.Addr, Username: "some", Password: "p"}))
	for _, key := range []string{"b:1", "b:2", "hers"} {
		takeFrom(t, owner, key, PerMinute(300), 5)
	}
	if _, err := newAdmin(t, owner).Hold(t.Context(), "hers", AnyRev, NoEnd(), "why"); err != nil {
		t.Fatal(err)
	}
	states, err := a.GetMany(t.Context(), []string{"b:1", "hers", "b:2", "none"})
	if err != nil || len(states) != 4 {
		t.Fatalf("%+v, %v", states, err)
	}
	for i, want := range []Kind{KindBucket, KindDenied, KindBucket, KindDenied} {
		var call *CallError
		err := states[i].Err()
		denied := errors.Is(err, ErrDenied) && errors.As(err, &call) && call.Key == states[i].Key && firstWord(call.Cause) == "NOPERM"
		if states[i].Kind != want || denied != (want == KindDenied) || (err == nil) != (want != KindDenied) {
			t.Errorf("%s: %+v, %v", states[i].Key, states[i], err)
		}
	}
	if hers := states[1]; hers.Known() || hers.Raw != nil || !hers.Effective.IsZero() || !hers.Hold.Active || hers.At.IsZero() {
		t.Errorf("of a bucket that can't be read nothing but its hold is known: %+v", hers)
	}
	if _, err := a.Get(t.Context(), "hers"); !errors.Is(err, ErrDenied) {
		t.Errorf("alone: %v", err)
	}
	page, err := a.Scan(t.Context(), "*", "", 1000)
	if err != nil || page.Denied != 1 || len(page.Keys) != 2 {
		t.Errorf("a scan: %+v, %v", page, err)
	}
}

// Nor does a window whose log alone is denied.
func TestADeniedLogConcernsItsWindow(t *testing.T) {
	s := redistest.Start(t)
	owner := s.Client(t)
	c := patientClient(t, s)
	for _, key := range []string{"w:1", "w:2"} {
		l, err := c.Window(key, Window{Limit: 10, Per: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	do(t, owner, []any{"ACL", "SETUSER", "some", "reset", "on", ">p", "~w:*", "~bucketctl:limit:*", "~" + c.keys.Log("w:1"), "+@all"})
	states, err := newAdmin(t, plainClient(t, &redis.Options{Addr: s.Addr, Username: "some", Password: "p"})).GetMany(t.Context(), []string{"w:1", "w:2"})
	if err != nil || states[0].Level != 9 || states[1].Kind != KindDenied || states[1].Known() {
		t.Errorf("%+v, %v", states, err)
	}
}
