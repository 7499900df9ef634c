package ui

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// feedTerminal reads chunks, one read each, through a terminalInput that has
// asked, and returns what is left as keys and what was told.
func feedTerminal(t *testing.T, chunks ...string) (keys string, told []tea.Msg) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	in := &terminalInput{File: r, tell: func(m tea.Msg) { told = append(told, m) }}
	in.ask(io.Discard)
	buf := make([]byte, 256)
	var out strings.Builder
	for _, chunk := range chunks {
		if _, err := w.WriteString(chunk); err != nil {
			t.Fatal(err)
		}
		n, err := in.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(buf[:n])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Read(buf); !errors.Is(err, io.EOF) {
		t.Fatalf("at the end: %v", err)
	}
	return out.String(), told
}

func TestBackgroundAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		chunks []string
		keys   string
		told   []tea.Msg
	}{
		{"none", []string{"abc"}, "abc", nil},
		{"dark", []string{"a\x1b]11;rgb:1a1a/1b1b/2626\x07b"}, "ab", []tea.Msg{backgroundMsg{true}}},
		{"light", []string{"\x1b]11;rgb:ff/ff/ee\x1b\\"}, "", []tea.Msg{backgroundMsg{false}}},
		{"in pieces", []string{"x\x1b]11;rg", "b:ffff/ffff/", "ffff\x07y"}, "xy", []tea.Msg{backgroundMsg{false}}},
		{"not understood", []string{"\x1b]11;blue\x07z"}, "z", nil},
		{"only the first", []string{"\x1b]11;rgb:0/0/0\x07", "\x1b]11;rgb:f/f/f\x07"}, "\x1b]11;rgb:f/f/f\x07", []tea.Msg{backgroundMsg{true}}},
		{"no end", []string{"\x1b]11;" + strings.Repeat("x", answerMost)}, "\x1b]11;" + strings.Repeat("x", answerMost), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			keys, told := feedTerminal(t, c.chunks...)
			want := append(c.told, tea.Msg(stopMsg{ErrHangup}))
			if keys != c.keys || len(told) != len(want) || told[0] != want[0] {
				t.Errorf("keys %q, told %v, want %q, %v", keys, told, c.keys, want)
			}
		})
	}
}

func TestLightByEnvironment(t *testing.T) {
	for colors, want := range map[string]bool{"": false, "15;0": false, "0;15": true, "0;default;7": true, "7": true} {
		if got := lightByEnvironment(colors); got != want {
			t.Errorf("COLORFGBG=%q: light %v", colors, got)
		}
	}
}

// TestPanicsBecomeErrors wherever they happen, and bubbletea sees none.
func TestPanicsBecomeErrors(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	msg := guarded(func() tea.Msg { panic("in a Cmd") })()
	if !quits(b.send(msg)) {
		t.Error("a panic in a Cmd does not end the console")
	}
	checkPanic(t, b.fatal, "in a Cmd")

	batch, ok := guarded(tea.Batch(func() tea.Msg { panic("in a batch") }, func() tea.Msg { return nil }))().(tea.BatchMsg)
	if !ok {
		t.Fatal("no batch")
	}
	b.send(batch[0]())
	checkPanic(t, b.fatal, "in a batch")

	b = newBench(t, pictureSnapshot(), 80, 24)
	b.source.snap = nil
	if !quits(b.send(tickMsg{b.tickGen})) {
		t.Error("a panic in Update does not end the console")
	}
	checkPanic(t, b.fatal, "nil pointer")

	b = newBench(t, pictureSnapshot(), 80, 24)
	b.open(brokenDialog{&probe{}})
	b.View()
	checkPanic(t, b.fatal, "in a view")
	if b.ctx.Err() == nil {
		t.Error("a panic in View does not end the console")
	}
}

// brokenDialog panics when drawn.
type brokenDialog struct{ *probe }

func (brokenDialog) view(*app, int, int) string { panic("in a view") }

func checkPanic(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "_test.go") && !strings.Contains(err.Error(), "ui.") {
		t.Errorf("%q is not in %v", want, err)
	}
}
