package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bucketop/bucketctl"
)

func TestWrapText(t *testing.T) {
	for _, c := range []struct {
		text        string
		first, rest int
		want        string
	}{
		{"geo-7 is SILENT", 20, 20, "geo-7 is SILENT"},
		{"geo-7 is SILENT", 8, 20, "geo-7 is|SILENT"},
		{"is geo-7", 6, 20, "is|geo-7"}, // a name is not broken at its hyphen
		{"abcdefghij", 4, 3, "abcd|efg|hij"},
		{"ab 配额配额", 5, 5, "ab|配额|配额"},
		{"配额", 1, 1, ""},
		{"", 5, 5, ""},
		{"a", 0, 0, "a"},
	} {
		if got := strings.Join(wrapText(c.text, c.first, c.rest), "|"); got != c.want {
			t.Errorf("wrapText(%q, %d, %d) = %q, want %q", c.text, c.first, c.rest, got, c.want)
		}
	}
}

func TestWrappedTextIsWhole(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abc-/配")), 1, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), " ")
		first, rest := rapid.IntRange(2, 30).Draw(t, "first"), rapid.IntRange(2, 30).Draw(t, "rest")
		lines := wrapText(text, first, rest)
		for i, line := range lines {
			room := rest
			if i == 0 {
				room = first
			}
			if textCells(line) > room {
				t.Fatalf("%q has %d cells, room for %d", line, textCells(line), room)
			}
		}
		if got := strings.ReplaceAll(strings.Join(lines, ""), " ", ""); got != strings.ReplaceAll(text, " ", "") {
			t.Fatalf("%q became %q", text, lines)
		}
	})
}

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
	if got := shortRev(1755859200123456); got != "..23456" {
		t.Errorf("shortRev: %q", got)
	}
	if got := brief(strings.Repeat("配", 1000)); got != strings.Repeat("配", 80)+"..." {
		t.Errorf("brief: %q", got)
	}
	if got := plainError(fmt.Errorf("%w: no", bucketctl.ErrLimit)); got != "no" {
		t.Errorf("plainError: %q", got)
	}
}
