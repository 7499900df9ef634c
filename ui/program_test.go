//go:build unix

package ui

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// patience is how long anything may take on a slow machine.
const patience = 20 * time.Second

// child is a console in a process and on a terminal of its own.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	pty    *os.File
	before *term.State

	mu     sync.Mutex
	output bytes.Buffer
	grown  chan struct{} // receives when output has grown
	read   chan struct{} // closed when there is nothing more to read
}

// startChild starts the console; with a controlling terminal it hears of a
// hangup by signal, without one only by reading.
func startChild(t *testing.T, controlling bool, how string) *child {
	t.Helper()
	return start(t, controlling, how, exec.Command(os.Args[0]))
}

// childEnvironment has nothing of the machine that the tests run on: CI, NO_COLOR,
// COLORTERM, TMUX and others all change what is written.
func childEnvironment(how string) []string {
	return []string{childVariable + "=" + how, "TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}
}

func start(t *testing.T, controlling bool, how string, cmd *exec.Cmd) *child {
	t.Helper()
	c := &child{t: t, cmd: cmd, grown: make(chan struct{}, 1), read: make(chan struct{})}
	c.cmd.Env = childEnvironment(how)
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	c.pty = master
	if c.before, err = term.GetState(int(master.Fd())); err != nil {
		t.Fatal(err)
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = slave, slave, slave
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: controlling}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.drain()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // it has exited already where the test went well
		_ = c.pty.Close()
		<-c.read
	})
	return c
}

// drain reads what the console writes until its terminal is gone.
func (c *child) drain() {
	defer close(c.read)
	buf := make([]byte, 4096)
	for {
		n, err := c.pty.Read(buf)
		c.mu.Lock()
		c.output.Write(buf[:n])
		c.mu.Unlock()
		select {
		case c.grown <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (c *child) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.output.String()
}

// await waits until the console has written text.
func (c *child) await(text string) {
	c.t.Helper()
	c.awaitAfter("", text)
}

// awaitAfter waits until it has written text after the last mark.
func (c *child) awaitAfter(mark, text string) {
	c.t.Helper()
	deadline := time.After(patience)
	for {
		out := c.text()
		if mark == "" && strings.Contains(out, text) || mark != "" && strings.Contains(out[max(0, strings.LastIndex(out, mark)):], text) {
			return
		}
		select {
		case <-c.grown:
		case <-deadline:
			c.t.Fatalf("%q never came: %q", text, c.text())
		}
	}
}

// send types keys, with the pause that a person leaves before them: what comes
// closer is a paste to the console.
func (c *child) send(keys string) {
	c.t.Helper()
	time.Sleep(5 * burstGap)
	if _, err := c.pty.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// exit waits for the process, and for all that it wrote, and returns its exit
// status.
func (c *child) exit() int {
	c.t.Helper()
	done := make(chan error, 1)
	go func() { done <- c.cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			c.t.Fatal(err)
		}
		<-c.read // ends with the terminal's last user
		return c.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		_ = c.cmd.Process.Kill()
		if err := <-done; err != nil {
			c.t.Log(err)
		}
		c.t.Fatal("the console never ended")
	}
	return -1
}

// restored fails unless the terminal is as it was.
func (c *child) restored() {
	c.t.Helper()
	after, err := term.GetState(int(c.pty.Fd()))
	if err != nil {
		c.t.Fatal(err)
	}
	if !reflect.DeepEqual(c.before, after) {
		c.t.Errorf("the terminal's modes are %+v, were %+v", after, c.before)
	}
	out := c.text()
	for _, mode := range [][2]string{{"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?25l", "\x1b[?25h"}, {"\x1b[?2004h", "\x1b[?2004l"}} {
		if strings.LastIndex(out, mode[0]) > strings.LastIndex(out, mode[1]) {
			c.t.Errorf("%q is the last of its kind in %q", mode[0], out)
		}
	}
}

// TestRun ends the console in every way there is; the terminal is restored and
// Run says how it ended.
func TestRun(t *testing.T) {
	signals := func(s syscall.Signal) func(*child) {
		return func(c *child) { _ = c.cmd.Process.Signal(s) } // a process that is gone fails exit below
	}
	keys := func(k string) func(*child) { return func(c *child) { c.send(k) } }
	for _, c := range []struct {
		name string
		end  func(*child)
		want int
	}{
		{"q", keys("q"), endedWell},
		{"ctrl+c", keys("\x03"), endedWell},
		{"SIGINT", signals(syscall.SIGINT), endedBySignal},
		{"SIGTERM", signals(syscall.SIGTERM), endedBySignal},
		{"SIGHUP", signals(syscall.SIGHUP), endedBySignal},
		{"broken", keys("p"), endedByPanic},
		{"context", keys("p"), endedByContext},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			child := startChild(t, true, c.name)
			child.await("LIVE")
			c.end(child)
			if got := child.exit(); got != c.want {
				t.Errorf("it ended with %d, want %d: %q", got, c.want, child.text())
			}
			child.restored()
			if c.want == endedByPanic {
				child.await("the source is broken")
			}
		})
	}
}

