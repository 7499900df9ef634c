//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/redis/go-redis/v9"
	"golang.org/x/term"

	"bucketop/internal/cli"
	"bucketop/internal/redistest"
)

// patience is how long anything may take on a loaded machine.
const patience = 30 * time.Second

// lastWritten goes through the pty behind all that the program wrote: its exit
// says nothing of what is still to be read.
const lastWritten = "<nothing comes after this>"

// terminal is the program running on a pty.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	pty    *os.File // the terminal's side
	tty    *os.File // the program's side, kept open to look at its modes
	before *term.State
	ended  chan error
	copied chan struct{}

	mu     sync.Mutex
	output []byte
	grew   chan struct{}
}

// onTerminal starts the program on a pty of 80x24. answer, if not nil, is given
// to what the program asks the terminal.
func onTerminal(t *testing.T, answer func(asked []byte) []byte, env []string, args ...string) *terminal {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(int(slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{
		t: t, pty: master, tty: slave, before: before,
		ended: make(chan error, 1), copied: make(chan struct{}), grew: make(chan struct{}, 1),
	}
	x.cmd = exec.Command(binary, args...)
	x.cmd.Env, x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = env, slave, slave, slave
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go x.copy(answer)
	go func() { x.ended <- x.cmd.Wait() }()
	t.Cleanup(x.close)
	return x
}

func (x *terminal) copy(answer func([]byte) []byte) {
	defer close(x.copied)
	buffer := make([]byte, 32<<10)
	for {
		n, err := x.pty.Read(buffer)
		x.mu.Lock()
		x.output = append(x.output, buffer[:n]...)
		x.mu.Unlock()
		select {
		case x.grew <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
		if answer != nil {
			if reply := answer(buffer[:n]); reply != nil {
				_, _ = x.pty.Write(reply) // a program that is gone needs none
			}
		}
	}
}

// close ends what is left of the program and of the pty.
func (x *terminal) close() {
	_ = x.cmd.Process.Kill() // most are gone by now
	_ = x.tty.Close()
	_ = x.pty.Close()
	<-x.copied
}

func (x *terminal) screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return string(x.output)
}

// await waits until the program has written part.
func (x *terminal) await(part string) {
	x.t.Helper()
	deadline := time.After(patience)
	for !strings.Contains(x.screen(), part) {
		select {
		case <-x.grew:
		case <-deadline:
			x.t.Fatalf("%q was never written, but %q", part, x.screen())
		}
	}
}

func (x *terminal) send(keys string) {
	x.t.Helper()
	if _, err := io.WriteString(x.pty, keys); err != nil {
		x.t.Fatal(err)
	}
}

// end waits for the program, and for all that it wrote, and returns its exit
// code.
func (x *terminal) end() int {
	x.t.Helper()
	select {
	case err := <-x.ended:
		if _, err := x.tty.WriteString(lastWritten); err != nil {
			x.t.Fatal(err)
		}
		x.await(lastWritten)
		return exitCode(x.t, err)
	case <-time.After(patience):
		x.t.Fatalf("still running, after %q", x.screen())
	}
	return -1
}

// restored fails the test unless the terminal is as it was before.
func (x *terminal) restored() {
	x.t.Helper()
	after, err := term.GetState(int(x.tty.Fd()))
	if err != nil {
		x.t.Fatal(err)
	}
	if *after != *x.before {
		x.t.Errorf("the terminal's modes were %v, now %v", x.before, after)
	}
	shown := x.screen()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?2004h": "\x1b[?2004l"} {
		if strings.LastIndex(shown, on) > strings.LastIndex(shown, off) {
			x.t.Errorf("%q was switched on and never off again", on)
		}
	}
}

// answers plays a terminal that says its background and cursor position.
func answers(asked []byte) []byte {
	var reply []byte
	if bytes.Contains(asked, []byte("\x1b]11;?")) {
		reply = append(reply, "\x1b]11;rgb:0000/0000/0000\x1b\\"...)
	}
	if bytes.Contains(asked, []byte("\x1b[6n")) {
		reply = append(reply, "\x1b[1;1R"...)
	}
	return reply
}

// What links bubbletea asks the terminal at its start unless main imports
// noprobe before: on a pty that never answers that costs five seconds.
func TestVerbsAskTheTerminalNothing(t *testing.T) {
	s := redistest.Start(t)
	env := environment("REDIS_URL=" + s.URL())
	run := func(answer func([]byte) []byte) time.Duration {
		best := time.Hour
		for range 3 {
			began := time.Now()
			x := onTerminal(t, answer, env, "ls")
			if code := x.end(); code != cli.ExitOK {
				t.Fatalf("exit %d: %q", code, x.screen())
			}
			best = min(best, time.Since(began))
			x.await("BUCKET")
			if strings.Contains(x.screen(), "\x1b") {
				t.Fatalf("an escape byte is in %q", x.screen())
			}
		}
		return best
	}
	answering, silent := run(answers), run(nil)
	if silent > 20*answering {
		t.Errorf("%v where nothing answers, %v where something does", silent, answering)
	}
}

func TestConsoleOnATerminal(t *testing.T) {
	s := redistest.Start(t)
	for _, c := range []struct {
		name string
		end  func(x *terminal)
		code int
	}{
		{"q", func(x *terminal) { x.send("q") }, cli.ExitOK},
		{"SIGINT", func(x *terminal) { x.signal(syscall.SIGINT) }, cli.ExitInterrupted},
		{"SIGTERM", func(x *terminal) { x.signal(syscall.SIGTERM) }, cli.ExitTerminated},
		{"SIGHUP", func(x *terminal) { x.signal(syscall.SIGHUP) }, cli.ExitHangup},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := onTerminal(t, answers, environment("REDIS_URL=redis://default:hunter2@"+s.Addr), "--refresh", "250ms")
			x.await("\x1b[?1049h")
			x.await(s.Addr)
			c.end(x)
			if code := x.end(); code != c.code {
				t.Errorf("exit %d, want %d: %q", code, c.code, x.screen())
			}
			x.restored()
			if strings.Contains(x.screen(), "hunter2") {
				t.Error("the password is on the screen")
			}
		})
	}
}

