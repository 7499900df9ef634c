// Package noprobe keeps bubbletea v1 from asking the terminal a question before
// main has begun.
//
// When bubbletea v1 is initialised it wants to know from lipgloss whether the
// background is dark, and lipgloss asks the terminal. Every program that links
// bubbletea does so, also for a verb that only prints a line: the question is
// written between its output, and where nothing answers (a serial console, a
// recorder, a pty of a script) it costs five seconds. An answer given in advance
// stops the question, and this package gives it: dark. Who wants to find out
// about a light background can still do so later and set that.
//
// The answer must come after lipgloss and before bubbletea are initialised. Go
// initialises packages that are ready in the order of their import paths, so
// what counts is that this package's path sorts before
// "github.com/charmbracelet/bubbletea" and that it imports nothing that comes
// after it; it is enough that main imports it for its side effect. Moving it to
// a path that sorts later would bring the question back.
package noprobe

import "github.com/charmbracelet/lipgloss"

func init() {
	lipgloss.SetHasDarkBackground(true)
}
