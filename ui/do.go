package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"bucketop/internal/watch"
)

// toEnd is a move that is longer than any list.
const toEnd = 1 << 30

func moves(by int) func(*app) tea.Cmd {
	return func(a *app) tea.Cmd { a.screen().move(a, by); return nil }
}

func pages(by int) func(*app) tea.Cmd {
	return func(a *app) tea.Cmd { a.screen().page(a, by); return nil }
}

func (a *app) quit() tea.Cmd { return tea.Quit }

// on opens a dialog about the selected bucket.
func (a *app) on(make func(*app, watch.Bucket) dialog) tea.Cmd {
	key, ok := a.screen().selected(a)
	if !ok {
		a.say("No bucket is selected.")
		return nil
	}
	b, known := a.bucket(key)
	if !known {
		a.say(a.esc(key) + " is gone: there is nothing to change.")
		return nil
	}
	a.open(make(a, b))
	return nil
}

func (a *app) edit() tea.Cmd        { return a.on(newEditDialog) }
func (a *app) reset() tea.Cmd       { return a.on(newResetDialog) }
func (a *app) undo() tea.Cmd        { return a.on(newUndoDialog) }
func (a *app) deleteState() tea.Cmd { return a.on(newDeleteDialog) }

func (a *app) hold() tea.Cmd {
	return a.on(func(a *app, b watch.Bucket) dialog {
		if b.State.Hold.Active {
			return newResumeDialog(a, b)
		}
		return newHoldDialog(a, b)
	})
}

func (a *app) togglePause() tea.Cmd {
	a.paused = !a.paused
	a.source.Pause(a.paused)
	if a.paused {
		a.frozenAt = a.now()
		return nil
	}
	a.frozenAt = time.Time{}
	a.source.Refresh()
	return a.swap()
}

func (a *app) refresh() tea.Cmd {
	if a.paused {
		a.say("Paused: p goes on.")
		return nil
	}
	a.source.Refresh()
	return nil
}

func (a *app) toggleCost() tea.Cmd { a.showCost = !a.showCost; return nil }

// copyKey puts the name, byte for byte, on the clipboard of the terminal that
// the operator sits at, also through ssh.
func (a *app) copyKey() tea.Cmd {
	key, ok := a.screen().selected(a)
	if !ok {
		return nil
	}
	a.say("copied " + a.esc(key) + " (where the terminal allows it)")
	out := a.terminal
	return func() tea.Msg {
		if out != nil {
			// A terminal that takes no OSC 52 says nothing, and there is
			// nobody to tell about a terminal that is gone.
			_, _ = out.Write([]byte(ansi.SetSystemClipboard(key)))
		}
		return nil
	}
}

// isGrave reports whether b needs an operator's eye first.
func isGrave(c watch.Code) bool { return c == watch.Stuck || c == watch.Corrupt }

// restyle draws everything in another look.
func (a *app) restyle() {
	a.styles = newStyles(a.look)
	a.list.drawn.forget()
}

// showVisible tells the source which buckets are on screen.
func (a *app) showVisible() {
	keys := a.list.visible()
	if key, ok := a.screen().selected(a); ok && !slices.Contains(keys, key) {
		keys = append(slices.Clone(keys), key)
	}
	if !slices.Equal(keys, a.asked) {
		a.asked = slices.Clone(keys)
		a.source.Show(slices.Clone(keys))
	}
}

// nextAlert selects the next bucket that an alert is about; an alert about a
// worker shows the workers.
func (a *app) nextAlert() tea.Cmd {
	n := len(a.snap.Alerts)
	if n == 0 {
		a.say("No alerts.")
		return nil
	}
	a.alertAt = (a.alertAt + 1) % n
	if !a.alerted {
		a.alerted, a.alertAt = true, 0
	}
	alert := a.snap.Alerts[a.alertAt]
	switch {
	case alert.Key != "":
		a.goTo(alert.Key)
	case alert.Code == watch.Silent, alert.Code == watch.Fallback:
		a.push(newWorkersScreen(alert.Worker))
	}
	a.say("alert " + strconv.Itoa(a.alertAt+1) + " of " + strconv.Itoa(n) + ": " +
		strings.TrimSpace(a.alertAbout(alert, 40)+" "+a.esc(alert.Text)))
	return nil
}

// goTo shows the list with a bucket selected, also one that the filter hides.
func (a *app) goTo(key string) {
	a.screens = a.screens[:1]
	if !a.list.jump(key) {
		a.clearFilter()
		a.list.jump(key)
	}
}
