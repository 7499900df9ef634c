//go:build !linux

package server

import "syscall"

// endWithParent can't be had here: after a crash of the benchmark its server
// stays, on a port of its own.
func endWithParent() *syscall.SysProcAttr { return nil }
