// Command bucketop is a terminal operations console for rate-limit buckets that
// live in Redis, and the same as verbs for scripts.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	_ "bucketop/internal/noprobe" // before whatever links bubbletea, see there

	"golang.org/x/term"

	"bucketop/internal/cli"
	"bucketop/internal/conn"
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
	codes := map[os.Signal]int{
		os.Interrupt:    cli.ExitInterrupted,
		syscall.SIGTERM: cli.ExitTerminated,
		syscall.SIGHUP:  cli.ExitHangup,
	}
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // else nohup asks us to stay
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		select {
		case s := <-signals:
			cancel(cli.Stopped{Code: codes[s]})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// untilHangup also heeds a hangup that nohup had ignored: a screen has nothing
// left to do without its terminal.
func untilHangup(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		select {
		case <-signals:
			cancel(cli.Stopped{Code: cli.ExitHangup})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// readPassword asks on the terminal. A signal ends it with the echo back on.
func readPassword(ctx context.Context, fd int, prompt string) (string, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	os.Stderr.WriteString(prompt)
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
		os.Stderr.WriteString("\n")
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

func console(context.Context, cli.Screen) error {
	return errors.New("the console is not in this build")
}

func runDemo(context.Context, cli.Demo) error { return errors.New("the demo is not in this build") }
