//go:build unix && !linux

package demo

import "syscall"

// endWithParent can only keep the terminal's ctrl+c away from the server here.
// A demo that is killed in a way that nothing can be done about leaves it.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
