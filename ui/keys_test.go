package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"bucketop/internal/watch"
)

// TestKeys is the table of what keys do: where from, which keys, what is wanted
// of the state after them.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
		want func(b *bench) bool
	}{
		{"down", []string{"down", "j"}, func(b *bench) bool { return b.list.cursor == "geocode:{acme}:eu" }},
		{"up stops at the first", []string{"down", "up", "k"}, func(b *bench) bool { return b.list.cursor == "geo:py" }},
		{"end", []string{"G"}, func(b *bench) bool { return b.list.cursor == "sms:fr" }},
		{"home", []string{"end", "g"}, func(b *bench) bool { return b.list.cursor == "geo:py" }},
		{"page", []string{"pgdown"}, func(b *bench) bool { return b.list.at == 13 }},
		{"enter opens", []string{"down", "enter"}, func(b *bench) bool { return b.shown() == onDetail && opens(b) == "stripe:charge" }},
		{"esc goes back", []string{"enter", "esc"}, func(b *bench) bool { return b.shown() == onList }},
		{"w", []string{"w"}, func(b *bench) bool { return b.shown() == onWorkers }},
		{"v", []string{"v"}, func(b *bench) bool { return b.shown() == onEvents }},
		{"w and v don't pile up", []string{"w", "v", "w", "v", "w"}, func(b *bench) bool { return len(b.screens) == 2 }},
		{"an event opens its bucket", []string{"v", "j", "enter"}, func(b *bench) bool { return opens(b) == "stripe:charge" }},
		{"a worker opens its bucket", []string{"w", "enter"}, func(b *bench) bool { return opens(b) == "geocode:{acme}:eu" }},
		{"w in a bucket shows its workers", []string{"down", "enter", "w"}, func(b *bench) bool { return strings.Contains(b.View(), "of stripe:charge, w shows all") }},
		{"and w again all", []string{"down", "enter", "w", "w"}, func(b *bench) bool { return strings.Contains(b.View(), "WORKERS  1 silent") }},
		{"? opens help", []string{"?"}, func(b *bench) bool { return b.shown() == onHelp }},
		{"? closes help", []string{"?", "?"}, func(b *bench) bool { return b.shown() == onList }},
		{"filter", []string{"/", "g", "E", "o", "enter"}, func(b *bench) bool { return len(b.list.rows) == 3 && !b.list.typing }},
		{"filter is literal", []string{"/", "e", ".", "y"}, func(b *bench) bool { return len(b.list.rows) == 0 }},
		{"esc clears the filter", []string{"/", "g", "e", "o", "enter", "esc"}, func(b *bench) bool { return len(b.list.rows) == 14 }},
		{"letters of a filter are no keys", []string{"/", "q", "R", "X", "p"}, func(b *bench) bool { return b.list.typing && b.top() == nil && !b.paused }},
		{"arrows leave the filter", []string{"/", "m", "a", "i", "l", "down"}, func(b *bench) bool { return b.list.cursor == "mail:pop" }},
		{"sort by name", []string{"s"}, func(b *bench) bool { return b.list.rows[0] == "crm:sync:contacts-nightly-eu" }},
		{"sort by waiting", []string{"s", "s", "s"}, func(b *bench) bool { return b.list.rows[0] == "llm:{gpt}:tpm" }},
		{"sort comes round", []string{"s", "s", "s", "s"}, func(b *bench) bool { return b.list.rows[0] == "geo:py" }},
		{"mark", []string{"down", " "}, func(b *bench) bool { return b.list.marks["stripe:charge"] }},
		{"unmark", []string{"down", " ", " "}, func(b *bench) bool { return len(b.list.marks) == 0 }},
		{"pause", []string{"p"}, func(b *bench) bool { return b.paused && b.source.paused }},
		{"go on", []string{"p", "p"}, func(b *bench) bool { return !b.paused && !b.source.paused && b.source.refreshed == 1 }},
		{"refresh", []string{"r"}, func(b *bench) bool { return b.source.refreshed == 1 }},
		{"cost", []string{"c"}, func(b *bench) bool { return strings.Contains(b.View(), "12 calls/s") }},
		{"first alert", []string{"end", "a"}, func(b *bench) bool { return b.list.cursor == "geo:py" }},
		{"second alert is a worker", []string{"a", "a"}, func(b *bench) bool { return b.shown() == onWorkers }},
		{"third alert is back in the list", []string{"a", "a", "a"}, func(b *bench) bool { return b.list.cursor == "llm:{gpt}:tpm" && b.shown() == onList }},
		{"edit", []string{"e"}, func(b *bench) bool { return b.top() != nil }},
		{"reset", []string{"R"}, func(b *bench) bool { return b.top() != nil }},
		{"hold", []string{"H"}, func(b *bench) bool { return b.top() != nil }},
		{"undo", []string{"U"}, func(b *bench) bool { return b.top() != nil }},
		{"delete", []string{"X"}, func(b *bench) bool { return b.top() != nil }},
		{"reset from the detail", []string{"enter", "R"}, func(b *bench) bool { return b.top() != nil }},
		{"not from the workers", []string{"w", "R"}, func(b *bench) bool { return b.top() == nil }},
		{"esc closes a dialog", []string{"R", "esc"}, func(b *bench) bool { return b.top() == nil && b.shown() == onList }},
		{"unknown keys do nothing", []string{"z", "Z", "tab"}, func(b *bench) bool { return b.top() == nil && b.shown() == onList }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, pictureSnapshot(), 80, 24)
			b.press(c.keys...)
			if !c.want(b) {
				t.Errorf("after %q:\n%s", c.keys, b.View())
			}
		})
	}
}

// opens is the bucket that the detail screen shows.
func opens(b *bench) string {
	d, ok := b.screen().(*detailScreen)
	if !ok {
		return ""
	}
	return d.key
}

