// Package peer makes limiters of several libraries look alike, so that they can
// be measured in one run. Each file is one peer, used as its own documentation
// says: where a library does not wait, its caller sleeps the wait it returns
// and asks again.
package peer

import (
	"context"
	"time"

	"bucketop/internal/bench/figure"
)

// Limit is a token bucket: what every peer is asked to keep.
type Limit struct {
	Rate     int // tokens per second
	Capacity int // tokens
}

// Peer is one library, or one way to use it.
type Peer struct {
	Name string

	// Open connects to the Redis server at addr, host:port.
	Open func(ctx context.Context, addr string) (Session, error)

	// Sent keeps, of what a server did, what the peer's client sent, without
	// what ran inside its scripts.
	Sent func(figure.Commands) figure.Commands

	// Unlimited is set for what grants everything: it only shows what a call
	// costs.
	Unlimited bool

	// Stamps says by whose clock starts are known: true where the peer tells
	// the server's time of each grant, else it is when the grant was received.
	Stamps bool
}

// Session is a process's connection to Redis.
type Session interface {
	Limiter(key string, limit Limit) (Limiter, error)
	Close() error
}

// Limiter is one bucket. It is used by many goroutines at once.
type Limiter interface {
	// Wait blocks until one token is taken. An error while ctx is alive is a
	// failed call, after which the caller tries again.
	Wait(ctx context.Context) error
}

// Stamper is a Limiter that tells the server's time at which a grant may start.
type Stamper interface {
	WaitStamped(ctx context.Context) (time.Time, error)
}

// All returns the peers in the order of the table.
func All() []Peer {
	return []Peer{
		bucketctlPeer(),
		redisRate(),
		throttledPeer(),
		ulule(),
		rueidisPeer(),
		article(),
		returnOne(),
		xTime(),
	}
}

// These are named by the targets.
const (
	Bucketctl = "bucketctl"
	RedisRate = "redis_rate" // also what every ratio is relative to
	Article   = "article's script"
)
