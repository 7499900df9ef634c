package ui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// alikeSnapshot is buckets and workers whose names differ only where a narrow
// column cuts them.
func alikeSnapshot() *watch.Snapshot {
	s := pictureSnapshot()
	s.Buckets, s.Workers, s.Events, s.Alerts = nil, nil, nil, nil
	for _, what := range []string{"nightly", "weekly", "\x1b[2J", "\x1b[3J"} {
		b := aBucket("crm:sync:accounts-and-contacts-"+what+"-run-eu", bucketctl.PerSecond(3), 9)
		s.Buckets = append(s.Buckets, b)
		s.Events = append(s.Events, bucketctl.Event{ID: what, At: t0, Kind: bucketctl.EventReset, Key: b.Key})
		w := watch.Worker{Name: "geocoder-in-the-cluster-of-" + what + "@node-4", State: watch.WorkerShared}
		w.ID, w.Seen = w.Name, t0
		s.Workers = append(s.Workers, w)
	}
	return s
}

func TestRowsThatDifferLookDifferent(t *testing.T) {
	for _, size := range [][2]int{{120, 24}, {80, 24}, {60, 16}, {40, 12}} {
		for _, keys := range []string{"s", "w", "v"} {
			b := newBench(t, alikeSnapshot(), size[0], size[1])
			b.press(keys)
			seen := map[string]bool{}
			for _, name := range regexp.MustCompile(`(?m)^ [> ] +(?:14:32:05 +)?((?:crm|geoc)\S+)`).FindAllStringSubmatch(b.screenText(), -1) {
				if seen[name[1]] {
					t.Errorf("%v: two rows look like %q:\n%s", size, name[1], b.screenText())
				}
				seen[name[1]] = true
			}
			if len(seen) < 4 {
				t.Errorf("%v: %d rows after %s:\n%s", size, len(seen), keys, b.screenText())
			}
		}
	}
}

// A row whose twin scrolls into the window is drawn under another name than before,
// although nothing else of it changed.
func TestANameIsCutElsewhereOnceItsTwinIsThere(t *testing.T) {
	snap := alikeSnapshot()
	twins := snap.Buckets[:2]
	snap.Buckets = nil
	for i := range 30 {
		snap.Buckets = append(snap.Buckets, aBucket(fmt.Sprintf("b%02d", i), bucketctl.PerSecond(3), 9))
	}
	snap.Buckets[10], snap.Buckets[20] = twins[0], twins[1]
	b := newBench(t, snap, 80, 24)
	alone := b.screenText()
	for range 20 {
		b.press("down")
	}
	if both := b.screenText(); !strings.Contains(alone, "crm:sync:accoun…-eu ") || !strings.Contains(both, "nightl") || !strings.Contains(both, "weekly") {
		t.Errorf("alone:\n%s\nboth:\n%s", alone, both)
	}
}
