package ui

import (
	"testing"

	"bucketop/internal/watch"
)

// Until somebody chose a row the cursor stands on the worst bucket, wherever
// that comes from; afterwards it follows the key.
func TestCursorStandsOnTheWorstUntilAKeyIsPressed(t *testing.T) {
	snapOf := func(keys ...string) *watch.Snapshot {
		snap := &watch.Snapshot{At: t0, Taken: t0}
		for _, key := range keys {
			snap.Buckets = append(snap.Buckets, watch.Bucket{Key: key})
		}
		return snap
	}
	b := newBench(t, snapOf("calm"), 80, 24)
	b.app.take(snapOf("worse", "calm"))
	if b.list.cursor != "worse" {
		t.Fatalf("the cursor is on %q", b.list.cursor)
	}
	b.press("down")
	b.app.take(snapOf("worst", "worse", "calm"))
	if b.list.cursor != "calm" {
		t.Errorf("after a key the cursor is on %q, it was moved to calm", b.list.cursor)
	}
}
