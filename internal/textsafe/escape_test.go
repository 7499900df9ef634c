package textsafe

import (
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain key", "geocode:{acme}:eu", "geocode:{acme}:eu"},
		{"space inside", "a b  c", "a b  c"},
		{"space at the ends", "  a ", `\x20 a\x20`},
		{"only a space", " ", `\x20`},
		{"backslash", `a\n`, `a\\n`},
		{"quotes stay", `'"`, `'"`},
		{"newline, return, tab", "a\nb\rc\t", `a\nb\rc\t`},
		{"NUL and DEL", "\x00\x7f", `\x00\x7f`},
		{"title", "\x1b]0;pwned\x07", `\x1b]0;pwned\a`},
		{"wipe", "\x1b[2J", `\x1b[2J`},
		{"C1 as runes", "\u0085\u009b31m\u009d", `\u0085\u009b31m\u009d`},
		{"C1 as bytes", "\x9b31m", `\x9b31m`},
		{"broken UTF-8", "a\xc3", `a\xc3`},
		{"overlong and surrogate", "\xc0\x80\xed\xa0\x80", `\xc0\x80\xed\xa0\x80`},
		{"replacement character itself", "\ufffd", "\ufffd"},
		{"bidi override and isolates", "a\u202eb\u2066c\u2069\u200f", `a\u202eb\u2066c\u2069\u200f`},
		{"zero width", "a\u200bb\u200cc\u200dd\u2060\ufeff", `a\u200bb\u200cc\u200dd\u2060\ufeff`},
		{"soft hyphen", "a\u00adb", `a\u00adb`},
		{"no-break and wide spaces", "a\u00a0b\u3000c", `a\u00a0b\u3000c`},
		{"line separators", "a\u2028b\u2029", `a\u2028b\u2029`},
		{"combining mark", "e\u0301", `e\u0301`},
		{"composed letter", "é", "é"},
		{"spacing mark", "\u0915\u093f", "\u0915" + `\u093f`},
		{"CJK", "配额", "配额"},
		{"Hangul syllable", "한국", "한국"},
		{"Hangul letters that join", "\u1112\u1161\u11ab", `\u1112\u1161\u11ab`},
		{"blank letters", "a\u3164b\u2800", `a\u3164b\u2800`},
		{"emoji", "🚀", "🚀"},
		{"family", "👩\u200d👧", `👩\u200d👧`},
		{"flag", "🇩🇪", `\U0001f1e9\U0001f1ea`},
		{"skin tone", "👍🏽", `👍\U0001f3fd`},
		{"variation selector", "❤\ufe0f", `❤\ufe0f`},
		{"tags", "🏴\U000e0067", `🏴\U000e0067`},
		{"private use", "\ue0b0", `\ue0b0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Escape(c.in); got != c.want {
				t.Errorf("Escape(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestEscapeASCII(t *testing.T) {
	for in, want := range map[string]string{
		"geocode:eu":    "geocode:eu",
		" é配🚀\xff\n":    `\x20\u00e9\u914d\U0001f680\xff\n`,
		"аcme":          `\u0430cme`, // a Cyrillic letter first
		`\u0430cme`:     `\\u0430cme`,
		"a\x1b[2J\\end": `a\x1b[2J\\end`,
	} {
		if got := EscapeASCII(in); got != want {
			t.Errorf("EscapeASCII(%q) = %q, want %q", in, got, want)
		}
	}
}

// nasty draws texts that mix the plain with everything that needs escaping.
func nasty() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.StringOfN(rapid.RuneFrom([]rune(" \\xu01ab{}:-…~")), 0, 8, -1),
		rapid.SampledFrom([]string{
			"\x1b", "\x07", "\n", "\x00", "\u009b", "\u202e", "\u200b", "\u200d", "\u0301", "\ufe0f",
			"🇩", "🇪", "🏽", "👩", "가", "\u11ab", "字", `\x20`, `\u202e`, "\xff", "\xe5\xad",
		}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 6), func(p []string) string { return strings.Join(p, "") })
}

// unescape undoes Escape; that it can is what makes Escape injective.
func unescape(t rapid.TB, s string) string {
	var b []byte
	for s != "" {
		r, isRune, rest, err := strconv.UnquoteChar(s, 0)
		if err != nil {
			t.Fatalf("cannot read back %q: %v", s, err)
		}
		if isRune {
			b = utf8.AppendRune(b, r)
		} else {
			b = append(b, byte(r))
		}
		s = rest
	}
	return string(b)
}

func TestEscapeKeepsTextsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := nasty().Draw(t, "text")
		for _, got := range []string{Escape(s), EscapeASCII(s)} {
			if back := unescape(t, got); back != s {
				t.Fatalf("%q reads back as %q, want %q", got, back, s)
			}
		}
	})
}

func TestEscapedTextIsHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := nasty().Draw(t, "text")
		got, width := Escape(s), 0
		for _, r := range got {
			if !strconv.IsPrint(r) || unicode.Is(unicode.M, r) {
				t.Fatalf("Escape(%q) = %q holds %U", s, got, r)
			}
			width += ansi.StringWidth(string(r))
		}
		if w := ansi.StringWidth(got); w != width {
			t.Fatalf("Escape(%q) = %q is %d wide, its runes together %d", s, got, w, width)
		}
		if ansi.Strip(got) != got {
			t.Fatalf("Escape(%q) = %q still holds a sequence", s, got)
		}
		if strings.TrimSpace(got) != got {
			t.Fatalf("Escape(%q) = %q begins or ends with a space", s, got)
		}
		for _, r := range EscapeASCII(s) {
			if r > unicode.MaxASCII {
				t.Fatalf("EscapeASCII(%q) holds %U", s, r)
			}
		}
	})
}

// TestKeptRunesStandAlone goes through all of Unicode: whatever Escape keeps is
// a grapheme of its own between letters, between twins, and beside Hangul
// syllables, which join the most.
func TestKeptRunesStandAlone(t *testing.T) {
	kept := 0
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if !keeps(r) {
			continue
		}
		kept++
		for _, pair := range [][2]rune{{'a', r}, {r, 'a'}, {r, r}, {'가', r}, {r, '가'}, {'각', r}, {r, '각'}, {'👩', r}} {
			if first, _ := ansi.FirstGraphemeCluster(string(pair[:]), ansi.GraphemeWidth); first != string(pair[0]) {
				t.Errorf("%U joins in %q", r, string(pair[:]))
				break
			}
		}
	}
	if kept < 100_000 {
		t.Errorf("only %d runes are kept: whole scripts have become unreadable", kept)
	}
}

func BenchmarkEscape(b *testing.B) {
	for name, s := range map[string]string{"plain": "geocode:{acme}:eu", "mixed": "geocode:{配额}: \x1b[2J"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Escape(s)
			}
		})
	}
}
