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
	second := 0.0
	for ; len(d.w.model.all) <= 2*MaxRows; second++ {
		d.look(second)
	}
	for range MaxRows / maxShown { // so many details that there is no room beside them
		rows := d.w.Snapshot().Buckets
		d.w.Show(append(names(rows[len(rows)-maxShown+1:]), "bad"))
		d.look(second)
		second++
	}
	wanted := func(key string) bool { return strings.HasPrefix(key, "b1234") || strings.HasPrefix(key, "b3567") }
	d.w.Prefer(wanted)
	s := d.look(second)
	if found := slices.DeleteFunc(names(s.Buckets), func(key string) bool { return !wanted(key) }); len(found) != 20 {
		t.Errorf("%d of the 20 preferred are listed", len(found))
	}
	if len(s.Buckets) != MaxRows || s.Known != 2*MaxRows+1 || s.Buckets[0].Key != "bad" {
		t.Errorf("%d listed of %d", len(s.Buckets), s.Known)
	}
	d.w.Prefer(nil)
	if s := d.look(second + 1); len(s.Buckets) != MaxRows {
		t.Errorf("%d listed without a preference", len(s.Buckets))
	}
}

func TestAPreferenceIsServedAtOnceAlsoWhilePaused(t *testing.T) {
	w := New(Config{})
	w.Pause(true)
	w.Prefer(func(string) bool { return true })
	if _, goOn := w.soon(); !goOn || !w.wanted.fresh {
		t.Error("no refresh is wanted")
	}
}
