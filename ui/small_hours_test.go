package ui

import (
	"strings"
	"testing"
	"time"

	"bucketop/internal/watch"
)

func TestAStateSaysHowManyOfHowManyInANarrowColumnToo(t *testing.T) {
	snap := pictureSnapshot()
	for i := range snap.Buckets {
		snap.Buckets[i].Status = watch.Status{Code: watch.Fallback, Text: "11 of 20"}
	}
	newBench(t, snap, 80, 24).want("FALLBACK 11/20")
	newBench(t, snap, 160, 24).want("FALLBACK 11 of 20")
}

func TestOfAForeignBucketNobodyKnowsWhoWaits(t *testing.T) {
	a := newBench(t, pictureSnapshot(), 80, 24).app
	b := foreignBucket()
	b.State.Problems, b.Status = nil, watch.Status{Code: watch.Foreign}
	if said := strings.Join(a.facts(&b, false), "\n"); said != "who draws from it, and who waits, is not known here" {
		t.Errorf("said %q", said)
	}
}

func TestSuspendingOutOfAFormKeepsWhatWasTyped(t *testing.T) {
	for _, keys := range []string{"e 4 5 0", "/ 4 5 0"} {
		b := newBench(t, pictureSnapshot(), 80, 24)
		b.press(strings.Fields(keys)...)
		b.local = b.local.Add(time.Second)
		b.send(keyMsg("ctrl+z"))
		if cmd := b.send(settledMsg{b.app.pendingGen}); cmd == nil && b.app.notice == nil {
			t.Errorf("%q: ctrl+z does nothing", keys)
		}
		b.want("450")
	}
}
