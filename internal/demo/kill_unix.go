//go:build unix

package demo

import (
	"os"
	"syscall"
)

// killGroup kills the process and what it started: the name on PATH may be a
// script around the server. It fails only where all of it is gone.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