// TestTheTerminalGoesAway: with a signal, and without one, as under nohup.
func TestTheTerminalGoesAway(t *testing.T) {
	for _, controlling := range []bool{true, false} {
		c := startChild(t, controlling, "well")
		c.await("LIVE")
		if err := c.pty.Close(); err != nil {
			t.Fatal(err)
		}
		if got := c.exit(); !slices.Contains([]int{endedBySignal, endedByHangup, endedOtherwise}, got) {
			t.Errorf("controlling terminal %v: it ended with %d", controlling, got)
		}
	}
}

// TestLateBackground: the terminal's answer comes late, in two pieces, with keys
// around it; the keys count, and the colours follow.
func TestLateBackground(t *testing.T) {
	c := startChild(t, true, "well")
	c.await(backgroundQuestion)
	c.await("\x1b[1;38;5;203m")
	c.send("j\x1b]11;rgb:ffff/ff")
	c.await("\x1b[1mstripe:charge") // the cursor is there
	c.send("ff/ffff\x1b\\k")
	c.await("\x1b[1;38;5;160m")
	c.send("q")
	if got := c.exit(); got != endedWell {
		t.Errorf("it ended with %d", got)
	}
	if strings.Contains(c.text(), "rgb:") {
		t.Errorf("the answer is on the screen: %q", c.text())
	}
}

// TestSuspend stops the console under a shell with job control, twice: the shell
// has its terminal as it was, and fg paints everything anew.
func TestSuspend(t *testing.T) {
	const script = `set -m; "$0"; echo FIRST; fg; echo SECOND; fg`
	c := start(t, true, "well", exec.Command("sh", "-c", script, os.Args[0]))
	c.await("LIVE")
	c.send("\x1a")
	c.await("FIRST")
	c.awaitAfter("FIRST", "LIVE")
	c.send("j")
	c.awaitAfter("FIRST", "\x1b[1mstripe:charge")
	c.send("\x1a")
	c.await("SECOND")
	if out := c.text(); strings.Count(out, "\x1b[?1049l") != 2 {
		t.Errorf("the alternate screen was not left for the shell: %q", out)
	}
	c.awaitAfter("SECOND", "LIVE")
	c.send("q")
	if got := c.exit(); got != endedWell {
		t.Errorf("it ended with %d", got)
	}
	c.restored()
}

// TestCopyAndSuspend: a name goes to the clipboard by OSC 52; without a shell
// to go back to, ctrl+z says so instead of waiting for ever.
func TestCopyAndSuspend(t *testing.T) {
	c := startChild(t, true, "well")
	c.await("LIVE")
	c.send("y")
	c.await("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte("geo:py")))
	c.send("\x1a")
	c.await("No shell to go back to")
	c.send("q")
	if got := c.exit(); got != endedWell {
		t.Errorf("it ended with %d", got)
	}
	c.restored()
}
