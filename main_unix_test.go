//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/cli"
	"bucketop/internal/ptytest"
	"bucketop/internal/redistest"
)

// onTerminal starts the program on a terminal that answers what it is asked.
func onTerminal(t *testing.T, env []string, args ...string) *ptytest.Terminal {
	t.Helper()
	return start(t, ptytest.Config{Answers: true}, env, args...)
}

func start(t *testing.T, config ptytest.Config, env []string, args ...string) *ptytest.Terminal {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = env
	return ptytest.Start(t, cmd, config)
}

// What links bubbletea asks the terminal at its start unless main imports
// noprobe before: on a pty that never answers that costs five seconds.
func TestVerbsAskTheTerminalNothing(t *testing.T) {
	s := redistest.Start(t)
	env := environment("REDIS_URL=" + s.URL())
	run := func(answers bool) time.Duration {
		best := time.Hour
		for range 3 {
			began := time.Now()
			x := start(t, ptytest.Config{Answers: answers}, env, "ls")
			if code := x.End(); code != cli.ExitOK {
				t.Fatalf("exit %d: %q", code, x.Text())
			}
			best = min(best, time.Since(began))
			x.Await("BUCKET")
			if strings.Contains(x.Text(), "\x1b") {
				t.Fatalf("an escape byte is in %q", x.Text())
			}
		}
		return best
	}
	answering, silent := run(true), run(false)
	if silent > 20*answering {
		t.Errorf("%v where nothing answers, %v where something does", silent, answering)
	}
}

func TestConsoleOnATerminal(t *testing.T) {
	s := redistest.Start(t)
	for _, c := range []struct {
		name string
		end  func(x *ptytest.Terminal)
		code int
	}{
		{"q", func(x *ptytest.Terminal) { x.Type("q") }, cli.ExitOK},
		{"SIGINT", func(x *ptytest.Terminal) { x.Signal(syscall.SIGINT) }, cli.ExitInterrupted},
		{"SIGTERM", func(x *ptytest.Terminal) { x.Signal(syscall.SIGTERM) }, cli.ExitTerminated},
		{"SIGHUP", func(x *ptytest.Terminal) { x.Signal(syscall.SIGHUP) }, cli.ExitHangup},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := onTerminal(t, environment("REDIS_URL=redis://default:hunter2@"+s.Addr), "--refresh", "250ms")
			x.Await("\x1b[?1049h")
			x.Await(s.Addr)
			c.end(x)
			if code := x.End(); code != c.code {
				t.Errorf("exit %d, want %d: %q", code, c.code, x.Text())
			}
			x.Restored()
			if strings.Contains(x.Text(), "hunter2") {
				t.Error("the password is on the screen")
			}
		})
	}
}

func TestConsoleOpensOnADeadRedisItWasSentTo(t *testing.T) {
	s := redistest.Start(t)
	s.Stop()
	x := onTerminal(t, environment("REDIS_URL="+s.URL()), "--refresh", "250ms")
	x.Await("\x1b[?1049h")
	x.Await(s.Addr)
	x.Type("q")
	if code := x.End(); code != cli.ExitOK {
		t.Errorf("exit %d", code)
	}
	x.Restored()
}

func TestDemoOnATerminal(t *testing.T) {
	x := onTerminal(t, environment(), "demo")
	x.Await("bucketop -u ") // where another terminal finds it
	x.Await("\x1b[?1049h")
	x.Await("demo ")
	x.Await("geocode:")
	x.Type("q")
	if code := x.End(); code != cli.ExitOK {
		t.Errorf("exit %d: %q", code, x.Text())
	}
	x.Restored()
}

func TestDemoWithoutAScreenEndsWithASignal(t *testing.T) {
	x := start(t, ptytest.Config{}, environment(), "demo", "--headless", "10m")
	x.Await(`"granted":`)
	x.Signal(syscall.SIGTERM)
	if code := x.End(); code != cli.ExitTerminated {
		t.Errorf("exit %d, want %d: %q", code, cli.ExitTerminated, x.Text())
	}
}

func TestPasswordPrompt(t *testing.T) {
	s := redistest.Start(t, "--requirepass", "hunter2")
	env := environment("REDIS_URL=" + s.URL())
	x := start(t, ptytest.Config{}, env, "ls", "--user", "default", "--ask-pass")
	x.Await("Redis password: ")
	x.AwaitNoEcho()
	x.Type("hunter2\n")
	if code := x.End(); code != cli.ExitOK {
		t.Errorf("exit %d: %q", code, x.Text())
	}
	x.Await("BUCKET")
	x.Restored()
	if strings.Contains(x.Text(), "hunter2") {
		t.Errorf("the password was echoed: %q", x.Text())
	}

	x = start(t, ptytest.Config{}, env, "ls", "--ask-pass")
	x.Await("Redis password: ")
	x.AwaitNoEcho()
	x.Type("\x03")
	if code := x.End(); code != cli.ExitInterrupted {
		t.Errorf("exit %d after ^C, want %d: %q", code, cli.ExitInterrupted, x.Text())
	}
	x.Restored()
}

func TestFollowIsFlushedAndEndsWithSIGTERM(t *testing.T) {
	s := redistest.Start(t)
	if err := s.Client(t).ZAdd(t.Context(), "bucketctl:buckets", redis.Z{Score: 1, Member: "geo"}).Err(); err != nil {
		t.Fatal(err)
	}
	env := environment("REDIS_URL=" + s.URL())
	x := start(t, ptytest.Config{}, env, "events", "--follow", "--refresh", "250ms")
	x.Await("TIME")
	if r := pipe(t, env, "hold", "geo", "--reason", "for a test"); r.code != cli.ExitOK {
		t.Fatalf("%+v", r)
	}
	x.Await("for a test")
	x.Signal(syscall.SIGTERM)
	if code := x.End(); code != cli.ExitTerminated {
		t.Errorf("exit %d, want %d", code, cli.ExitTerminated)
	}
}

// A reader that leaves early is no reason to hang or to shout.
func TestReaderLeaves(t *testing.T) {
	s := redistest.Start(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(binary, "ls", "-o", "json")
	cmd.Env, cmd.Stdout, cmd.Stderr = environment("REDIS_URL="+s.URL()), write, &stderr
	err = cmd.Run()
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strings.Count(stderr.String(), "\n") > 1 {
		t.Errorf("%v, %q", err, stderr.String())
	}
}
