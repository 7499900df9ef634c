package ui

import "fmt"

// PanicError is returned by Run when the console panicked. The terminal is
// restored by then, so that the stack can be read.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("the console panicked: %v\n\n%s", e.Value, e.Stack)
}