// quits reports whether a Cmd ends the program.
func quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	_, quit := cmd().(tea.QuitMsg)
	return quit
}

func TestQuitting(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	if cmd := b.send(keyMsg("q")); cmd == nil || b.pending == nil {
		t.Fatal("q did not wait for what comes behind it")
	}
	if !quits(b.send(settledMsg{b.pendingGen})) {
		t.Error("q alone does not quit")
	}
	for _, keys := range [][]string{{}, {"e"}, {"/"}, {"?"}} {
		b := newBench(t, pictureSnapshot(), 80, 24)
		b.press(keys...)
		if !quits(b.send(keyMsg("ctrl+c"))) {
			t.Errorf("ctrl+c does not quit after %q", keys)
		}
	}
}

// TestNothingDangerousInOnePiece sends keys that arrive together, in one
// message, in several, and as a bracketed paste.
func TestNothingDangerousInOnePiece(t *testing.T) {
	for _, keys := range []string{"R", "H", "U", "X", "e", "q", "ctrl+z"} {
		for _, other := range []string{"x", "j", "enter"} {
			b := newBench(t, pictureSnapshot(), 80, 24)
			b.pressAtOnce(keys, other)
			if b.top() != nil {
				t.Errorf("%s then %s opened a dialog", keys, other)
			}
			b.pressAtOnce(other, keys)
			if b.top() != nil {
				t.Errorf("%s then %s opened a dialog", other, keys)
			}
		}
		b := newBench(t, pictureSnapshot(), 80, 24)
		b.local = b.local.Add(time.Second)
		if cmd := b.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(keys + "x")}); quits(cmd) || b.top() != nil {
			t.Errorf("%q in one message did something", keys+"x")
		}
		b.local = b.local.Add(time.Second)
		if cmd := b.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(keys), Paste: true}); quits(cmd) || b.top() != nil {
			t.Errorf("%q pasted did something", keys)
		}
	}
}

// TestABurstSaysThatItWasIgnored, for a person behind a slow line wonders.
func TestABurstSaysThatItWasIgnored(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.pressAtOnce("j", "R")
	b.want("R ignored: it came in one piece with other keys")
	b.press("j")
	if strings.Contains(b.View(), "ignored") {
		t.Error("the line stayed after the next key")
	}
}

// TestRunesInOneMessageAreKeys: bubbletea makes one message of what it reads
// together.
func TestRunesInOneMessageAreKeys(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jj/geo")})
	if !b.list.typing || b.list.input.Value() != "geo" {
		t.Errorf("typing %v, filter %q", b.list.typing, b.list.input.Value())
	}
}

// TestAPasteMovesNothing, not even the selection.
func TestAPasteMovesNothing(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jjp?"), Paste: true})
	if b.list.at != 0 || b.paused || b.shown() != onList {
		t.Errorf("row %d, paused %v:\n%s", b.list.at, b.paused, b.View())
	}
}

// TestPasteIntoTheFilter is the one place on a screen where a paste counts.
func TestPasteIntoTheFilter(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.press("/")
	b.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("geocode:{acme}\nR"), Paste: true})
	if b.top() != nil || !strings.HasPrefix(b.list.input.Value(), "geocode:{acme}") {
		t.Errorf("filter %q", b.list.input.Value())
	}
}

// probe is a dialog that records what reaches it.
type probe struct {
	pendingView
	keys   []string
	bursts []bool
}

func (p *probe) update(msg tea.Msg, a *app) (dialog, tea.Cmd) {
	if k, ok := msg.(tea.KeyMsg); ok {
		p.keys, p.bursts = append(p.keys, k.String()), append(p.bursts, a.burst)
	}
	return p, nil
}

func TestADialogIsDeafAtFirst(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	p := &probe{}
	b.open(p)
	b.local = b.local.Add(249 * time.Millisecond)
	b.send(keyMsg("f"))
	b.local = b.local.Add(time.Millisecond + burstGap)
	b.send(keyMsg("g"))
	if strings.Join(p.keys, "") != "g" {
		t.Errorf("heard %q, want only g", p.keys)
	}
}

// TestADialogKnowsABurst, and never gets enter out of one.
func TestADialogKnowsABurst(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	p := &probe{}
	b.open(p)
	b.pressAtOnce("y", "enter")
	b.press("y")
	b.press("enter")
	want := []string{"y", "y", "enter"}
	if strings.Join(p.keys, " ") != strings.Join(want, " ") {
		t.Fatalf("heard %q, want %q", p.keys, want)
	}
	if !p.bursts[0] || p.bursts[1] || p.bursts[2] {
		t.Errorf("bursts %v, want only the first", p.bursts)
	}
}

// pendingView is what a dialog in tests draws.
type pendingView struct{}

func (pendingView) view(*app, int, int) string { return "?" }
func (pendingView) help() []key.Binding        { return nil }

func TestReadOnlyAndLostRefuseChanges(t *testing.T) {
	for _, c := range []struct {
		name     string
		snap     *watch.Snapshot
		readOnly bool
		want     string
	}{
		{"read-only", pictureSnapshot(), true, "Read-only"},
		{"lost", lostSnapshot(), false, "Redis is lost"},
		{"connecting", connectingSnapshot(), false, "Not connected yet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, change := range []string{"e", "R", "H", "U", "X"} {
				b := newBench(t, c.snap, 80, 24)
				b.admin.readOnly = c.readOnly
				if strings.Contains(b.View(), "R reset  ") {
					t.Error("the footer offers R")
				}
				b.press(change)
				if b.top() != nil {
					t.Errorf("%s opened a dialog", change)
				}
				b.want(c.want)
			}
		})
	}
}
