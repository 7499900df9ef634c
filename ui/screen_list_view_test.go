package ui

import (
	"strings"
	"testing"
)

// TestMatchIsNotAskedForTwice: who gave a pattern is not told to give one.
func TestMatchIsNotAskedForTwice(t *testing.T) {
	hint, matching := "foreign keys: --match", "No bucket of another program that matches 'geo:*\\x1b' was found so far."
	for _, match := range []string{"", "geo:*\x1b"} {
		full, empty := pictureSnapshot(), emptySnapshot()
		full.Match, empty.Match = match, match
		if drawn := newBench(t, full, 120, 32).View(); strings.Contains(drawn, hint) != (match == "") {
			t.Errorf("match %q:\n%s", match, drawn)
		}
		if drawn := newBench(t, empty, 120, 32).View(); strings.Contains(drawn, matching) != (match != "") || strings.Contains(drawn, "--match") != (match == "") {
			t.Errorf("match %q, nothing found:\n%s", match, drawn)
		}
	}
}
