package ui

import (
	"strings"
	"testing"

	"bucketop/internal/watch"
)

// A list that is not whole yet says so on its status line, in the smallest
// window too, whether it is filtered or not.
func TestTheListSaysHowFarTheFirstSweepIs(t *testing.T) {
	for _, size := range [][2]int{{100, 24}, {80, 24}, {40, 12}, {40, 8}} {
		snap := pictureSnapshot()
		snap.Known, snap.First = 41_000, watch.Progress{Read: 41_000, Total: 100_000}
		b := newBench(t, snap, size[0], size[1])
		b.want("read 41,000 of 100,000 buckets")
		b.press("/", "g", "e", "o", ":")
		b.want("filter: geo:_")
		b.press("enter")
		b.want("1 in 41,000 read of 100,000")
		b.press("esc")
		whole := pictureSnapshot()
		whole.Known = 100_000
		b.feed(whole)
		b.want("14 of 100,000")
		if screen := b.screenText(); strings.Contains(screen, "read 41,000") {
			t.Errorf("the sweep is over and the list says otherwise:\n%s", screen)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 41_000: "41,000", 1_000_000: "1,000,000"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
