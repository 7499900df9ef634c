package peer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/bench/figure"
	"bucketop/lua"
)

func bucketctlPeer() Peer {
	return Peer{Name: Bucketctl, Open: openBucketctl, Sent: bucketctlSent, Stamps: true}
}

type bucketctlSession struct{ client *bucketctl.Client }

func openBucketctl(ctx context.Context, addr string) (Session, error) {
	// Its Warn lines go to standard error: a worker that decided alone would
	// spoil the figures.
	client, err := bucketctl.Open(ctx, bucketctl.Config{URL: "redis://" + addr, App: "bench", Logger: slog.Default()})
	if err != nil {
		return nil, fmt.Errorf("opening bucketctl: %w", err)
	}
	return bucketctlSession{client}, nil
}

func (s bucketctlSession) Limiter(key string, limit Limit) (Limiter, error) {
	l, err := s.client.Bucket(key, bucketctl.PerSecond(float64(limit.Rate)).Burst(float64(limit.Capacity)))
	return stamped{l}, err
}

func (s bucketctlSession) Close() error { return s.client.Close() }

var errAlone = errors.New("bucketctl decided without Redis")

// stamped takes the server's time from the Grant, which Wait does not make.
type stamped struct{ *bucketctl.Limiter }

func (s stamped) WaitStamped(ctx context.Context) (time.Time, error) {
	g, err := s.Acquire(ctx, 1)
	if err != nil {
		return time.Time{}, err
	}
	if g.Mode != bucketctl.ModeShared {
		return time.Time{}, errAlone
	}
	return g.At, nil
}

// bucketctlSent leaves out what the scripts of a worker call, as their text has
// it. Beats are scripts too: they are told by their only ZSCORE, and counted
// apart so that what is left are takes. Their time, some microseconds a second,
// stays with the takes.
func bucketctlSent(all figure.Commands) figure.Commands {
	beats := all["zscore"].Calls
	sent := all.Without(calledBy(lua.Take(), lua.Give(), lua.Cool())...)
	for _, name := range calledBy(lua.Beat()) {
		direct := 0.0
		if name == "zadd" { // reports register buckets by the same command
			direct = all[name].Calls - beats
		}
		sent = sent.Only(name, direct)
	}
	takes := sent["evalsha"]
	takes.Calls -= beats
	sent["evalsha"], sent["beats"] = takes, figure.Command{Calls: beats}
	return sent
}

// calledBy are the commands that scripts call.
func calledBy(scripts ...string) (names []string) {
	for _, script := range scripts {
		for _, call := range regexp.MustCompile(`call\('([A-Z]+)'`).FindAllStringSubmatch(script, -1) {
			names = append(names, strings.ToLower(call[1]))
		}
	}
	return names
}
