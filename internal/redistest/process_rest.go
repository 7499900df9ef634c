//go:build !linux

package redistest

import "syscall"

// endWithParent can ask for nothing here: a server outlives a test process that
// dies without its cleanups.
func endWithParent() *syscall.SysProcAttr { return nil }
