//go:build unix

package ptytest

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// patience is how long anything may take on a loaded machine.
const patience = 30 * time.Second

// lastWritten goes through the terminal behind all that the program wrote: its
// exit says nothing of what is still to be read.
const lastWritten = "<nothing comes after this>"

// Config is how a program is run. The zero Config is a terminal that never
// answers what it is asked, and controls the program.
type Config struct {
	// Answers lets the terminal say its background and its cursor's position
	// when it is asked for them.
	Answers bool

	// Detached runs the program as nohup does: the terminal does not control it,
	// so that it hears of a hangup by reading alone.
	Detached bool

	// Pause comes before each Type, as a person makes one: what comes closer may
	// be a paste to the program.
	Pause time.Duration
}

// Terminal is a program that runs on a terminal of 80 columns and 24 lines.
type Terminal struct {
	t      testing.TB
	config Config
	cmd    *exec.Cmd
	pty    *os.File // the terminal's side
	tty    *os.File // the program's side, kept open to look at its modes
	before *term.State
	ended  chan error
	copied chan struct{} // closed when there is nothing more to read
	hungUp bool

	mu     sync.Mutex
	output []byte
	grew   chan struct{} // receives when output has grown
}

// Start runs cmd, whose environment is the caller's to set, until the test ends.
func Start(t testing.TB, cmd *exec.Cmd, config Config) *Terminal {
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
	x := &Terminal{
		t: t, config: config, cmd: cmd, pty: master, tty: slave, before: before,
		ended: make(chan error, 1), copied: make(chan struct{}), grew: make(chan struct{}, 1),
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: !config.Detached}
	if err := x.start(); err != nil {
		t.Fatal(err)
	}
	go x.copy()
	go func() { x.ended <- cmd.Wait() }()
	t.Cleanup(x.close)
	return x
}

// start starts the program so that a hangup ends it, also where the tests run
// under nohup: a signal that is ignored here would be ignored by the program, too.
func (x *Terminal) start() error {
	if !x.config.Detached {
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, syscall.SIGHUP)
		defer signal.Stop(heard)
	}
	return x.cmd.Start()
}

func (x *Terminal) copy() {
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
		if x.config.Answers {
			_, _ = x.pty.Write(answers(buffer[:n])) // a program that is gone needs none
		}
	}
}

// answers are what a terminal says when it is asked for its background and its
// cursor's position.
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

// close ends what is left of the program and of the terminal.
func (x *Terminal) close() {
	_ = x.cmd.Process.Kill() // most are gone by now
	_ = x.tty.Close()
	_ = x.pty.Close()
	<-x.copied
}

// Text is all that was written, escape sequences included.
func (x *Terminal) Text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return string(x.output)
}

// Await waits until the program has written text.
func (x *Terminal) Await(text string) {
	x.t.Helper()
	x.AwaitAfter("", text)
}

// AwaitAfter waits until it has written text behind the last mark.
func (x *Terminal) AwaitAfter(mark, text string) {
	x.t.Helper()
	for deadline := time.After(patience); !x.hasAfter(mark, text); {
		select {
		case <-x.grew:
		case <-deadline:
			x.t.Fatalf("%q was never written, but %q", text, x.Text())
		}
	}
}

func (x *Terminal) hasAfter(mark, text string) bool {
	written := x.Text()
	if mark != "" {
		from := strings.LastIndex(written, mark)
		if from < 0 {
			return false
		}
		written = written[from:]
	}
	return strings.Contains(written, text)
}

// Type types keys, all at once.
func (x *Terminal) Type(keys string) {
	x.t.Helper()
	time.Sleep(x.config.Pause)
	if _, err := io.WriteString(x.pty, keys); err != nil {
		x.t.Fatal(err)
	}
}

// Signal sends the program a signal.
func (x *Terminal) Signal(s os.Signal) {
	x.t.Helper()
	if err := x.cmd.Process.Signal(s); err != nil {
		x.t.Fatal(err)
	}
}

// HangUp takes the terminal away from the program.
func (x *Terminal) HangUp() {
	x.t.Helper()
	x.hungUp = true
	if err := x.pty.Close(); err != nil {
		x.t.Fatal(err)
	}
}

// End waits for the program, and for all that it wrote, and returns its exit
// code: -1 where a signal killed it.
func (x *Terminal) End() int {
	x.t.Helper()
	select {
	case err := <-x.ended:
		if err != nil && x.cmd.ProcessState == nil {
			x.t.Fatal(err)
		}
	case <-time.After(patience):
		x.t.Fatalf("still running, after %q", x.Text())
	}
	if !x.hungUp {
		if _, err := x.tty.WriteString(lastWritten); err != nil {
			x.t.Fatal(err)
		}
		x.Await(lastWritten)
	}
	return x.cmd.ProcessState.ExitCode()
}

// Restored fails the test unless the terminal is as it was before.
func (x *Terminal) Restored() {
	x.t.Helper()
	if now := x.modes(); *now != *x.before {
		x.t.Errorf("the terminal's modes were %v, now %v", x.before, now)
	}
	shown := x.Text()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?2004h": "\x1b[?2004l"} {
		if strings.LastIndex(shown, on) > strings.LastIndex(shown, off) {
			x.t.Errorf("%q was switched on and never off again, in %q", on, shown)
		}
	}
}

func (x *Terminal) modes() *term.State {
	x.t.Helper()
	now, err := term.GetState(int(x.tty.Fd()))
	if err != nil {
		x.t.Fatal(err)
	}
	return now
}

// AwaitNoEcho waits until the terminal echoes no more what is typed.
func (x *Terminal) AwaitNoEcho() {
	x.t.Helper()
	for deadline := time.Now().Add(patience); *x.modes() == *x.before; {
		if time.Now().After(deadline) {
			x.t.Fatal("the terminal still echoes")
		}
	}
}