func (x *terminal) signal(s os.Signal) {
	x.t.Helper()
	if err := x.cmd.Process.Signal(s); err != nil {
		x.t.Fatal(err)
	}
}

func TestConsoleOpensOnADeadRedisItWasSentTo(t *testing.T) {
	s := redistest.Start(t)
	s.Stop()
	x := onTerminal(t, answers, environment("REDIS_URL="+s.URL()), "--refresh", "250ms")
	x.await("\x1b[?1049h")
	x.await(s.Addr)
	x.send("q")
	if code := x.end(); code != cli.ExitOK {
		t.Errorf("exit %d", code)
	}
	x.restored()
}

func TestDemoOnATerminal(t *testing.T) {
	x := onTerminal(t, answers, environment(), "demo")
	x.await("bucketop -u ") // where another terminal finds it
	x.await("\x1b[?1049h")
	x.await("demo ")
	x.await("geocode:")
	x.send("q")
	if code := x.end(); code != cli.ExitOK {
		t.Errorf("exit %d: %q", code, x.screen())
	}
	x.restored()
}

func TestDemoWithoutAScreenEndsWithASignal(t *testing.T) {
	x := onTerminal(t, nil, environment(), "demo", "--headless", "10m")
	x.await(`"granted":`)
	x.signal(syscall.SIGTERM)
	if code := x.end(); code != cli.ExitTerminated {
		t.Errorf("exit %d, want %d: %q", code, cli.ExitTerminated, x.screen())
	}
}

func TestPasswordPrompt(t *testing.T) {
	s := redistest.Start(t, "--requirepass", "hunter2")
	env := environment("REDIS_URL=" + s.URL())
	x := onTerminal(t, nil, env, "ls", "--user", "default", "--ask-pass")
	x.await("Redis password: ")
	x.awaitNoEcho()
	x.send("hunter2\n")
	if code := x.end(); code != cli.ExitOK {
		t.Errorf("exit %d: %q", code, x.screen())
	}
	x.await("BUCKET")
	x.restored()
	if strings.Contains(x.screen(), "hunter2") {
		t.Errorf("the password was echoed: %q", x.screen())
	}

	x = onTerminal(t, nil, env, "ls", "--ask-pass")
	x.await("Redis password: ")
	x.awaitNoEcho()
	x.send("\x03")
	if code := x.end(); code != cli.ExitInterrupted {
		t.Errorf("exit %d after ^C, want %d: %q", code, cli.ExitInterrupted, x.screen())
	}
	x.restored()
}

// awaitNoEcho waits until the terminal echoes no more what is typed.
func (x *terminal) awaitNoEcho() {
	x.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		now, err := term.GetState(int(x.tty.Fd()))
		if err != nil {
			x.t.Fatal(err)
		}
		if *now != *x.before {
			return
		}
		if time.Now().After(deadline) {
			x.t.Fatal("the terminal still echoes")
		}
	}
}

func TestFollowIsFlushedAndEndsWithSIGTERM(t *testing.T) {
	s := redistest.Start(t)
	if err := s.Client(t).ZAdd(t.Context(), "bucketctl:buckets", redis.Z{Score: 1, Member: "geo"}).Err(); err != nil {
		t.Fatal(err)
	}
	env := environment("REDIS_URL=" + s.URL())
	x := onTerminal(t, nil, env, "events", "--follow", "--refresh", "250ms")
	x.await("TIME")
	if r := pipe(t, env, "hold", "geo", "--reason", "for a test"); r.code != cli.ExitOK {
		t.Fatalf("%+v", r)
	}
	x.await("for a test")
	x.signal(syscall.SIGTERM)
	if code := x.end(); code != cli.ExitTerminated {
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
