package ui

import "bucketop/bucketctl"

// tickMsg is the clock. Ticks can't be cancelled, so each carries the
// generation it belongs to; one of an older generation is dropped.
type tickMsg struct{ gen int }

// updatedMsg says that the source has a newer snapshot.
type updatedMsg struct{}

// snapshotMsg tells dialogs that another snapshot is shown now.
type snapshotMsg struct{}

// settledMsg says that no other key came right behind the key of generation
// gen, so that it was typed and not pasted.
type settledMsg struct{ gen int }

// backgroundMsg is the terminal's answer about its background.
type backgroundMsg struct{ dark bool }

// suspendMsg is somebody's wish, by signal, that the console suspends.
type suspendMsg struct{}

// stopMsg ends the console from outside.
type stopMsg struct{ err error }

// panicMsg carries a panic of a Cmd out of its goroutine, so that the terminal
// is restored before anybody prints the stack.
type panicMsg struct{ err *PanicError }

// changeDone is what became of a change that a dialog asked for. id is the
// request's own (app.nextID), what names the change in a few words ("limit of
// geocode:eu"), and change is valid where err is nil or an AuditError.
type changeDone struct {
	id     int
	key    string
	what   string
	change bucketctl.Change
	err    error
}

// gotEvents is the reply to app.eventsOf, oldest first.
type gotEvents struct {
	id     int
	key    string
	events []bucketctl.Event
	err    error
}
