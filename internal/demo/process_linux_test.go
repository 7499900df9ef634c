package demo

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// orphanEnv tells this test binary to be the demo that is killed below.
const orphanEnv = "DEMO_ORPHAN"

// TestServerEndsWithAKilledDemo kills a demo in a way that it can do nothing
// about.
func TestServerEndsWithAKilledDemo(t *testing.T) {
	if os.Getenv(orphanEnv) != "" {
		beKilled(t)
	}
	t.Setenv("PATH", kinds(t)[0].path)
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), orphanEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, readErr := bufio.NewReader(out).ReadString('\n')
	url = strings.TrimSpace(url)
	if readErr != nil || !strings.HasPrefix(url, "unix://") {
		t.Fatalf("the demo said %q (%v)", url, readErr)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(strings.TrimPrefix(url, "unix://"))) })
	gone := watchServer(t, url)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as it should be
	awaitGone(t, gone)
}

func beKilled(t *testing.T) {
	err := Run(t.Context(), Config{Screen: func(_ context.Context, s Stage) error {
		fmt.Println(s.Addr)
		select {}
	}})
	t.Fatalf("the demo ended by itself: %v", err)
}
