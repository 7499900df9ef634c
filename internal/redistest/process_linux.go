package redistest

import "syscall"

// endWithParent has the kernel kill the server when the test process is gone,
// whatever the reason. Strictly it is when the thread that started the server is
// gone; Go ends a thread early only where a goroutine locked to it returns.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
