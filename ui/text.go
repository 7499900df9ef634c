package ui

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"bucketop/bucketctl"
)

// textCells is the width of a drawn text.
func textCells(s string) int { return ansi.StringWidth(s) }

// atMost is a quick upper bound of textCells for what this package draws:
// escaped names, which have no joining runes, our own glyphs, and our colours.
// Measuring every line of every view exactly costs more than all else in it.
func atMost(s string) int {
	cells, inColor := 0, false
	for _, r := range s {
		switch {
		case inColor:
			inColor = r != 'm'
		case r == 0x1b:
			inColor = true
		case r < 0x1100, r >= 0x2010 && r <= 0x2027, r >= 0x2190 && r <= 0x2193, r >= 0x2500 && r <= 0x259f:
			cells++
		default:
			cells += 2
		}
	}
	return cells
}

// plainText takes our own colours out of a drawn line.
func plainText(s string) string { return ansi.Strip(s) }

// wrap breaks a sentence into lines of at most width cells; a longer word is
// broken too.
func wrap(s string, width int) []string {
	if width < 1 {
		return nil
	}
	return strings.Split(ansi.Wrap(s, width, ""), "\n")
}

// millis is a short latency: 0.4ms, 12ms, 1.2s.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms >= 1000:
		return strconv.FormatFloat(ms/1000, 'f', 1, 64) + "s"
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + "ms"
	}
	return strconv.Itoa(int(ms)) + "ms"
}

// spread puts left and right on one line of width cells, the right one against
// the edge. Where both don't fit, the left one is cut.
func (st *styles) spread(left, right string, width int) string {
	room := width - textCells(right) - 1
	if room < 0 {
		return st.cut(right, width)
	}
	left = st.cut(left, room)
	return left + strings.Repeat(" ", width-textCells(left)-textCells(right)) + right
}

// quoted is a reason in the words of whoever gave it.
func (st *styles) quoted(reason string) string {
	if reason == "" {
		return ""
	}
	return `"` + st.esc(reason) + `"`
}

// rev is a revision as people compare it. Revisions are the server's
// microseconds, 16 digits, of which the last tell two changes apart; the raw
// fields of the detail screen have them all.
func (st *styles) rev(r bucketctl.Rev) string {
	text := strconv.FormatInt(int64(r), 10)
	const tail = 5
	if len(text) > tail+3 {
		return st.ellipsis + text[len(text)-tail:]
	}
	return text
}

// sortedKeys are the keys of m in order.
func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
