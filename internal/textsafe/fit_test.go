package textsafe

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		mark  string
		want  string
	}{
		{"geocode", 7, Ellipsis, "geocode"},
		{"geocode", 6, Ellipsis, "geoco…"},
		{"geocode", 6, Tilde, "geoco~"},
		{"geocode", 1, Ellipsis, "…"},
		{"geocode", 0, Ellipsis, ""},
		{"geocode", -3, Ellipsis, ""},
		{"", 3, Ellipsis, ""},
		{"配额配额", 8, Ellipsis, "配额配额"},
		{"配额配额", 7, Ellipsis, "配额配…"},
		{"配额配额", 6, Ellipsis, "配额…"}, // a cell narrower: half a rune cannot be shown
		{"a🇩🇪b", 3, Ellipsis, "a…"},
		{"👩\u200d👧bc", 3, Ellipsis, "👩\u200d👧…"},
	} {
		if got := Truncate(c.in, c.width, c.mark); got != c.want {
			t.Errorf("Truncate(%q, %d, %q) = %q, want %q", c.in, c.width, c.mark, got, c.want)
		}
	}
}

func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		mark  string
		want  string
	}{
		{"crm:sync:contacts-and-deals-eu", 19, Ellipsis, "crm:sync:contac…-eu"},
		{"crm:sync:contacts-and-deals-eu", 19, Tilde, "crm:sync:contac~-eu"},
		{"crm:sync:contacts-and-deals-eu", 30, Ellipsis, "crm:sync:contacts-and-deals-eu"},
		{"crm:sync:contacts-and-deals-eu", 29, Ellipsis, "crm:sync:contacts-and-de…s-eu"},
		{"abcdefgh", 5, Ellipsis, "ab…gh"},
		{"abcdefgh", 4, Ellipsis, "ab…h"},
		{"abcdefgh", 3, Ellipsis, "a…h"},
		{"abcdefgh", 2, Ellipsis, "a…"},
		{"abcdefgh", 1, Ellipsis, "…"},
		{"abcdefgh", 0, Ellipsis, ""},
		{"配额配额配额", 7, Ellipsis, "配…额"},
	} {
		if got := Middle(c.in, c.width, c.mark); got != c.want {
			t.Errorf("Middle(%q, %d, %q) = %q, want %q", c.in, c.width, c.mark, got, c.want)
		}
	}
}

func TestPad(t *testing.T) {
	for _, c := range []struct {
		in          string
		width       int
		right, left string
	}{
		{"ab", 4, "ab  ", "  ab"},
		{"配", 4, "配  ", "  配"},
		{"abcd", 2, "abcd", "abcd"},
		{"", 2, "  ", "  "},
		{"a", -1, "a", "a"},
	} {
		if got := PadRight(c.in, c.width); got != c.right {
			t.Errorf("PadRight(%q, %d) = %q, want %q", c.in, c.width, got, c.right)
		}
		if got := PadLeft(c.in, c.width); got != c.left {
			t.Errorf("PadLeft(%q, %d) = %q, want %q", c.in, c.width, got, c.left)
		}
	}
}

// graphemes are what a cut may never go through.
func graphemes(s string) []string {
	var all []string
	for s != "" {
		first, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		all = append(all, first)
		s = s[len(first):]
	}
	return all
}

// startsWith reports whether part is a whole number of s's first graphemes.
func startsWith(s, part []string) bool {
	return len(part) <= len(s) && strings.Join(s[:len(part)], "") == strings.Join(part, "")
}

func TestCutsFitAndFallBetweenGraphemes(t *testing.T) {
	cluster := rapid.SampledFrom([]string{"a", ":", "字", "🇩🇪", "👩\u200d👧", "e\u0301", "각", "-", "\u1112\u1161"})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(cluster, 0, 12).Draw(t, "clusters"), "")
		width := rapid.IntRange(-1, 20).Draw(t, "width")
		all := graphemes(s)
		for name, got := range map[string]string{"Truncate": Truncate(s, width, Tilde), "Middle": Middle(s, width, Tilde)} {
			if w := ansi.StringWidth(got); w > max(0, width) {
				t.Fatalf("%s(%q, %d) = %q is %d wide", name, s, width, got, w)
			}
			head, tail, cut := strings.Cut(got, Tilde)
			if !cut {
				if got != s && width > 0 {
					t.Fatalf("%s(%q, %d) = %q cuts without a mark", name, s, width, got)
				}
				continue
			}
			if !startsWith(all, graphemes(head)) || !strings.HasSuffix(s, tail) || len(tail) > 0 && !startsWith(all[len(all)-len(graphemes(tail)):], graphemes(tail)) {
				t.Fatalf("%s(%q, %d) = %q cuts through a grapheme", name, s, width, got)
			}
		}
		if w := ansi.StringWidth(PadRight(Truncate(s, width, Tilde), width)); w != max(0, width) {
			t.Fatalf("a cell of %d is %d wide", width, w)
		}
	})
}
