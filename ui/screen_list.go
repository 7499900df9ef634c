package ui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// listScreen is the first screen: the buckets, worst first.
type listScreen struct {
	index  map[string]int // bucket -> place in the snapshot
	rows   []string       // keys in the order shown
	cursor string         // the selected key: the selection follows it, never the row
	typing bool           // the filter is being typed
}

func newListScreen() *listScreen { return &listScreen{} }

func (l *listScreen) place() place { return onList }

func (l *listScreen) take(a *app) {
	l.index = make(map[string]int, len(a.snap.Buckets))
	l.rows = l.rows[:0]
	for i, b := range a.snap.Buckets {
		l.index[b.Key] = i
		l.rows = append(l.rows, b.Key)
	}
	if l.cursor == "" && len(l.rows) > 0 {
		l.cursor = l.rows[0]
	}
}
func (l *listScreen) settle(a *app)                           {}
func (l *listScreen) move(a *app, by int)                     {}
func (l *listScreen) page(a *app, by int)                     {}
func (l *listScreen) selected(a *app) (string, bool)          { return l.cursor, l.cursor != "" }
func (l *listScreen) view(a *app, width, height int) []string { return nil }
func (l *listScreen) typeKey(a *app, msg tea.KeyMsg) tea.Cmd  { return nil }

func (a *app) openDetail() tea.Cmd            { return nil }
func (a *app) openHelp() tea.Cmd              { return nil }
func (a *app) openWorkers() tea.Cmd           { return nil }
func (a *app) openEvents() tea.Cmd            { return nil }
func (a *app) clearFilter() tea.Cmd           { return nil }
func (a *app) startFilter() tea.Cmd           { return nil }
func (a *app) cycleSort() tea.Cmd             { return nil }
func (a *app) nextAlert() tea.Cmd             { return nil }
func (a *app) mark() tea.Cmd                  { return nil }
func (a *app) suspend() tea.Cmd               { return tea.Suspend }
func (a *app) resumed() tea.Cmd               { a.source.Refresh(); return tea.ClearScreen }
func (a *app) restyle()                       { a.styles = newStyles(a.look) }
func (a *app) showVisible()                   { a.source.Show(a.list.rows) }
func (a *app) changed(msg changeDone) tea.Cmd { return a.tellDialogs(msg) }
func (a *app) View() string                   { return "" }
