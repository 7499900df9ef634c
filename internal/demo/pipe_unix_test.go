//go:build unix

package demo

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pipedEnv tells this test binary to be the demo whose reader leaves below.
const pipedEnv = "DEMO_PIPED"

// TestReaderThatLeaves does what "| head -1" does.
func TestReaderThatLeaves(t *testing.T) {
	if os.Getenv(pipedEnv) != "" {
		err := Run(t.Context(), Config{Headless: time.Hour, Stdout: os.Stdout, Stderr: os.Stderr})
		if !errors.Is(err, syscall.EPIPE) {
			t.Errorf("ended with %v", err)
		}
		return
	}
	k := withPath(t, kinds(t)[0])
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), pipedEnv+"=1")
	var narration strings.Builder
	cmd.Stderr = &narration
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "{") {
		t.Errorf("the demo said %q (%v)", line, err)
	}
	_ = out.Close() // it is the reader's end that matters
	// The testing package's own last words meet the closed pipe too, so how the
	// process ended tells nothing.
	_ = cmd.Wait()
	checkGone(t, k, narration.String())
}
