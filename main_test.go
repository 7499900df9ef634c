package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bucketop/internal/cli"
	"bucketop/internal/redistest"
	"bucketop/ui"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "bucketop-")
	if err == nil {
		binary = filepath.Join(dir, "bucketop.exe")
		var output []byte
		if output, err = exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, output)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}))
}

// environment is what the program gets: a terminal that could be asked
// questions, and nothing of the machine that the tests run on.
func environment(more ...string) []string {
	return append([]string{"TERM=xterm-256color", "HOME=" + os.TempDir(), "PATH=" + os.Getenv("PATH")}, more...)
}

// result is what one run of the program did.
type result struct {
	code   int
	stdout string
	stderr string
	took   time.Duration
}

// pipe runs the program without a terminal.
func pipe(t *testing.T, env []string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &stdout, &stderr
	began := time.Now()
	code := exitCode(t, cmd.Run())
	return result{code, stdout.String(), stderr.String(), time.Since(began)}
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return -1
}

func TestConsoleWithoutATerminal(t *testing.T) {
	s := redistest.Start(t)
	for _, args := range [][]string{{}, {"-u", s.URL()}, {"demo"}} {
		r := pipe(t, environment(), args...)
		if r.code != cli.ExitUsage || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || strings.Contains(r.stderr, "\x1b") {
			t.Errorf("%q: %+v, want one line and exit %d", args, r, cli.ExitUsage)
		}
	}
}

// A script that asks a dead Redis has to know within two seconds. The machine
// may be slow for a moment, so the best of some runs counts.
func TestRedisDownIsToldSoon(t *testing.T) {
	frozen := redistest.Start(t)
	frozen.Freeze()
	for name, url := range map[string]string{
		"nobody listens": fmt.Sprintf("redis://u:hunter2@127.0.0.1:%d", redistest.FreePort(t)),
		"frozen":         "redis://u:hunter2@" + frozen.Addr,
	} {
		best := time.Hour
		for range 3 {
			r := pipe(t, environment("REDIS_URL="+url), "ls")
			best = min(best, r.took)
			if r.code != cli.ExitUnreachable || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || strings.Contains(r.stderr, "hunter2") {
				t.Errorf("%s: %+v, want one line and exit %d", name, r, cli.ExitUnreachable)
			}
		}
		if best > 2*time.Second {
			t.Errorf("%s: told after %v at best", name, best)
		}
	}
}

func TestDataAndNarrationAreApart(t *testing.T) {
	s := redistest.Start(t)
	r := pipe(t, environment("REDIS_URL="+s.URL()), "ls", "-o", "json")
	if r.code != cli.ExitOK || r.stdout != "[]\n" || r.stderr != "" {
		t.Errorf("%+v", r)
	}
	if r := pipe(t, environment(), "--version"); r.code != cli.ExitOK || !strings.HasPrefix(r.stdout, "bucketop ") {
		t.Errorf("%+v", r)
	}
}

func TestWhatEndsTheScreen(t *testing.T) {
	var stopped cli.Stopped
	for _, c := range []struct {
		err  error
		code int
	}{
		{&ui.SignalError{Signal: os.Interrupt}, cli.ExitInterrupted},
		{fmt.Errorf("ended: %w", &ui.SignalError{Signal: os.Interrupt}), cli.ExitInterrupted},
		{ui.ErrHangup, cli.ExitHangup},
	} {
		if !errors.As(screenEnd(c.err), &stopped) || stopped.Code != c.code {
			t.Errorf("%v: %v, want code %d", c.err, screenEnd(c.err), c.code)
		}
	}
	if err := screenEnd(nil); err != nil {
		t.Errorf("an operator who quits is no error: %v", err)
	}
	if err := screenEnd(&ui.PanicError{Value: "boom"}); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "boom") {
		t.Errorf("a panic: %q", err)
	}
}
