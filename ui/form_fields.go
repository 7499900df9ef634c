package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"bucketop/internal/textsafe"
)

// maxTyped bounds what a field takes: more than any rate, capacity or duration
// needs, and as much reason as an audit line shows.
const maxTyped = 120

// fieldSet is the fields of a form; one has the focus.
type fieldSet struct {
	fields []textinput.Model
	focus  int
}

func newFieldSet(values ...string) fieldSet {
	set := fieldSet{}
	for _, value := range values {
		in := newInput(value, maxTyped)
		// The terminal pastes; reading the clipboard would run a program of
		// the machine that the console runs on.
		in.KeyMap.Paste.SetEnabled(false)
		set.fields = append(set.fields, in)
	}
	return set
}

// text is what is typed into field i, without the spaces at its ends.
func (f *fieldSet) text(i int) string { return strings.TrimSpace(f.fields[i].Value()) }

// key moves between fields or types into the focused one. What comes in one
// piece is typed, whatever keys it looks like.
func (f *fieldSet) key(msg tea.KeyMsg, burst bool) {
	step := 0
	switch msg.Type {
	case tea.KeyTab, tea.KeyDown:
		step = 1
	case tea.KeyShiftTab, tea.KeyUp:
		step = len(f.fields) - 1
	default:
		// The command is the blinking of a cursor that is never drawn.
		f.fields[f.focus], _ = f.fields[f.focus].Update(msg)
		return
	}
	if !burst {
		f.focus = (f.focus + step) % len(f.fields)
	}
}

// choice is the last question of a form: whether to write. Cancel has the focus
// at first, and moving is one key, writing another.
type choice struct{ apply bool }

// key handles a key; chosen reports whether the question is answered.
func (c *choice) key(msg tea.KeyMsg, burst bool) (chosen bool) {
	if burst {
		return false
	}
	switch msg.Type {
	case tea.KeyTab, tea.KeyShiftTab:
		c.apply = !c.apply
	case tea.KeyLeft:
		c.apply = false
	case tea.KeyRight:
		c.apply = true
	case tea.KeyEnter:
		return true
	default: // means nothing here
	}
	return false
}

// draw puts the two answers into the foot; the focus is a character, not only
// a colour. What stands behind the comma of cancel is said where there is room.
func (c choice) draw(p *page, cancel, apply string) {
	if p.narrow() {
		cancel, _, _ = strings.Cut(cancel, ",")
	}
	no, yes := p.strong.text(p.cursor+" "+cancel), p.dim.text("  "+apply)
	if c.apply {
		no, yes = p.dim.text("  "+cancel), p.strong.text(p.cursor+" "+apply)
	}
	p.foot = append(p.foot, " "+no+"   "+yes)
}

// table is the columns of a form, as wide as the terminal allows; a column of
// width 0 is dropped.
type table struct{ label, declared, inForce, field, note int }

const tableLabel = 12 // the focus mark and the longest label

// formTable shares out width: the notes go first, then what is declared, then
// what is in force.
func formTable(width int) table {
	switch {
	case width >= 73:
		return table{label: tableLabel, declared: 11, inForce: 18, field: 18, note: width - 61}
	case width >= 60:
		return table{label: tableLabel, declared: 11, inForce: 18, field: width - 42}
	case width >= 49:
		return table{label: tableLabel, inForce: 18, field: width - 31}
	case width >= 36:
		return table{label: tableLabel, inForce: 10, field: width - 23}
	case width > tableLabel+3:
		return table{label: tableLabel, field: width - tableLabel}
	}
	return table{field: width}
}

// tableRow is one row of a form, raw but for field, which is drawn.
type tableRow struct {
	label, declared, inForce string
	field, note              string
	focused                  bool
}

func (t table) draw(st *styles, r tableRow) string {
	mark := "   "
	if r.focused {
		mark = " " + st.cursor + " "
	}
	line := ""
	if t.label > 0 {
		label := mark + textsafe.PadRight(r.label, t.label-len(mark))
		if r.focused {
			label = st.strong.text(label)
		}
		line += label
	}
	line += t.cell(st, r.declared, t.declared) + t.cell(st, r.inForce, t.inForce) + r.field
	if t.note > 0 && r.note != "" {
		line += "  " + st.dim.text(textsafe.Truncate(st.esc(r.note), t.note-2, st.ellipsis))
	}
	return line
}

// cell is one raw text in a column, with a space behind it.
func (t table) cell(st *styles, text string, width int) string {
	if width == 0 {
		return ""
	}
	return textsafe.PadRight(textsafe.Truncate(st.esc(text), width-1, st.ellipsis), width)
}

// box draws a field in its brackets.
func (t table) box(a *app, in textinput.Model, focused bool) string {
	const brackets = 4 // "[ " and " ]"
	if t.field <= brackets {
		return a.drawInput(in, t.field, focused)
	}
	inner := a.drawInput(in, t.field-brackets, focused)
	if focused {
		inner = a.note.text(inner)
	}
	return "[ " + inner + " ]"
}

// head draws the names of the columns.
func (t table) head(st *styles, field string) string {
	line := textsafe.PadRight("", t.label) + t.cell(st, "DECLARED", t.declared) + t.cell(st, "IN FORCE", t.inForce)
	return st.dim.text(ansi.Truncate(line+field, t.label+t.declared+t.inForce+t.field, ""))
}
