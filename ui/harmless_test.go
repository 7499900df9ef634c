package ui

import (
	"fmt"
	"os"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/internal/watch"
)

// everyScreen are the keys that lead to each screen, and to each dialog.
var everyScreen = []string{"", "enter", "w", "v", "?", "c", "/ a", "p", "e", "R", "H", "U", "X"}

// TestNothingFromRedisReachesTheTerminal draws names that a terminal would obey
// on every screen. The console in tests has no colours, so that any control
// byte came from a name.
func TestNothingFromRedisReachesTheTerminal(t *testing.T) {
	t.Parallel()
	for _, keys := range everyScreen {
		t.Run(keys, func(t *testing.T) {
			t.Parallel()
			for _, ascii := range []bool{false, true} {
				for i := range hostileNames {
					checkHarmlessRow(t, i, keys, ascii)
				}
			}
		})
	}
}

// checkHarmlessRow goes to a row by its number, and on by keys.
func checkHarmlessRow(t *testing.T, row int, keys string, ascii bool) {
	t.Helper()
	name := hostileNames[row]
	b := newBenchWith(t, hostileSnapshot(), 80, 40, Config{ASCII: ascii, Title: hostileNames[0]})
	b.blind = true
	for range row {
		b.press("down")
	}
	b.blind = false
	for _, k := range strings.Fields(keys) {
		b.press(k)
	}
	b.press("copied nothing") // a burst: a notice about it may show
	checkHarmless(t, fmt.Sprintf("%q on %q", keys, name), b.View(), ascii)
	b.send(changeDone{key: name, what: name, err: fmt.Errorf("%s", name)})
	checkHarmless(t, fmt.Sprintf("%q and an error on %q", keys, name), b.View(), ascii)
}

func checkHarmless(t *testing.T, what, screen string, ascii bool) {
	t.Helper()
	for _, r := range screen {
		if r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e || r == 0x200b || r == 0x200d || ascii && r > 0x7e {
			t.Fatalf("%s: %U is on the screen:\n%q", what, r, screen)
		}
	}
}

// TestNoScreenIsWiderOrTallerThanTheWindow tries every size that is likely to
// break something, and many others, with every screen and dialog, and comes
// back to a usual one.
func TestNoScreenIsWiderOrTallerThanTheWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		snap    func() *watch.Snapshot
		screens []string
	}{
		{"hostile ", hostileSnapshot, everyScreen}, {"picture ", pictureSnapshot, []string{"", "enter", "e"}},
		{"lost ", lostSnapshot, []string{"", "enter"}}, {"empty ", emptySnapshot, []string{"", "w", "v"}},
		{"connecting ", connectingSnapshot, []string{""}},
	} {
		for _, keys := range c.screens {
			t.Run(c.name+keys, func(t *testing.T) {
				t.Parallel()
				checkAllSizes(t, c.snap(), keys)
			})
		}
	}
}

func checkAllSizes(t *testing.T, snap *watch.Snapshot, keys string) {
	t.Helper()
	b := newBench(t, snap, 80, 24)
	for _, k := range strings.Fields(keys) {
		b.press(k)
	}
	before := b.View()
	for _, w := range sizes(200, 23, 2, leastWidth-1, leastWidth+3) {
		for _, h := range sizes(60, 13, 2, leastHeight-1, 13) {
			b.app.Update(tea.WindowSizeMsg{Width: w, Height: h})
			checkSize(t, keys, b.View(), w, h)
		}
	}
	b.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	if after := b.View(); after != before && len(b.dialogs) == 0 {
		t.Errorf("%q is another screen after all sizes:\n%s\nbefore:\n%s", keys, after, before)
	}
}

// sizes are every stride-th up to most, all below few, and all around the least
// size that is drawn, from a to b.
func sizes(most, stride, few, a, b int) []int {
	var out []int
	for n := 0; n <= most; n++ {
		if n < few || n >= a && n <= b || n%stride == 0 || n == most {
			out = append(out, n)
		}
	}
	return out
}

func checkSize(t *testing.T, keys, screen string, w, h int) {
	t.Helper()
	lines := strings.Split(screen, "\n")
	if len(lines) > max(1, h) {
		t.Fatalf("%q at %dx%d: %d lines", keys, w, h, len(lines))
	}
	for _, line := range lines {
		got := textCells(line)
		if bound := atMost(line); bound < got {
			t.Fatalf("%q is said to take at most %d cells and takes %d", line, bound, got)
		}
		if got > w {
			t.Fatalf("%q at %dx%d: %d cells: %q", keys, w, h, got, line)
		}
	}
}

// TestNoColorWritesNoSequence also holds for bold: words and characters say it
// all.
func TestNoColorWritesNoSequence(t *testing.T) {
	b := newBenchWith(t, pictureSnapshot(), 80, 24, Config{NoColor: true, output: os.Stdout})
	b.press("/")
	if screen := b.View(); strings.ContainsRune(screen, 0x1b) {
		t.Errorf("%q", screen)
	}
	b.want("> geo:py", "filter: _", "STUCK 4m")
}

// TestHealthyRowsHaveNoColor and sick ones have the colour of their gravity.
func TestHealthyRowsHaveNoColor(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 120, 24)
	b.styles.alarm = paint{"<alarm>", "</>"}
	b.styles.warn = paint{"<warn>", "</>"}
	b.styles.note = paint{"<note>", "</>"}
	b.list.drawn.forget()
	b.press("end")
	for name, want := range map[string]string{
		"geo:py": "<alarm>", "stripe:charge": "<warn>", "geocode:{acme}:eu": "<warn>", "llm:{gpt}:tpm": "<warn>",
		"geocode:{acme}:us": "", "mail:smtp": "<note>", "rss:{cloudflare}": "", "crm:sync:contacts-nightly-eu": "", "mail:pop": "",
	} {
		row := rowOf(t, b.View(), "   "+name+" ")
		if want == "" && strings.Contains(row, "<") || !strings.Contains(row, want) {
			t.Errorf("%s: %q, want colour %q", name, row, want)
		}
	}
}

// rowOf is the line that begins with prefix.
func rowOf(t *testing.T, screen, prefix string) string {
	t.Helper()
	for _, line := range strings.Split(screen, "\n") {
		if strings.HasPrefix(line, prefix) {
			return line
		}
	}
	t.Fatalf("no line begins with %q:\n%s", prefix, screen)
	return ""
}
