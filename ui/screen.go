package ui

import tea "github.com/charmbracelet/bubbletea"

// screen is one of the console's screens: a part of the app without a loop of
// its own.
type screen interface {
	place() place
	take(a *app)                           // another snapshot is shown
	move(a *app, by int)                   // selection or scroll, by rows
	page(a *app, by int)                   // by pages
	selected(a *app) (key string, ok bool) // the bucket that actions are about
	view(a *app, width, height int) []string
}

// screen returns the one that is shown.
func (a *app) screen() screen { return a.screens[len(a.screens)-1] }

// shown is where the shown screen is in the actions table.
func (a *app) shown() place { return a.screen().place() }

// push shows s on top, or goes back to it where it lies below already: w and v
// pressed in turn must not pile up.
func (a *app) push(s screen) {
	for i, below := range a.screens {
		if below.place() == s.place() {
			a.screens = a.screens[:i]
			break
		}
	}
	a.screens = append(a.screens, s)
	s.take(a)
}

// back leaves the shown screen.
func (a *app) back() tea.Cmd {
	if len(a.screens) > 1 {
		a.screens = a.screens[:len(a.screens)-1]
		a.screen().take(a)
	}
	return nil
}
