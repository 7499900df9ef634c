package schema

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCheck(t *testing.T) {
	keys, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{
		"a":                 true,
		"geocode:{acme}:eu": true,
		"{a}":               true,
		"a{b}c{d}":          true,
		"}a{b}":             true,
		"a\x1b]0;x\x07":     true,
		"\xff\xfe":          true,
		"":                  false,
		"{}":                false,
		"{}a{b}":            false,
		"a{b":               false,
		"a}b":               false,
		"bucketctl:limit:x": false,
		"bucketctl":         true,
	} {
		if got := keys.Check(name) == nil; got != ok {
			t.Errorf("Check(%q) accepted: %v, want %v", name, got, ok)
		}
	}
}

func TestNamespaceHasNoBraces(t *testing.T) {
	if _, err := New("a{b}"); err == nil {
		t.Error("a namespace with braces was accepted")
	}
}

// tagOf is Redis Cluster's rule, written down again on purpose.
func tagOf(key string) string {
	_, after, found := strings.Cut(key, "{")
	if !found {
		return key
	}
	tag, _, found := strings.Cut(after, "}")
	if !found || tag == "" {
		return key
	}
	return tag
}

func TestSiblingsShareTheSlotAndNeverCollide(t *testing.T) {
	keys, err := New("ns")
	if err != nil {
		t.Fatal(err)
	}
	name := rapid.StringOf(rapid.SampledFrom([]rune("ab{}:=")))
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		if keys.Check(a) != nil || keys.Check(b) != nil {
			return
		}
		for _, sibling := range []func(string) string{keys.Limit, keys.Log, keys.Workers} {
			if got, want := tagOf(sibling(a)), tagOf(a); got != want {
				t.Fatalf("%q hashes by %q, its sibling %q by %q", a, want, sibling(a), got)
			}
			if a != b && sibling(a) == sibling(b) {
				t.Fatalf("%q and %q share the sibling %q", a, b, sibling(a))
			}
		}
	})
}
