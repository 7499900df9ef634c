package ui

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"bucketop/bucketctl"
)

// textCells is the width of a drawn text. Most texts are plain ASCII, of which
// each byte is a cell; for the others graphemes have to be told apart.
func textCells(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

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

// wrap breaks a drawn text into lines of at most width cells.
func wrap(s string, width int) []string {
	if width < 1 {
		return nil
	}
	return wrapText(s, width, width)
}

// wrapText breaks a drawn text at its spaces into lines of at most first cells,
// then rest. A word that is longer is broken where it must be, and no other is:
// geo-7 stays in one piece.
func wrapText(text string, first, rest int) []string {
	var lines []string
	line, used, room := "", 0, max(1, first)
	flush := func() {
		lines = append(lines, line)
		line, used, room = "", 0, max(1, rest)
	}
	for gap, word := range words(text) {
		cells := textCells(word)
		if used > 0 && used+gap+cells > room {
			flush()
		}
		for used == 0 && cells > room {
			head := ansi.Truncate(word, room, "")
			line, used = head, textCells(head)
			if used == 0 {
				return lines // a wide rune in a line of one cell
			}
			word = ansi.TruncateLeft(word, used, "") // with the colour that it began with
			cells -= used
			flush()
		}
		if used > 0 {
			line, used = line+strings.Repeat(" ", gap), used+gap
		}
		line, used = line+word, used+cells
	}
	return append(lines, line)
}

// words are the words of a text, each with the number of spaces before it.
func words(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for text != "" {
			word := strings.TrimLeft(text, " ")
			gap := len(text) - len(word)
			word = firstWord(word)
			text = text[gap+len(word):]
			if word != "" && !yield(gap, word) {
				return
			}
		}
	}
}

// firstWord is what text begins with up to a space. A number and its unit are one
// word: nobody reads "2" above "s" as two seconds.
func firstWord(text string) string {
	word, rest, _ := strings.Cut(text, " ")
	if word == "" || word[len(word)-1] < '0' || word[len(word)-1] > '9' {
		return word
	}
	switch unit, _, _ := strings.Cut(rest, " "); strings.TrimRight(unit, ",;.:)") {
	case "ms", "s", "min", "h", "d":
		return word + " " + unit
	}
	return word
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
