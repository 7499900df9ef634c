package ui

import (
	"strings"
	"testing"
)

// TestNoKeyMeansTwoThings on one screen, and that each action can be explained.
func TestNoKeyMeansTwoThings(t *testing.T) {
	for on := onList; on <= onHelp; on <<= 1 {
		seen := map[string]string{}
		for _, act := range newActions() {
			if act.on&on == 0 {
				continue
			}
			for _, k := range act.keys {
				if other, taken := seen[k]; taken {
					t.Errorf("screen %d: %q means %q and %q", on, k, other, act.about)
				}
				seen[k] = act.about
			}
		}
	}
}

// TestCapitalsChangeThings, small letters look; e opens a form.
func TestCapitalsChangeThings(t *testing.T) {
	for _, act := range newActions() {
		for _, k := range act.keys {
			capital := len(k) == 1 && k >= "A" && k <= "Z"
			if want := (capital && k != "G") || k == "e"; act.changes != want {
				t.Errorf("%q: changes %v, want %v", k, act.changes, want)
			}
		}
	}
}

// TestHelpNamesEveryKey, and so does the README's table.
func TestHelpNamesEveryKey(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 200)
	b.press("?")
	screen, table := b.View(), KeysMarkdown()
	for _, act := range newActions() {
		if act.about == "" {
			continue
		}
		b.want("  " + act.label + " ")
		first, _, _ := strings.Cut(act.about, ";")
		if !strings.Contains(table, first) {
			t.Errorf("%q is not in\n%s", first, table)
		}
		for _, k := range strings.Fields(act.label) {
			if !strings.Contains(table, "`"+k+"`") {
				t.Errorf("%q is not in\n%s", k, table)
			}
		}
	}
	if strings.Contains(screen, "not now") {
		t.Error("help says that something can't be changed now")
	}
	b.admin.readOnly = true
	b.send(tickMsg{b.tickGen})
	b.want("(not now)", "Read-only")
}
