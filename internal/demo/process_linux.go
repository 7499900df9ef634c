package demo

import "syscall"

// endWithParent has the kernel kill the server when this process is gone,
// whatever the reason. Strictly it is when the thread that started the server
// is gone; Go ends a thread early only where a goroutine locked to it returns.
// A group of its own keeps the terminal's ctrl+c away from the server: workers
// should not end in an outage.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
