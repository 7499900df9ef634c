//go:build unix

package redistest

import (
	"fmt"
	"os"
	"syscall"
)

// freeze returns when the process has stopped: the signal alone is only a wish.
func freeze(p *os.Process) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(p.Pid, &status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return fmt.Errorf("waiting until it has stopped: %w", err)
		case status.Stopped():
			return nil
		default:
			return fmt.Errorf("it ended instead of stopping (status %#x)", status)
		}
	}
}

func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
