// Package cli is bucketop's command line: it reads flags and verbs, runs the
// one-shot verbs, and returns exit codes that scripts can branch on. Data goes
// to stdout and narration to stderr, and nothing that came from Redis reaches
// either unescaped. Every change goes through bucketctl.Admin.
//
// The console and the demo are verbs like the others here, but what they open
// is handed in, so that this package draws nothing.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/conn"
)

// Admin is what the verbs need of bucketctl.Admin.
type Admin interface {
	List(ctx context.Context, cursor string, count int) (bucketctl.Page, error)
	Scan(ctx context.Context, pattern, cursor string, count int) (bucketctl.ScanPage, error)
	Get(ctx context.Context, key string) (bucketctl.State, error)
	GetMany(ctx context.Context, keys []string) ([]bucketctl.State, error)
	SetLimit(ctx context.Context, key string, rev bucketctl.Rev, c bucketctl.LimitChange) (bucketctl.Change, error)
	ClearLimit(ctx context.Context, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error)
	Hold(ctx context.Context, key string, rev bucketctl.Rev, end bucketctl.End, reason string) (bucketctl.Change, error)
	Resume(ctx context.Context, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error)
	Undo(ctx context.Context, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error)
	Reset(ctx context.Context, key string, rev bucketctl.Rev, to bucketctl.Target, reason string) (bucketctl.Change, error)
	Delete(ctx context.Context, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error)
	Workers(ctx context.Context) ([]bucketctl.Worker, time.Time, error)
	Reports(ctx context.Context, after string, most int) ([]bucketctl.Worker, string, error)
	Events(ctx context.Context, q bucketctl.EventQuery) ([]bucketctl.Event, error)
	Server(ctx context.Context) (bucketctl.Server, error)
}

// Env is everything of the process that Run touches.
type Env struct {
	Stdout, Stderr io.Writer
	Getenv         func(string) string

	// Interactive says that stdin and stdout are a terminal.
	Interactive bool

	// ReadPassword asks on the terminal without echo; nil where there is none.
	ReadPassword func(ctx context.Context, prompt string) (string, error)

	// Open connects to a target; the function it returns closes. Default: the
	// target's own Admin.
	Open func(t *conn.Target) (Admin, func() error, error)

	// Console and Demo run until their end or ctx's.
	Console func(ctx context.Context, s Screen) error
	Demo    func(ctx context.Context, d Demo) error

	// Version of the program.
	Version string
}

// Screen is what the command line says of the console.
type Screen struct {
	Target  *conn.Target
	Match   string // glob for foreign keys; empty: none
	Refresh time.Duration
	ASCII   bool
	NoColor bool
}

// Demo is what the command line says of the demo.
type Demo struct {
	Headless time.Duration // 0: with a screen
	Screen   Screen        // without a target
}

// call is one verb being run.
type call struct {
	parsed
	env    Env
	out    output
	target *conn.Target
	admin  Admin
}

// Run runs one command line, without the program's name, and returns its exit
// code. It ends early with ctx; the cause Stopped decides the code then.
func Run(ctx context.Context, args []string, env Env) int {
	p, err := parseArgs(args)
	if err != nil {
		return report(ctx, env, "", err)
	}
	c := &call{parsed: p, env: env, out: output{w: env.Stdout, ascii: p.in.ascii}}
	if p.in.help {
		return report(ctx, env, "", c.helpOn(p.verb))
	}
	if c.out.format, err = parseFormat(p.in.output); err != nil {
		return report(ctx, env, "", err)
	}
	if !p.verb.conn {
		return report(ctx, env, "", p.verb.run(ctx, c))
	}
	return c.runConnected(ctx)
}

// runConnected runs a verb that talks to Redis.
func (c *call) runConnected(ctx context.Context) int {
	target, err := c.in.conn.Resolve(ctx, conn.Env{Getenv: c.env.Getenv, ReadPassword: c.env.ReadPassword})
	if err != nil {
		return report(ctx, c.env, "", usageError{text: plain(err)})
	}
	c.target = target
	for _, warning := range target.Warnings() {
		c.note("warning: %s", warning)
	}
	open := c.env.Open
	if open == nil {
		open = openTarget
	}
	admin, closeAdmin, err := open(target)
	if err != nil {
		return report(ctx, c.env, target.Addr(), err)
	}
	c.admin = admin
	err = c.verb.run(ctx, c)
	// What closing says no longer matters to anybody: the answers are in.
	_ = closeAdmin()
	return report(ctx, c.env, target.Addr(), err)
}

func openTarget(t *conn.Target) (Admin, func() error, error) { return t.Admin() }

// report prints an error as one line on stderr and returns its exit code. A
// signal is no error to tell of.
func report(ctx context.Context, env Env, addr string, err error) int {
	code := exitCode(ctx, err)
	var stopped Stopped
	var said alreadySaid
	if err == nil || errors.As(err, &stopped) || errors.As(context.Cause(ctx), &stopped) || errors.As(err, &said) {
		return code
	}
	narrate(env, sentence(err, addr))
	return code
}

// alreadySaid is an error that stderr knows of; only its code is left to tell.
type alreadySaid struct{ err error }

func (e alreadySaid) Error() string { return e.err.Error() }
func (e alreadySaid) Unwrap() error { return e.err }

// note tells one line on stderr.
func (c *call) note(format string, args ...any) {
	narrate(c.env, line(fmt.Sprintf(format, args...)))
}

// narrate writes one line on stderr. Where that fails there is nobody to tell.
func narrate(env Env, text string) { _, _ = io.WriteString(env.Stderr, "bucketop: "+text+"\n") }

// callTimeout bounds one call to Redis, so that with Redis down a verb ends
// within two seconds, whatever the client below does.
const callTimeout = 1800 * time.Millisecond

// ask makes one bounded call.
func ask[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return f(ctx)
}
