package ui

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
)

// signals turns the process's signals into messages, so that the terminal is
// restored before the process goes.
type signals struct {
	arrived chan os.Signal
	ended   chan struct{}
	stopped sync.WaitGroup
}

// watchSignals tells of signals until done is closed or stop is called. A
// closed console window arrives as SIGTERM here.
func watchSignals(tell func(tea.Msg), done <-chan struct{}) *signals {
	s := &signals{arrived: make(chan os.Signal, 4), ended: make(chan struct{})}
	signal.Notify(s.arrived, os.Interrupt, syscall.SIGTERM)
	s.stopped.Go(func() {
		for {
			select {
			case got := <-s.arrived:
				tell(stopMsg{&SignalError{got}})
			case <-s.ended:
				return
			case <-done:
				return
			}
		}
	})
	return s
}

func (s *signals) stop() {
	signal.Stop(s.arrived)
	close(s.ended)
	s.stopped.Wait()
}

// stopGroup does nothing: there is no job control here.
func stopGroup() {}

// hasShell is false for the same reason.
func hasShell() bool { return false }
