//go:build !unix

package demo

import (
	"os"
	"syscall"
)

// No server is started here, see startServer.
func endWithParent() *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) { _ = p.Kill() }
