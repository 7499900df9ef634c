package ui

import (
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
)

// listScreen is the first screen: the buckets, worst first.
type listScreen struct {
	index  map[string]int // bucket -> place in the snapshot
	order  []string       // all keys in the order shown, also some that are gone
	rows   []string       // those of them that the filter lets through
	stale  bool           // order is kept although the data asks for another
	cursor string         // the selected key: the selection follows it, never the row
	at     int            // where the cursor is in rows
	first  int            // first row in the window
	window int            // rows in the window, as last drawn

	sort   sortBy
	marks  map[string]bool
	filter string                // lower case
	match  func(key string) bool // what the filter lets through; nil: all
	input  textinput.Model
	typing bool // the filter is being typed

	drawn drawnRows
}

func newListScreen() *listScreen {
	return &listScreen{marks: map[string]bool{}, input: newInput("", 200), window: 1}
}

func (l *listScreen) place() place { return onList }

func (l *listScreen) selected(*app) (string, bool) { return l.cursor, l.cursor != "" }

func (l *listScreen) move(_ *app, by int) {
	if len(l.rows) == 0 {
		return
	}
	l.put(max(0, min(len(l.rows)-1, l.at+by)))
}

func (l *listScreen) page(a *app, by int) { l.move(a, by*max(1, l.window-1)) }

// put selects a row.
func (l *listScreen) put(at int) {
	l.at, l.cursor = at, l.rows[at]
	l.scroll()
}

// jump selects a bucket wherever it is; it reports whether it is shown.
func (l *listScreen) jump(key string) bool {
	for i, k := range l.rows {
		if k == key {
			l.put(i)
			return true
		}
	}
	return false
}

// scroll moves the window no further than the cursor needs.
func (l *listScreen) scroll() {
	l.first = min(l.first, l.at)
	l.first = max(l.first, l.at-l.window+1)
	l.first = max(0, min(l.first, len(l.rows)-l.window))
}

// visible are the keys in the window and the selected one.
func (l *listScreen) visible() []string {
	end := min(len(l.rows), l.first+l.window)
	return l.rows[min(l.first, end):end]
}

// typeKey edits the filter; the list follows each key.
func (l *listScreen) typeKey(a *app, msg tea.KeyMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		l.typing = false
		return nil
	case "esc":
		return a.clearFilter()
	case "up", "down", "pgup", "pgdown":
		l.typing = false
		if act, found := a.find(msg.String(), onList); found {
			return act.do(a)
		}
		return nil
	}
	l.input, _ = l.input.Update(msg)
	l.narrow(a)
	return nil
}

func (a *app) startFilter() tea.Cmd {
	a.list.typing = true
	a.list.input.CursorEnd()
	return nil
}

func (a *app) clearFilter() tea.Cmd {
	a.list.typing = false
	a.list.input.SetValue("")
	a.list.narrow(a)
	return nil
}

func (a *app) mark() tea.Cmd {
	l := a.list
	if l.cursor == "" {
		return nil
	}
	if l.marks[l.cursor] {
		delete(l.marks, l.cursor)
	} else {
		l.marks[l.cursor] = true
	}
	l.drawn.forget()
	return nil
}
