package textsafe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestApartKeepsWhereNamesDiffer(t *testing.T) {
	for _, test := range []struct {
		width       int
		texts, want []string
	}{
		{19, []string{"crm:sync:contacts-nightly-eu", "stripe:charge"}, []string{"crm:sync:contac…-eu", "stripe:charge"}},
		{19, []string{"crm:sync:contacts-nightly-eu", "crm:sync:contacts-weekly-eu"}, []string{"crm:sync…nightly-eu", "crm:sync:…weekly-eu"}},
		{19, []string{"crm:sync:contacts-de-eu", "crm:sync:contacts-fr-eu", "crm:sync:contacts-de-eu"}, []string{"crm:sync:cont…de-eu", "crm:sync:cont…fr-eu", "crm:sync:cont…de-eu"}},
		{12, []string{"user:0000000000000017:eu", "user:0000000000000018:eu"}, []string{"user:00…7:eu", "user:00…8:eu"}},
		{16, []string{"a-long-name-that-goes-on-and-on-eu", "a-long-name-that-stops-here-now-eu"}, []string{"a-lon…goes-o…-eu", "a-lon…stops-…-eu"}},
		{14, []string{"queue:shard-0001", "queue:shard-00017-0001"}, []string{"queue:shard-0…", "queue:s…7-0001"}},
		{12, []string{"日本語の名前は長い一号", "日本語の名前は長い二号"}, []string{"日本語…一号", "日本語…二号"}},
		{12, []string{"abcdefgh…xyz", "abcdefghijklxyz"}, []string{"abcdefgh…xyz", "abcd…ijklxyz"}},
	} {
		if got := Apart(test.texts, test.width, Ellipsis); !slices.Equal(got, test.want) {
			t.Errorf("%q in %d cells:\n got %q\nwant %q", test.texts, test.width, got, test.want)
		}
	}
}

// The names of a large fleet differ in several places, each of which may be the
// one that is cut out.
func TestApartTellsAFleetApart(t *testing.T) {
	var texts []string
	for tenant := range 7 {
		for _, what := range []string{"contacts-nightly", "contacts-weekly", "contacts", "orders-nightly"} {
			for _, region := range []string{"eu", "us"} {
				texts = append(texts, fmt.Sprintf("crm:{tenant-%05d}:sync:%s-%s", 99*tenant, what, region))
			}
		}
	}
	for width := 14; width < 50; width++ {
		alike := map[string]bool{}
		for _, text := range Apart(texts, width, Ellipsis) {
			if alike[text] {
				t.Errorf("in %d cells there are two %q", width, text)
			}
			alike[text] = true
		}
	}
}

// Names of few parts, as hostile as they come: two are always told apart, many
// never become wider or unsafe.
func TestApartOfAnyNames(t *testing.T) {
	start := rapid.SampledFrom([]string{"", "crm:sync:contacts-", "日本語の名前は長い", "contacts-000000000000000000000000000000"})
	part := rapid.SampledFrom([]string{"a", "b", ":", "contacts-", "000000000000", "日", "\x1b[2J", "…", "\\", "\u202e", "é", " "})
	end := rapid.SampledFrom([]string{"", "-eu", "000000000000", "日本"})
	name := rapid.Custom(func(t *rapid.T) string {
		return Escape(start.Draw(t, "start") + strings.Join(rapid.SliceOfN(part, 0, 9).Draw(t, "parts"), "") + end.Draw(t, "end"))
	})
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(name, 2, 30).Draw(t, "texts")
		width := rapid.IntRange(0, 48).Draw(t, "width")
		for i, text := range Apart(texts, width, Ellipsis) {
			if cells := ansi.StringWidth(text); cells > width {
				t.Fatalf("%q is %d cells wide, not %d at most", text, cells, width)
			}
			if ansi.StringWidth(texts[i]) <= width && text != texts[i] {
				t.Fatalf("%q fits and became %q", texts[i], text)
			}
			if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x202e }) {
				t.Fatalf("%q is not safe", text)
			}
		}
		if two := Apart(texts[:2], width, Ellipsis); width >= apartLeast && (two[0] == two[1]) != (texts[0] == texts[1]) {
			t.Fatalf("in %d cells %q become %q", width, texts[:2], two)
		}
	})
}

func BenchmarkApart(b *testing.B) {
	var texts []string
	for i := range 50 {
		texts = append(texts, fmt.Sprintf("crm:sync:contacts-%04d-nightly-eu", i))
	}
	for b.Loop() {
		Apart(texts, 19, Ellipsis)
	}
}
