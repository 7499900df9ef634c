package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
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
		{"those 15 wait 2 s; more", 15, 15, "those 15 wait|2 s; more"}, // nor a number parted from its unit
		{"15 s", 2, 2, "15| s"},
		{"ab 配额配额", 5, 5, "ab|配额|配额"},
		{"配额", 1, 1, ""},
		{"", 5, 5, ""},
		{"a", 0, 0, "a"},
		{"key  a  b", 9, 9, "key  a  b"}, // what parts one thing from the next stays
		{"key  a  b", 8, 8, "key  a|b"},
		{"\x1b[1mabcdef\x1b[m gh", 4, 4, "\x1b[1mabcd\x1b[m|\x1b[1mef\x1b[m|gh"},
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

// TestCellsAreCounted holds that the quick ways agree with the exact one.
func TestCellsAreCounted(t *testing.T) {
	runes := rapid.StringOf(rapid.RuneFrom([]rune("ab ~-…·━↑配é\x1b[1m\n")))
	rapid.Check(t, func(t *rapid.T) {
		text := runes.Draw(t, "text")
		if got, want := textCells(text), ansi.StringWidth(text); got != want {
			t.Fatalf("%q takes %d cells, want %d", text, got, want)
		}
	})
}
