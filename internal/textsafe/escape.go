// Package textsafe makes text that came from Redis safe to draw.
//
// A key, a worker's name or a reason is whatever bytes somebody wrote. Drawn as
// they are, they can set the title, wipe the screen, reverse the reading order,
// shift every column to their right, or pass for another key. So each such text
// goes through [Escape] once, where it enters the model; after that it may be
// cut ([Truncate], [Middle]) and padded ([PadRight], [PadLeft]) for its column.
//
// What stays is a matter of runes, not of meaning: a Latin and a Cyrillic "a"
// differ, yet look alike. [EscapeASCII] tells those apart too.
package textsafe

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// hex digits of an escaped byte.
const hex = "0123456789abcdef"

// Escape returns s with everything spelled out that a terminal could obey, hide,
// join to its neighbours or fail to show.
//
// A rune stays when it is printable, not combining, at least one cell wide and
// a grapheme of its own whatever stands beside it. A backslash is doubled. Any
// other rune becomes the escape Go would use for it in an ASCII string (\n,
// \x1b, \u202e, \U0001f1e6), and a byte that is no UTF-8 becomes \xNN. A space
// that begins or ends s becomes \x20, since nobody would see it there.
//
// Two different texts have two different results, and the result's width is the
// sum of the widths of its runes. The empty text stays empty.
func Escape(s string) string {
	return escape(s, keeps)
}

// EscapeASCII is Escape that also spells out every rune beyond ASCII, for
// terminals and fonts that have nothing else.
func EscapeASCII(s string) string {
	return escape(s, func(rune) bool { return false })
}

// escape keeps printable ASCII and those other runes that keep names.
func escape(s string, keep func(rune) bool) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		atEdge := i == 0 || i+size == len(s)
		switch {
		case r == utf8.RuneError && size == 1:
			writeByte(&b, s[i])
		case r == ' ' && atEdge:
			writeByte(&b, ' ')
		case r == '\\':
			b.WriteString(`\\`)
		case ' ' <= r && r <= '~', r > unicode.MaxASCII && keep(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}

func writeByte(b *strings.Builder, c byte) {
	b.WriteString(`\x`)
	b.WriteByte(hex[c>>4])
	b.WriteByte(hex[c&0xf])
}

// isPlain reports whether s is all visible ASCII without a backslash, as nearly
// every key is; such a text is its own escape.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

// keeps reports whether a rune beyond ASCII may be drawn as it is.
func keeps(r rune) bool {
	return strconv.IsPrint(r) && !unicode.Is(unicode.M, r) && !joins(r) && !looksBlank(r) &&
		ansi.StringWidth(string(r)) >= 1
}

// joins reports whether r is printable and no mark, and still forms one grapheme
// with some neighbour, so that its width depends on what stands beside it.
// A test compares this list with the segmentation that x/ansi uses.
func joins(r rune) bool {
	switch {
	case between(r, 0x1100, 0x11ff), between(r, 0xa960, 0xa97c), between(r, 0xd7b0, 0xd7fb): // conjoining Hangul
	case between(r, 0x1f1e6, 0x1f1ff): // regional indicators: two make a flag
	case between(r, 0x1f3fb, 0x1f3ff): // skin tones
	case r == 0x0e33, r == 0x0eb3: // Thai and Lao sara am
	case r == 0xff9e, r == 0xff9f: // halfwidth katakana sound marks
	case r == 0x0d4e, between(r, 0x111c2, 0x111c3), r == 0x1193f, r == 0x11941,
		between(r, 0x11a84, 0x11a89), r == 0x11d46, r == 0x11f02: // Indic letters that precede
	default:
		return false
	}
	return true
}

func between(r, first, last rune) bool { return first <= r && r <= last }

// looksBlank reports whether r is printable by its category and draws nothing.
func looksBlank(r rune) bool {
	switch r {
	case 0x2800, // the Braille cell without dots
		0x3164, 0xffa0, // Hangul fillers
		0x1d159: // the musical null notehead
		return true
	}
	return false
}
