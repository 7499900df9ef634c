package ui

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// framesPerSecond is how soon a key shows: the renderer writes on a ticker of
// its own, and at 60 frames a key takes twice as long to show.
const framesPerSecond = 120

// SignalError is returned by Run when a signal ended the console.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return "ended by signal: " + e.Signal.String() }

// UnfinishedError is returned by Run when the console ended while changes were
// under way, of which nobody here will hear any more.
type UnfinishedError struct {
	Changes []string // such as "hold of geocode:eu", with names as Redis has them
	End     error    // what Run returns otherwise; nil: the operator quit
}

func (e *UnfinishedError) Error() string {
	return "ended while under way: " + strings.Join(e.Changes, ", ")
}

func (e *UnfinishedError) Unwrap() error { return e.End }

// ErrHangup is returned by Run when the terminal is gone.
var ErrHangup = errors.New("the terminal is gone")

// Run shows the console on this process's terminal until the operator quits,
// which returns nil, until ctx ends, which returns its cause, or until a signal
// comes, which returns a SignalError. A panic comes back as a PanicError. Where
// a change is under way an UnfinishedError is around any of these. The terminal
// is as it was before whichever way Run ends.
func Run(ctx context.Context, c Config) error {
	c.output = os.Stdout
	c.NoColor = c.NoColor || os.Getenv("NO_COLOR") != ""
	running, stop := context.WithCancel(ctx)
	defer stop()
	a := newApp(running, stop, c)
	a.look.light = lightByEnvironment(os.Getenv("COLORFGBG"))
	a.restyle()

	in := &terminalInput{File: os.Stdin}
	p := tea.NewProgram(a,
		tea.WithContext(running),
		tea.WithAltScreen(),
		tea.WithFPS(framesPerSecond),
		tea.WithInput(in),
		tea.WithOutput(os.Stdout),
		tea.WithoutSignalHandler(), // it knows nothing of SIGHUP and SIGTSTP
	)
	in.tell = p.Send
	signals := watchSignals(p.Send, running.Done())
	defer signals.stop()
	a.canSuspend = hasShell
	if asksBackground(a.look, os.Getenv("TERM")) {
		a.ask = func() { in.ask(os.Stdout) }
	}
	_, err := p.Run()
	return a.unfinished(a.verdict(ctx, err))
}

// unfinished adds to what ended the console the changes whose fate is unknown.
func (a *app) unfinished(end error) error {
	if len(a.underWay) == 0 {
		return end
	}
	return &UnfinishedError{Changes: slices.Sorted(maps.Values(a.underWay)), End: end}
}

// verdict is what Run returns.
func (a *app) verdict(ctx context.Context, err error) error {
	switch {
	case a.fatal != nil:
		return a.fatal
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("showing the console: %w", err)
	}
	return nil
}
