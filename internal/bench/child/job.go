// Package child is one process of a trial: a worker that draws grants from one
// peer with many goroutines. Its parent tells it what to do on standard input
// and reads what came of it on standard output, a line each.
package child

import (
	"time"

	"bucketop/internal/bench/figure"
	"bucketop/internal/bench/peer"
)

// Argument is what a program is started with to be a child.
const Argument = "child"

// Job is a child's first line.
type Job struct {
	Peer       string
	Addr       string // of the Redis server, host:port
	Key        string // of the bucket
	Limit      peer.Limit
	Goroutines int
	WarmKey    string        // of another bucket, that is never short
	Warm       time.Duration // spent on it before the child is ready

	// Short is set where tokens are short: goroutines are then called off in
	// mid-wait at the end, and each grant's time is told.
	Short bool
}

// Lines after the job, in turn: the child is ready, the parent lets it go, the
// parent stops it; then the child's Result. It ends with its standard input.
const (
	Ready = "ready"
	Go    = "go"
	Stop  = "stop"
)

// Result is what a child's goroutines got together.
type Result struct {
	Grants   int64
	Failures int64  // calls that returned an error
	Failure  string // one of the errors
	Elapsed  time.Duration
	Allocs   uint64
	Latency  figure.Latency
	Starts   []int64 // of a short job: when each grant started, microseconds since 1970
}
