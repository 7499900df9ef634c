package ui

import (
	"io"

	tea "github.com/charmbracelet/bubbletea"
)

// suspend gives the terminal back to the shell until fg. It does not use
// tea.Suspend, which raises SIGTSTP: that signal is caught here, so that
// kill -TSTP restores the terminal too, and Go has no way back to the default
// action of a signal that was caught once.
func (a *app) suspend() tea.Cmd {
	if !a.canSuspend() {
		a.say("No shell to go back to: this console was not started from one with job control.")
		return nil
	}
	return tea.Exec(standstill{}, func(error) tea.Msg { return tea.ResumeMsg{} })
}

// standstill is a command that ends when the process is continued.
type standstill struct{}

func (standstill) Run() error {
	stopGroup()
	return nil
}

func (standstill) SetStdin(io.Reader)  {}
func (standstill) SetStdout(io.Writer) {}
func (standstill) SetStderr(io.Writer) {}

// resumed repaints after a suspension and asks Redis at once.
func (a *app) resumed() tea.Cmd {
	if !a.paused {
		a.source.Refresh()
	}
	return tea.ClearScreen
}
