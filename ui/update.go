package ui

import (
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Clocks of the console, all local.
const (
	tickEvery  = time.Second            // ages and levels move so often
	swapEvery  = 250 * time.Millisecond // another snapshot is drawn at most so often
	burstGap   = 10 * time.Millisecond  // keys closer together than this were not typed one by one
	staleAfter = 5 * time.Second        // data this old is no longer fresh, though Redis answers
	calmFor    = 3 * time.Second        // no row changes its place so soon after a key
)

// Update handles one message. It does no I/O: whatever takes time is a Cmd.
func (a *app) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			a.fatal, cmd = &PanicError{Value: r, Stack: debug.Stack()}, tea.Quit
		}
	}()
	cmd = guarded(a.handle(msg))
	a.list.fit(a)
	a.showVisible()
	return a, cmd
}

func (a *app) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return a.key(msg)
	case settledMsg:
		return a.settled(msg.gen)
	case tickMsg:
		return a.ring(msg.gen)
	case updatedMsg:
		return tea.Batch(a.awaitUpdate(), a.hurry())
	case tea.WindowSizeMsg:
		a.width, a.height = msg.Width, msg.Height
		return nil
	case changeDone:
		return a.changed(msg)
	case suspendMsg:
		return a.suspend()
	case tea.ResumeMsg:
		return tea.Batch(a.resumed(), a.tellDialogs(msg))
	case backgroundMsg:
		a.look.light = !msg.dark
		a.restyle()
		return nil
	case stopMsg:
		a.fatal = msg.err
		return tea.Quit
	case panicMsg:
		a.fatal = msg.err
		return tea.Quit
	}
	return a.tellDialogs(msg)
}

// ring is one tick: the only place where what is shown changes by itself.
func (a *app) ring(gen int) tea.Cmd {
	if gen != a.tickGen {
		return nil
	}
	return tea.Batch(a.swap(), a.tick(tickEvery))
}

// hurry makes the next tick come as soon as another snapshot may be drawn.
func (a *app) hurry() tea.Cmd {
	return a.tick(max(0, swapEvery-a.now().Sub(a.swappedAt)))
}

// swap brings the newest snapshot and the time onto the screen.
func (a *app) swap() tea.Cmd {
	a.tickAt = a.now()
	if a.paused {
		return nil
	}
	if newest := a.source.Snapshot(); newest != a.snap {
		a.take(newest)
		a.swappedAt = a.tickAt
		return a.tellDialogs(snapshotMsg{})
	}
	a.list.settle(a)
	return nil
}
