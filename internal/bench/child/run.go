package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"bucketop/internal/bench/peer"
)

// ample is never short: a million a second, and a thousand seconds' worth at
// once. The rate is finite, so that every peer has something to write at each
// grant.
func ample() peer.Limit { return peer.Limit{Rate: 1e6, Capacity: 1e9} }

// Run is the child's whole life.
func Run(ctx context.Context, in io.Reader, out io.Writer) error {
	orders := bufio.NewReader(in)
	line, err := orders.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("child: reading the job: %w", err)
	}
	var job Job
	if err := json.Unmarshal(line, &job); err != nil {
		return fmt.Errorf("child: reading the job: %w", err)
	}
	session, err := open(ctx, job)
	if err != nil {
		return fmt.Errorf("child of %s: %w", job.Peer, err)
	}
	err = work(ctx, session, job, orders, out)
	if err == nil {
		// Closing talks to Redis, so the parent says when.
		_, err = io.Copy(io.Discard, orders)
	}
	return errors.Join(err, session.Close())
}

func open(ctx context.Context, job Job) (peer.Session, error) {
	all := peer.All()
	i := slices.IndexFunc(all, func(p peer.Peer) bool { return p.Name == job.Peer })
	if i < 0 {
		return nil, fmt.Errorf("no peer is called %q", job.Peer)
	}
	return all[i].Open(ctx, job.Addr)
}

// work warms up, says so, counts between the orders to go and to stop, and tells
// the result.
func work(ctx context.Context, session peer.Session, job Job, orders *bufio.Reader, out io.Writer) error {
	if err := warm(ctx, session, job); err != nil {
		return err
	}
	limit := job.Limit
	if !job.Short {
		limit = ample()
	}
	limiter, err := session.Limiter(job.Key, limit)
	if err != nil {
		return err
	}
	c := newCrew(ctx, limiter, job)
	if _, err := fmt.Fprintln(out, Ready); err != nil {
		return err
	}
	if err := await(orders, Go); err != nil {
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c.start()
	if err := await(orders, Stop); err != nil {
		return err
	}
	result := c.stop()
	runtime.ReadMemStats(&after)
	result.Allocs = after.Mallocs - before.Mallocs
	return json.NewEncoder(out).Encode(result)
}

// warm opens the connections and teaches the server the scripts. That nothing
// is granted is no error: the figures will tell.
func warm(ctx context.Context, session peer.Session, job Job) error {
	limiter, err := session.Limiter(job.WarmKey, ample())
	if err != nil {
		return err
	}
	job.Short = false
	c := newCrew(ctx, limiter, job)
	c.start()
	time.Sleep(job.Warm)
	c.stop()
	return nil
}

func await(orders *bufio.Reader, order string) error {
	line, err := orders.ReadString('\n')
	if err != nil {
		return fmt.Errorf("awaiting the order to %s: %w", order, err)
	}
	if got := strings.TrimSpace(line); got != order {
		return fmt.Errorf("told to %q, not to %q", got, order)
	}
	return nil
}
