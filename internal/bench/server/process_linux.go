package server

import "syscall"

// endWithParent has the kernel kill the server when this process is gone,
// whatever the reason.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
