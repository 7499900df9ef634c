package ui

import (
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// dialog is a form or question on top of a screen. It is asked first for every
// key, and it is told every message that the app does not keep for itself:
// changeDone and gotEvents with the ids it asked under, tea.ResumeMsg after a
// suspension, snapshotMsg when another snapshot came in.
//
// Dialogs are pointers, so that the app can tell one from the next.
//
// Two rules that a dialog has to keep itself, since only it knows which of its
// keys writes:
//
//   - while a.burst is true, the key arrived in one piece with others (a paste,
//     bracketed or not). It may be typed into a field, but it must not write,
//     confirm or move on. The app drops enter of a burst.
//   - before it writes it asks a.blocked(), which is a sentence when nothing may
//     be written now.
type dialog interface {
	update(msg tea.Msg, a *app) (dialog, tea.Cmd) // returns nil when closed
	view(a *app, width, height int) string        // the area below the header line; never wider or taller
	help() []key.Binding                          // for the footer
}

// deafFor is how long a new dialog ignores keys: one that was meant for the
// screen below must not answer a question that nobody has read.
const deafFor = 250 * time.Millisecond

// open puts d on top of whatever is shown.
func (a *app) open(d dialog) {
	a.dialogs = append(a.dialogs, d)
	a.openedAt = a.now()
}

// top returns the dialog that is asked first, or nil.
func (a *app) top() dialog {
	if len(a.dialogs) == 0 {
		return nil
	}
	return a.dialogs[len(a.dialogs)-1]
}

// dialogKey hands a key to the top dialog, unless that is still deaf.
func (a *app) dialogKey(msg tea.KeyMsg) tea.Cmd {
	if a.now().Sub(a.openedAt) < deafFor {
		return nil
	}
	if a.burst && msg.Type == tea.KeyEnter {
		return nil
	}
	return a.tellDialog(len(a.dialogs)-1, msg)
}

// tellDialogs hands a message that is no key to every open dialog: a form
// below a question may be waiting for a reply too.
func (a *app) tellDialogs(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for i := len(a.dialogs) - 1; i >= 0; i-- {
		cmds = append(cmds, a.tellDialog(i, msg))
	}
	return tea.Batch(cmds...)
}

// tellDialog updates the dialog at i and keeps, replaces or removes it.
func (a *app) tellDialog(i int, msg tea.Msg) tea.Cmd {
	before := a.dialogs[i]
	after, cmd := before.update(msg, a)
	switch {
	case after == nil:
		a.dialogs = append(a.dialogs[:i:i], a.dialogs[i+1:]...)
	case after != before:
		a.dialogs[i] = after
		a.openedAt = a.now()
	}
	return cmd
}
