package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bucketop/bucketctl"
)

// TestPageShowsTheFocus holds that the focused line is seen in whatever height
// has room for a line of the body.
func TestPageShowsTheFocus(t *testing.T) {
	st := newStyles(look{})
	for focus := range 20 {
		for height := 4; height < 30; height++ {
			p := newPage(&st, 40)
			p.heading("EDIT", "a", "")
			for i := range 20 {
				if i == focus {
					p.mark()
				}
				p.add(fmt.Sprintf("line %d.", i), "")
			}
			p.end(" ", "foot", paint{})
			text, _ := p.view(height, 0)
			if !strings.Contains(text, fmt.Sprintf("line %d.", focus)) || !strings.Contains(text, "foot") {
				t.Fatalf("height %d hides line %d or the foot:\n%s", height, focus, text)
			}
		}
	}
}

// TestPageScrolls reads a page to its end and back, and sees every line.
func TestPageScrolls(t *testing.T) {
	b := opened(t, newEditDialog, geoBucket())
	typeEdit(b)
	b.press("enter")
	seen := ""
	for range 10 {
		seen += b.dialogText(40, 10)
		b.press("pgdown")
	}
	for _, text := range []string{"geo-7 is SILENT 42s", "with capacity 22", "450/min at most", "back to", "588 of 600/min"} {
		if !strings.Contains(seen, text) {
			t.Errorf("%q is never seen", text)
		}
	}
	for range 10 {
		b.press("pgup")
		b.dialogText(40, 10)
	}
	if !strings.Contains(b.dialogText(40, 10), "rate     600/min") {
		t.Errorf("pgup does not go back:\n%s", b.dialogText(40, 10))
	}
}

func TestSpanText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", time.Microsecond: "1 ms", 250 * time.Millisecond: "250 ms", 3700 * time.Millisecond: "4 s",
		59*time.Second + 1: "1 min", 125 * time.Second: "2 min 5 s", time.Hour: "1 h", 90 * time.Minute: "1 h 30 min",
		24 * time.Hour: "1 day", 50 * time.Hour: "2 days 2 h",
	} {
		if got := spanText(d); got != want {
			t.Errorf("spanText(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestNamesInSentences(t *testing.T) {
	for want, names := range map[string][]string{
		"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}, "a, b and 2 others": {"a", "b", "c", "d"},
	} {
		if got := fewNames(names); got != want {
			t.Errorf("fewNames(%q) = %q, want %q", names, got, want)
		}
	}
	if got := brief(strings.Repeat("配", 1000)); got != strings.Repeat("配", 80)+"..." {
		t.Errorf("brief: %q", got)
	}
	if got := plainError(fmt.Errorf("%w: no", bucketctl.ErrLimit)); got != "no" {
		t.Errorf("plainError: %q", got)
	}
}
