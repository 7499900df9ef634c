package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	"github.com/charmbracelet/x/ansi"
)

// newInput returns a one-line text field. It is drawn by drawInput: the
// widget's own cursor is reverse video, which NO_COLOR takes away.
func newInput(value string, most int) textinput.Model {
	in := textinput.New()
	in.Prompt = ""
	in.CharLimit = most
	in.SetValue(value)
	in.CursorEnd()
	in.Focus()
	return in
}

// drawInput draws a field in exactly width cells, with the caret before the
// character it stands at where it is focused. A text longer than that is shown
// around the caret.
func (a *app) drawInput(in textinput.Model, width int, focused bool) string {
	runes := []rune(in.Value())
	at := min(in.Position(), len(runes))
	left, right := a.escInput(runes[:at]), a.escInput(runes[at:])
	caret := ""
	if focused {
		caret = a.caret
	}
	room := max(0, width-textCells(caret))
	if over := textCells(left) - room; over > 0 {
		left = ansi.TruncateLeft(left, over, "")
	}
	line := ansi.Truncate(left+caret+right, max(0, width), "")
	return line + strings.Repeat(" ", max(0, width-textCells(line)))
}

// escInput escapes what somebody typed or pasted. Unlike a name it may begin
// and end with a space while it is being typed.
func (a *app) escInput(runes []rune) string {
	text := string(runes)
	inner := strings.Trim(text, " ")
	if inner == "" {
		return text
	}
	start := strings.Index(text, inner)
	return text[:start] + a.esc(inner) + text[start+len(inner):]
}
