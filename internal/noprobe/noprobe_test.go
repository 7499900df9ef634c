//go:build unix

package noprobe_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	_ "bucketop/internal/noprobe"

	_ "github.com/charmbracelet/bubbletea" // whose initialisation is the subject
	"github.com/creack/pty"
)

// TestInitIsSilent runs this test binary, which links bubbletea as the console
// does, without any test on a terminal that never answers.
func TestInitIsSilent(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	// Only a terminal that could answer is asked, and none under CI.
	cmd.Env = []string{"TERM=xterm-256color"}
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatalf("starting on a pty: %v", err)
	}
	defer func() { _ = tty.Close() }()

	output, err := io.ReadAll(tty)
	// Linux reports EIO when the last process has left the terminal.
	if err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatalf("reading the terminal: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v, with output %q", err, output)
	}
	if !bytes.Contains(output, []byte("PASS")) {
		t.Errorf("the program did not reach main: %q", output)
	}
	if bytes.ContainsRune(output, '\x1b') {
		t.Errorf("the terminal was asked something before main: %q", output)
	}
}
