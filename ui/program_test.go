//go:build unix

package ui

import (
	"encoding/base64"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"bucketop/internal/ptytest"
)

// startChild starts a console in a process and on a terminal of its own.
func startChild(t *testing.T, how string) *ptytest.Terminal {
	t.Helper()
	return start(t, how, false, exec.Command(os.Args[0]))
}

// start gives it nothing of the machine that the tests run on: CI, NO_COLOR,
// COLORTERM, TMUX and others all change what is written.
func start(t *testing.T, how string, detached bool, cmd *exec.Cmd) *ptytest.Terminal {
	t.Helper()
	cmd.Env = []string{childVariable + "=" + how, "TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}
	return ptytest.Start(t, cmd, ptytest.Config{Detached: detached, Pause: 5 * burstGap})
}

// TestRun ends the console in every way there is; the terminal is restored and
// Run says how it ended.
func TestRun(t *testing.T) {
	signals := func(s syscall.Signal) func(*ptytest.Terminal) {
		return func(c *ptytest.Terminal) { c.Signal(s) }
	}
	keys := func(k string) func(*ptytest.Terminal) { return func(c *ptytest.Terminal) { c.Type(k) } }
	for _, c := range []struct {
		name string
		end  func(*ptytest.Terminal)
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
			child := startChild(t, c.name)
			child.Await("LIVE")
			c.end(child)
			if got := child.End(); got != c.want {
				t.Errorf("it ended with %d, want %d: %q", got, c.want, child.Text())
			}
			child.Restored()
			if c.want == endedByPanic {
				child.Await("the source is broken")
			}
		})
	}
}

// TestTheTerminalGoesAway: with a signal, and without one, as under nohup.
func TestTheTerminalGoesAway(t *testing.T) {
	for _, detached := range []bool{false, true} {
		c := start(t, "well", detached, exec.Command(os.Args[0]))
		c.Await("LIVE")
		c.HangUp()
		if got := c.End(); !slices.Contains([]int{endedBySignal, endedByHangup, endedOtherwise}, got) {
			t.Errorf("detached %v: it ended with %d", detached, got)
		}
	}
}

// TestLateBackground: the terminal's answer comes late, in two pieces, with keys
// around it; the keys count, and the colours follow.
func TestLateBackground(t *testing.T) {
	c := startChild(t, "well")
	c.Await(backgroundQuestion)
	c.Await("\x1b[1;38;5;203m")
	c.Type("j\x1b]11;rgb:ffff/ff")
	c.Await("\x1b[1mstripe:charge") // the cursor is there
	c.Type("ff/ffff\x1b\\k")
	c.Await("\x1b[1;38;5;160m")
	c.Type("q")
	if got := c.End(); got != endedWell {
		t.Errorf("it ended with %d", got)
	}
	if strings.Contains(c.Text(), "rgb:") {
		t.Errorf("the answer is on the screen: %q", c.Text())
	}
}

// TestSuspend stops the console under a shell with job control, twice: the shell
// has its terminal as it was, and fg paints everything anew.
func TestSuspend(t *testing.T) {
	const script = `set -m; "$0"; echo FIRST; fg; echo SECOND; fg`
	c := start(t, "well", false, exec.Command("sh", "-c", script, os.Args[0]))
	c.Await("LIVE")
	c.Type("\x1a")
	c.Await("FIRST")
	c.AwaitAfter("FIRST", "LIVE")
	c.Type("j")
	c.AwaitAfter("FIRST", "\x1b[1mstripe:charge")
	c.Type("\x1a")
	c.Await("SECOND")
	if out := c.Text(); strings.Count(out, "\x1b[?1049l") != 2 {
		t.Errorf("the alternate screen was not left for the shell: %q", out)
	}
	c.AwaitAfter("SECOND", "LIVE")
	c.Type("q")
	if got := c.End(); got != endedWell {
		t.Errorf("it ended with %d", got)
	}
	c.Restored()
}

// TestCopyAndSuspend: a name goes to the clipboard by OSC 52; without a shell
// to go back to, ctrl+z says so instead of waiting for ever.
func TestCopyAndSuspend(t *testing.T) {
	c := startChild(t, "well")
	c.Await("LIVE")
	c.Type("y")
	c.Await("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte("geo:py")))
	c.Type("\x1a")
	c.Await("No shell to go back to")
	c.Type("q")
	if got := c.End(); got != endedWell {
		t.Errorf("it ended with %d", got)
	}
	c.Restored()
}
