package ui

import (
	"context"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
)

// askFor is how long a request to Redis may take before the operator is told.
const askFor = 5 * time.Second

// guarded makes a panic of cmd, or of the Cmds it yields, a message: bubbletea
// itself would print the stack into the alternate screen, where it is lost.
// Update guards whatever it returns.
func guarded(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = panicMsg{&PanicError{Value: r, Stack: debug.Stack()}}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = guarded(batch[i])
			}
		}
		return msg
	}
}

// nextID returns the id of a new request. Replies come in any order; an id
// tells which question one answers.
func (a *app) nextID() int {
	a.lastID++
	return a.lastID
}

// change returns the request id and the Cmd that makes a change in Redis and
// yields a changeDone. do runs outside of Update, with a timeout.
func (a *app) change(key, what string, do func(context.Context, Admin) (bucketctl.Change, error)) (int, tea.Cmd) {
	id, admin, parent := a.nextID(), a.admin, a.ctx
	a.underWay[id] = what
	return id, func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, askFor)
		defer cancel()
		change, err := do(ctx, admin)
		return changeDone{id: id, key: key, what: what, change: change, err: err}
	}
}

// eventsOf returns the request id and the Cmd that reads the newest events of
// one bucket and yields a gotEvents.
func (a *app) eventsOf(key string, most int) (int, tea.Cmd) {
	id, admin, parent := a.nextID(), a.admin, a.ctx
	return id, func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, askFor)
		defer cancel()
		events, err := admin.Events(ctx, bucketctl.EventQuery{Key: key, Max: most})
		return gotEvents{id: id, key: key, events: events, err: err}
	}
}

// tick starts a new generation of the clock that rings after d.
func (a *app) tick(d time.Duration) tea.Cmd {
	a.tickGen++
	gen := a.tickGen
	return tea.Tick(d, func(time.Time) tea.Msg { return tickMsg{gen} })
}

// awaitUpdate waits for the source's next snapshot.
func (a *app) awaitUpdate() tea.Cmd {
	updates, done := a.source.Updates(), a.ctx.Done()
	return func() tea.Msg {
		select {
		case _, open := <-updates:
			if open {
				return updatedMsg{}
			}
		case <-done:
		}
		return nil
	}
}

// settle asks, a moment later, whether the pending key stayed alone.
func (a *app) settle() tea.Cmd {
	a.pendingGen++
	gen := a.pendingGen
	return tea.Tick(burstGap, func(time.Time) tea.Msg { return settledMsg{gen} })
}
