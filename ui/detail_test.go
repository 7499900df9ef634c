package ui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
)

// TestABucketGoesWhileItIsOpen: its last values stay and are called old, no
// change is offered blindly, and it is live again when it is back.
func TestABucketGoesWhileItIsOpen(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 40)
	b.press("down", "enter")
	b.pass(calmFor)
	b.feed(without("stripe:charge"))
	b.want("stripe:charge  GONE", "since 14:32:05", "The values below are old.", "25/25 tokens left")
	b.press("R")
	if b.top() != nil {
		t.Error("R opened a dialog about a bucket that is gone")
	}
	b.want("stripe:charge is gone: there is nothing to change.")
	b.pass(calmFor)
	b.feed(pictureSnapshot())
	if strings.Contains(b.View(), "GONE") {
		t.Error("it is back and still called gone")
	}
}

// TestAWindowThatGrowsDrawsMore: rows drawn for a narrow window are not kept.
func TestAWindowThatGrowsDrawsMore(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.send(tea.WindowSizeMsg{Width: 120, Height: 32})
	b.press("down", "down")
	b.want("98%", "3/4")
	b.send(tea.WindowSizeMsg{Width: 40, Height: 12})
	b.want("geocode:{ac…:eu SILENT 1 of 4   98%*")
}

// TestMarksOfTheLastMinute stand under their second, whatever the width.
func TestMarksOfTheLastMinute(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	h := aMinute(bucketctl.PerMinute(60))
	for cells, want := range map[int]int{60: 9, 30: 4, 1: 0} {
		line, legend := b.marksLine(&h, cells)
		if at := strings.IndexByte(line, 'L'); at != want && cells > 1 {
			t.Errorf("in %d cells the mark of 50 s ago is at %d, want %d", cells, at, want)
		}
		wantLegend := "L limit edited 50s ago · F fallback entered 12s ago"
		if cells == 1 {
			wantLegend += " · + several" // both stand in the only cell
		}
		if legend != wantLegend {
			t.Errorf("legend %q, want %q", legend, wantLegend)
		}
	}
}
