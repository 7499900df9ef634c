// Command bucketop is a terminal operations console for rate-limit buckets that
// live in Redis, and the same as verbs for scripts.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	_ "bucketop/internal/noprobe" // before whatever links bubbletea, see there

	"golang.org/x/term"

	"bucketop/bucketctl"
	"bucketop/internal/cli"
	"bucketop/internal/conn"
	"bucketop/internal/demo"
	"bucketop/internal/textsafe"
	"bucketop/internal/watch"
	"bucketop/ui"
)

func main() { os.Exit(run()) }

// run is main with a return value, so that what is deferred is done.
func run() int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	conn.Silence()

	stdin, stdout := int(os.Stdin.Fd()), int(os.Stdout.Fd())
	env := cli.Env{
		Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Interactive: term.IsTerminal(stdin) && term.IsTerminal(stdout),
		Console:     console, Demo: runDemo,
		Version: version(),
	}
	if term.IsTerminal(stdin) {
		env.ReadPassword = func(ctx context.Context, prompt string) (string, error) {
			return readPassword(ctx, stdin, prompt)
		}
	}
	return cli.Run(ctx, os.Args[1:], env)
}

// untilSignal returns a context that ends with the first signal that asks the
// program to leave. Further ones change nothing: leaving takes about two
// seconds at most, and a program that died of the second would leave the
// terminal as it is.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // else nohup asks us to stay
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		select {
		case s := <-signals:
			cancel(cli.Stopped{Code: exitCodes()[s]})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// exitCodes are those of the signals that end the program.
func exitCodes() map[os.Signal]int {
	return map[os.Signal]int{
		os.Interrupt:    cli.ExitInterrupted,
		syscall.SIGTERM: cli.ExitTerminated,
		syscall.SIGHUP:  cli.ExitHangup,
	}
}

// readPassword asks on the terminal. A signal ends it with the echo back on.
func readPassword(ctx context.Context, fd int, prompt string) (string, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	fmt.Fprint(os.Stderr, prompt)
	type answer struct {
		password []byte
		err      error
	}
	answers := make(chan answer, 1)
	go func() {
		password, err := term.ReadPassword(fd)
		answers <- answer{password, err}
	}()
	select {
	case a := <-answers:
		fmt.Fprintln(os.Stderr)
		return string(a.password), a.err
	case <-ctx.Done():
		return "", errors.Join(context.Cause(ctx), term.Restore(fd, before))
	}
}

// version is what the build knows of itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}

// console opens the console on the Redis that the command line names.
func console(ctx context.Context, s cli.Screen) error {
	admin, closeAdmin, err := s.Target.Admin()
	if err != nil {
		return err
	}
	err = screenEnd(screen(ctx, admin, s.Target.Addr(), s.Target.Addr(), s))
	// Nothing is left to lose when closing fails: what was written was answered.
	_ = closeAdmin()
	return err
}

// screen shows the console over an Admin until the operator, ctx or a signal
// ends it. It does not wait for a reading under way: leaving is instant,
// whatever Redis does.
func screen(ctx context.Context, admin *bucketctl.Admin, title, addr string, s cli.Screen) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watcher := watch.New(watch.Config{Admin: admin, Addr: addr, Refresh: s.Refresh, Match: s.Match})
	go func() {
		// A panic in a goroutine would end the process with the terminal as the
		// screen has it; so it ends the screen, which restores the terminal.
		defer func() {
			if value := recover(); value != nil {
				cancel(&ui.PanicError{Value: value, Stack: debug.Stack()})
			}
		}()
		watcher.Run(ctx)
	}()
	return tellUnfinished(os.Stderr, ui.Run(ctx, ui.Config{
		Source: watcher, Admin: admin, Title: title, ASCII: s.ASCII, NoColor: s.NoColor,
	}))
}

// tellUnfinished says which changes the console left without an answer, now that
// the terminal is as it was, and returns what else ended it.
func tellUnfinished(stderr io.Writer, err error) error {
	var unfinished *ui.UnfinishedError
	if !errors.As(err, &unfinished) {
		return err
	}
	for _, change := range unfinished.Changes {
		// Where writing fails there is nobody to tell.
		_, _ = fmt.Fprintf(stderr, "bucketop: the %s was under way, so it may or may not have been written; bucketop get shows it\n", textsafe.Escape(change))
	}
	return unfinished.End
}

// screenEnd turns what ended the screen into what the command line knows.
func screenEnd(err error) error {
	var bySignal *ui.SignalError
	var byPanic *ui.PanicError
	switch {
	case errors.As(err, &bySignal):
		return cli.Stopped{Code: exitCodes()[bySignal.Signal]}
	case errors.Is(err, ui.ErrHangup):
		return cli.Stopped{Code: cli.ExitHangup}
	case errors.As(err, &byPanic):
		_, _ = os.Stderr.Write(byPanic.Stack)
		return fmt.Errorf("the console panicked, which is a bug: %v", byPanic.Value)
	}
	return err
}

// runDemo shows the console over a Redis and workers of the demo's own.
func runDemo(ctx context.Context, d cli.Demo) error {
	return screenEnd(demo.Run(ctx, demo.Config{
		Headless: d.Headless, Stdout: os.Stdout, Stderr: os.Stderr, Seed: time.Now().UnixNano(),
		Screen: func(ctx context.Context, stage demo.Stage) error {
			// Before the screen, so that it can be read again after it.
			fmt.Fprintf(os.Stderr, "bucketop: the demo runs on %s; from another terminal: bucketop -u %s\n", stage.Server, stage.Addr)
			s := d.Screen
			s.Match = stage.Match
			return screen(ctx, stage.Admin, stage.Title, stage.Addr, s)
		},
	}))
}
