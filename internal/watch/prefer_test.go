package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bucketop/bucketctl"
)

// Where there is not room for all, a filter must still find what it looks for.
func TestPreferredBucketsAreListedWhereThereIsNoRoomForAll(t *testing.T) {
	d := newDesk(t, Config{})
	for i := range 2 * MaxRows {
		d.redis.registry = append(d.redis.registry, fmt.Sprintf("b%05d", i))
	}
	bad := full(1)
	bad.Problems = problem(bucketctl.ProblemCorrupt, "tokens is \"nan\"")
	d.state("bad", bad)
	d.w.Show([]string{"bad"})
	d.look(0)
	// The rest at once, without a snapshot of it for each page of the registry and
	// each screen: so many details that there is no room beside them.
	d.fill(0, MaxRows-1)
	wanted := func(key string) bool { return strings.HasPrefix(key, "b1234") || strings.HasPrefix(key, "b3567") }
	d.w.Prefer(wanted)
	s := d.look(1)
	if found := slices.DeleteFunc(names(s.Buckets), func(key string) bool { return !wanted(key) }); len(found) != 20 {
		t.Errorf("%d of the 20 preferred are listed", len(found))
	}
	if len(s.Buckets) != MaxRows || s.Known != 2*MaxRows+1 || s.Buckets[0].Key != "bad" {
		t.Errorf("%d listed of %d", len(s.Buckets), s.Known)
	}
	d.w.Prefer(nil)
	if s := d.look(2); len(s.Buckets) != MaxRows {
		t.Errorf("%d listed without a preference", len(s.Buckets))
	}
}

// fill takes in all of the registry, and details of so many that have none.
func (d *desk) fill(second float64, details int) {
	m := d.w.model
	var states []bucketctl.State
	for _, key := range d.redis.registry {
		m.takeList(bucketctl.Page{Next: "1", Buckets: []bucketctl.Registered{{Key: key, Seen: at(second)}}}, at(second))
		if m.meet(key).detail == nil && len(states) < details {
			s := full(0)
			s.Key, s.At = key, at(second)
			states = append(states, s)
		}
	}
	m.takeStates(states, at(second))
}

func TestAPreferenceIsServedAtOnceAlsoWhilePaused(t *testing.T) {
	w := New(Config{})
	w.Pause(true)
	w.Prefer(func(string) bool { return true })
	if _, goOn := w.soon(); !goOn || !w.wanted.fresh {
		t.Error("no refresh is wanted")
	}
}
