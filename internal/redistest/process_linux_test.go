package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// orphanEnv tells this test binary to be the process that dies below.
const orphanEnv = "REDISTEST_ORPHAN"

// TestServerEndsWithItsProcess has a second test process die in a way that runs
// no cleanup: by a panic outside the test's goroutine.
func TestServerEndsWithItsProcess(t *testing.T) {
	if os.Getenv(orphanEnv) != "" {
		orphan(t)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), orphanEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dir string
	var pid int
	line, readErr := bufio.NewReader(out).ReadString('\n')
	_, scanErr := fmt.Sscanf(line, "%d %s\n", &pid, &dir)
	if err := cmd.Wait(); err == nil {
		t.Error("the process was to die and did not")
	}
	if readErr != nil || scanErr != nil || pid == 0 {
		t.Fatalf("the process said %q (%v, %v)", strings.TrimSpace(line), readErr, scanErr)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })

	// The kernel kills it when it takes the parent apart, and tells nobody.
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		err := syscall.Kill(pid, 0)
		if errors.Is(err, syscall.ESRCH) || inState(pid, 'Z') {
			return
		}
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("server %d outlives the process that started it", pid)
		}
	}
}

// inState reports whether the kernel has process pid in that state: Z for one
// that has ended and whose new parent has not asked about it yet, T for a
// stopped one.
func inState(pid int, state rune) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), fmt.Sprintf(") %c ", state))
}

func TestFrozenWhenFreezeReturns(t *testing.T) {
	s := Start(t)
	for range 200 {
		s.Freeze()
		if !inState(s.PID(), 'T') {
			t.Fatal("Freeze has returned and the server may still run")
		}
		s.Thaw()
	}
}
func orphan(t *testing.T) {
	s := Start(t)
	fmt.Printf("%d %s\n", s.PID(), s.dir)
	go panic("as a bug in a test would")
	select {}
}
