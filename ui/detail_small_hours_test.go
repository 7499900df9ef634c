package ui

import (
	"strings"
	"testing"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// Where workers declare different limits, which worker declares which stays in a
// window that has not room for all columns.
func TestADriftShowsWhoDeclaresWhat(t *testing.T) {
	snap := pictureSnapshot()
	snap.Buckets = []watch.Bucket{driftRow()}
	b := newBench(t, snap, 80, 40)
	b.press("enter")
	b.want("DECLARES", "900k/min cap 45k")
	snap = pictureSnapshot()
	snap.Buckets = []watch.Bucket{fullRow()}
	b = newBench(t, snap, 80, 40)
	b.press("enter")
	if strings.Contains(b.screenText(), "DECLARES") {
		t.Errorf("it takes the place of others where all declare the same:\n%s", b.screenText())
	}
}

// A cooldown is signed by a worker's ID; people know the worker by its name.
func TestACooldownNamesItsWorker(t *testing.T) {
	snap := pictureSnapshot()
	row := fullRow()
	row.State.Cooldown = bucketctl.Cooldown{Until: t0.Add(15 * time.Second), By: "geo-1@node-4/18730-2dea19"}
	snap.Buckets, snap.Workers[2].ID, snap.Workers[2].Name = []watch.Bucket{row}, row.State.Cooldown.By, "geo-1"
	b := newBench(t, snap, 80, 40)
	b.want("the provider asked geo-1 to pause")
	b.press("enter")
	b.want("geo-1, until 14:32:20, 15s left")
}

// The top of a chart does not touch the chart, however long it is.
func TestAChartStandsApartFromItsTop(t *testing.T) {
	snap := pictureSnapshot()
	snap.Buckets = []watch.Bucket{driftRow()}
	b := newBench(t, snap, 80, 40)
	b.press("enter")
	b.want("1.8M/min ▇")
}
