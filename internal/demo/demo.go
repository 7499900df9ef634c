// Package demo runs a Redis of its own and simulated workers that embed the real
// bucketctl, so that the console has something to show where there is neither a
// Redis nor a worker. What happens follows a story that repeats: steady load,
// bursts, a provider that says 429, workers that lose Redis, limits that
// disagree, an override with an end, and a stuck key to reset.
//
// All workers live in this process, each with a Client, connections and callers
// of its own, so to Redis and to the console they are processes like any other.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/conn"
)

// Config is what a demo needs. Either Headless or Screen is required.
type Config struct {
	// Headless is how long to run without a screen, with one line of JSON a
	// second on Stdout. 0: with Screen.
	Headless time.Duration

	// Stdout takes the lines of a headless run, and Stderr its narration. With
	// a screen neither is written to.
	Stdout, Stderr io.Writer

	// Seed chooses the story's details and the callers' pace: who loses Redis,
	// and when exactly.
	Seed int64

	// Screen shows the stage until the operator leaves or ctx ends. The demo
	// ends with it.
	Screen func(ctx context.Context, s Stage) error
}

// Stage is the Redis that the workers play on. Nothing in it is secret.
type Stage struct {
	Admin  *bucketctl.Admin
	Title  string // such as "demo redis-server 7.0.15"
	Addr   string // URL, as bucketop -u takes it in another terminal
	Server string // what serves, with its path, and why it is not another
	Match  string // glob for the bucket that no worker of bucketctl registers
}

// Run starts everything, and ends everything before it returns: when the
// screen is left, when the headless time is over (nil), or with ctx (its
// error).
func Run(ctx context.Context, c Config) (err error) {
	if c.Headless <= 0 && c.Screen == nil {
		return errors.New("demo: neither a screen nor a headless run is asked for")
	}
	if c.Headless > 0 {
		defer survivePipes()()
	}
	s, err := startServer(ctx)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { err = errors.Join(err, s.end()) }()
	return c.perform(ctx, s)
}

// perform lets the workers play on s.
func (c Config) perform(ctx context.Context, s *server) error {
	admin, closeAdmin, err := s.admin(ctx, "")
	if err != nil {
		return err
	}
	defer closeAdmin()
	workers, err := startCrew(ctx, s, uint64(c.Seed)) // #nosec G115 -- any bits are a seed
	if err != nil {
		return err
	}
	defer workers.stop()
	tell := func(string) {}
	if c.Headless > 0 {
		tell = narrator(c.Stderr)
		tell(s.name + ", " + s.url)
	}
	director, err := newDirector(ctx, s, workers, tell)
	if err != nil {
		return err
	}
	defer director.stop()
	director.start(ctx, newStory(uint64(c.Seed))) // #nosec G115 -- as above
	if c.Headless > 0 {
		return headless(ctx, c.Stdout, c.Headless, workers)
	}
	return c.Screen(ctx, Stage{Admin: admin, Title: "demo " + s.title, Addr: s.url, Server: s.name, Match: foreignKey})
}

// admin returns an Admin for changes by that name, by default this process's
// owner, and a function that closes its connection.
func (s *server) admin(ctx context.Context, by string) (*bucketctl.Admin, func(), error) {
	noEnv := func(string) string { return "" } // REDISCLI_AUTH is another server's
	target, err := conn.Config{URL: s.url, By: by}.Resolve(ctx, conn.Env{Getenv: noEnv})
	if err != nil {
		return nil, nil, fmt.Errorf("demo: %w", err)
	}
	admin, closeClient, err := target.Admin()
	if err != nil {
		return nil, nil, fmt.Errorf("demo: %w", err)
	}
	return admin, func() { _ = closeClient() }, nil // the server goes too
}
