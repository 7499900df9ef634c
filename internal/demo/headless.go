package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sample is one line of a headless run.
type sample struct {
	T        time.Time `json:"t"`
	Granted  float64   `json:"granted"`  // tokens, all buckets of bucketctl together, since the start
	Local    float64   `json:"local"`    // of these, tokens granted without Redis
	Waiting  int       `json:"waiting"`  // callers
	Buckets  int       `json:"buckets"`  // the foreign one included
	Fallback int       `json:"fallback"` // workers that decide without Redis
}

// survivePipes makes a write to a pipe whose reader has gone an error, until the
// function that it returns is called. Else that write would end this process
// at once, and leave the server and its folder.
func survivePipes() (restore func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// headless writes a line each second, and one at the end, which is after that
// long.
func headless(ctx context.Context, out io.Writer, length time.Duration, c *crew) error {
	encoder := json.NewEncoder(out)
	began := time.Now()
	for at := time.Second; ; at += time.Second {
		at = min(at, length)
		sleep(ctx, time.Until(began.Add(at)))
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("demo: ended early: %w", err)
		}
		if err := encoder.Encode(c.sample(time.Now())); err != nil {
			return fmt.Errorf("demo: write a line: %w", err)
		}
		if at == length {
			return nil
		}
	}
}

func (c *crew) sample(now time.Time) sample {
	granted, local, waiting := c.tally.read()
	s := sample{
		T: now.UTC().Truncate(time.Millisecond), Local: local, Waiting: waiting,
		Buckets: c.buckets(), Fallback: c.fallback(),
	}
	for _, tokens := range granted {
		s.Granted += tokens
	}
	return s
}

// narrator writes lines for people. Where that does not work nothing is lost.
func narrator(w io.Writer) func(string) {
	if w == nil {
		return func(string) {}
	}
	began := time.Now()
	return func(text string) {
		_, _ = fmt.Fprintf(w, "demo %3.0fs: %s\n", time.Since(began).Seconds(), text)
	}
}
