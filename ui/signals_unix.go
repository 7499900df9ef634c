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
	signal.Notify(s.arrived, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTSTP)
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

func (s *signals) stop() {
	signal.Stop(s.arrived)
	close(s.ended)
	s.stopped.Wait()
}

// stopGroup stops every process of the job, as ctrl+z in a shell does: with
// "go run" it is the parent that the shell waits for. It returns when the job is
// continued, and not before: the stop reaches this thread a moment after kill
// returned, in which the terminal would be taken again.
func stopGroup() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if syscall.Kill(0, syscall.SIGSTOP) == nil {
		<-continued
	}
}

// hasShell reports whether a shell is there that can continue us. Without one
// we would stand still for ever.
func hasShell() bool {
	parent := os.Getppid()
	if parent <= 1 {
		return false
	}
	ours, err := unix.Getsid(0)
	theirs, err2 := unix.Getsid(parent)
	return err == nil && err2 == nil && ours == theirs
}
