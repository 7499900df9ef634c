package ui

import (
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"bucketop/internal/textsafe"
)

// maxFieldRunes bounds what a field takes: more than any rate, capacity or
// duration needs, and as much reason as an audit line shows.
const maxFieldRunes = 120

// textField is one line that is typed into. It is not bubbles' textinput
// because its cursor has to be a character (without colour a reversed cell is
// no cursor at all), must not blink (each blink is a message and a redraw), and
// its text must be escaped: it may have come from a paste.
type textField struct {
	text []rune
	at   int // the cursor stands before text[at]
}

func newTextField(text string) textField {
	f := textField{}
	f.insert([]rune(text))
	return f
}

// String is the text as typed, without the spaces at its ends.
func (f textField) String() string { return strings.TrimSpace(string(f.text)) }

// empty reports whether nothing is typed.
func (f textField) empty() bool { return f.String() == "" }

// key applies an editing key and reports whether it was one. Pasted text is
// text whatever it contains.
func (f *textField) key(msg tea.KeyMsg) bool {
	switch msg.Type {
	case tea.KeyRunes:
		if msg.Alt {
			return false
		}
		f.insert(msg.Runes)
	case tea.KeySpace:
		f.insert([]rune{' '})
	case tea.KeyBackspace, tea.KeyCtrlH:
		f.remove(f.at-1, f.at)
	case tea.KeyDelete, tea.KeyCtrlD:
		f.remove(f.at, f.at+1)
	case tea.KeyCtrlU:
		f.remove(0, f.at)
	case tea.KeyCtrlK:
		f.remove(f.at, len(f.text))
	case tea.KeyCtrlW:
		f.remove(f.wordStart(), f.at)
	case tea.KeyLeft, tea.KeyCtrlB:
		f.at = max(0, f.at-1)
	case tea.KeyRight, tea.KeyCtrlF:
		f.at = min(len(f.text), f.at+1)
	case tea.KeyHome, tea.KeyCtrlA:
		f.at = 0
	case tea.KeyEnd, tea.KeyCtrlE:
		f.at = len(f.text)
	default:
		return false
	}
	return true
}

// insert puts text before the cursor. Line breaks and tabs of a paste become
// nothing: a pasted line must not look like two fields.
func (f *textField) insert(text []rune) {
	for _, r := range text {
		if len(f.text) >= maxFieldRunes || unicode.IsControl(r) {
			continue
		}
		f.text = append(f.text, 0)
		copy(f.text[f.at+1:], f.text[f.at:])
		f.text[f.at] = r
		f.at++
	}
}

func (f *textField) remove(from, to int) {
	from, to = max(0, from), min(len(f.text), to)
	if from >= to {
		return
	}
	f.text = append(f.text[:from:from], f.text[to:]...)
	if f.at > from {
		f.at = max(from, f.at-(to-from))
	}
}

// wordStart is where the word before the cursor begins.
func (f textField) wordStart() int {
	at := f.at
	for at > 0 && f.text[at-1] == ' ' {
		at--
	}
	for at > 0 && f.text[at-1] != ' ' {
		at--
	}
	return at
}

// fieldCursor is drawn at the cursor of the focused field.
const fieldCursor = "_"

// view draws the field in exactly width cells. The part around the cursor is
// shown when the text is longer.
func (f textField) view(width int, focused, ascii bool) string {
	if width < 1 {
		return ""
	}
	before, after := f.cells(f.text[:f.at], ascii), f.cells(f.text[f.at:], ascii)
	if !focused {
		mark := textsafe.Ellipsis
		if ascii {
			mark = textsafe.Tilde
		}
		whole := strings.Join(before, "") + strings.Join(after, "")
		return textsafe.PadRight(textsafe.Truncate(whole, width, mark), width)
	}
	shown, room := fieldCursor, width-1
	for i := len(before) - 1; i >= 0 && ansi.StringWidth(before[i]) <= room; i-- {
		shown, room = before[i]+shown, room-ansi.StringWidth(before[i])
	}
	for _, cell := range after {
		if ansi.StringWidth(cell) > room {
			break
		}
		shown, room = shown+cell, room-ansi.StringWidth(cell)
	}
	return textsafe.PadRight(shown, width)
}

// cells are the runes as they may be drawn. A typed backslash stays one: here
// nothing has to be told apart.
func (f textField) cells(text []rune, ascii bool) []string {
	cells := make([]string, 0, len(text))
	for _, r := range text {
		switch {
		case r >= ' ' && r <= '~':
			cells = append(cells, string(r))
		case ascii:
			cells = append(cells, textsafe.EscapeASCII(string(r)))
		default:
			cells = append(cells, textsafe.Escape(string(r)))
		}
	}
	return cells
}
