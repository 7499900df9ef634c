package ui

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests, or, in a process that TestRun started on a terminal
// of its own, the console.
func TestMain(m *testing.M) {
	if how := os.Getenv(childVariable); how != "" {
		os.Exit(runChild(how))
	}
	goleak.VerifyTestMain(m)
}
