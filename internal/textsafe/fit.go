package textsafe

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Marks that stand for what was cut off; each is one cell wide.
const (
	Ellipsis = "…"
	Tilde    = "~" // for --ascii
)

// Truncate cuts s to at most width cells and ends it with mark if anything was
// cut. It cuts between graphemes only, so the result may be a cell narrower
// than width. No text fits less than one cell: there it returns "".
func Truncate(s string, width int, mark string) string {
	if width < 1 {
		return ""
	}
	return ansi.Truncate(s, width, mark)
}

// Middle cuts s to at most width cells by taking mark for its middle. Names
// tell their family at the start and their kind at the end, so the end keeps
// three cells or a sixth of the room, whichever is more.
func Middle(s string, width int, mark string) string {
	full := cells(s)
	if full <= width {
		return s
	}
	room := width - cells(mark)
	tail := min(max(3, room/6), room/2)
	if tail < 1 {
		return Truncate(s, width, mark)
	}
	return firstCells(s, room-tail) + mark + lastCells(s, full, tail)
}

// cells is how wide s is. Nearly all names are ASCII, where a byte is a cell;
// looking for graphemes takes a hundred times as long.
func cells(s string) int {
	if isASCII(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// firstCells returns the start of s in at most width cells.
func firstCells(s string, width int) string {
	if isASCII(s) {
		return s[:min(len(s), max(0, width))]
	}
	return ansi.Truncate(s, width, "")
}

// lastCells returns the end of s, which is full cells wide, in at most width
// cells. Cutting inside a wide grapheme keeps it, so one more cell must go then.
func lastCells(s string, full, width int) string {
	if full == len(s) && isASCII(s) {
		return s[full-width:]
	}
	for cut := full - width; cut < full; cut++ {
		if end := ansi.TruncateLeft(s, cut, ""); ansi.StringWidth(end) <= width {
			return end
		}
	}
	return ""
}

// PadRight fills s with spaces on its right until it is width cells wide. It
// leaves a text alone that is wider.
func PadRight(s string, width int) string {
	return s + spaces(width-ansi.StringWidth(s))
}

// PadLeft fills s with spaces on its left until it is width cells wide, as
// numbers want it. It leaves a text alone that is wider.
func PadLeft(s string, width int) string {
	return spaces(width-ansi.StringWidth(s)) + s
}

func spaces(n int) string { return strings.Repeat(" ", max(0, n)) }
