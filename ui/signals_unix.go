//go:build unix

package ui

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/sys/unix"
)

// signals turns the process's signals into messages, so that the terminal is
// restored before the process goes, or stops.
type signals struct {
	arrived chan os.Signal
	ended   chan struct{}
	stopped sync.WaitGroup
}

// watchSignals tells of signals until done is closed or stop is called.
func watchSignals(tell func(tea.Msg), done <-chan struct{}) *signals {
	s := &signals{arrived: make(chan os.Signal, 4), ended: make(chan struct{})}
	signal.Notify(s.arrived, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	s.catchSuspend()
	s.stopped.Go(func() {
		for {
			select {
			case got := <-s.arrived:
				tell(signalMsg(got))
			case <-s.ended:
				return
			case <-done:
				return
			}
		}
	})
	return s
}

func signalMsg(got os.Signal) tea.Msg {
	if got == syscall.SIGTSTP {
		return suspendMsg{}
	}
	return stopMsg{&SignalError{got}}
}

// catchSuspend makes kill -TSTP a message.
func (s *signals) catchSuspend() { signal.Notify(s.arrived, syscall.SIGTSTP) }

// letSuspend lets the signal stop the process, which is how it suspends itself.
func (s *signals) letSuspend() { signal.Reset(syscall.SIGTSTP) }

func (s *signals) stop() {
	signal.Stop(s.arrived)
	close(s.ended)
	s.stopped.Wait()
}

// canSuspend reports whether a shell is there that can wake us again. Without
// one the kernel ignores the stop, and we would wait for ever to be continued.
func canSuspend() bool {
	parent := os.Getppid()
	if parent <= 1 {
		return false
	}
	ours, err := unix.Getsid(0)
	theirs, err2 := unix.Getsid(parent)
	return err == nil && err2 == nil && ours == theirs
}
