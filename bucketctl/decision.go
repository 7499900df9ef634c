package bucketctl

import "time"

// Decision is the answer to one request, and who gave it.
type Decision struct {
	Key   string // the bucket; of several the one that decides: it stops them, or makes them wait for longest
	OK    bool
	At    time.Time     // server time at which the caller may start; zero if not OK
	Wait  time.Duration // if not OK: how long a caller would have to wait, at least
	Level float64       // tokens left in the bucket; NaN when unknown
	Limit Limit         // the limit in force

	Mode   Mode   // ModeShared: Redis decided; otherwise the worker did
	Reason string // why the mode is not ModeShared, or why nothing is granted (held, cooldown)

	Since  time.Time // server time, estimated, since when the mode is not ModeShared; zero: it is
	Source Source    // who decided
}

// Source is who made a decision.
type Source string

// Sources.
const (
	SourceRedis  Source = "redis"  // the shared bucket
	SourceWorker Source = "worker" // the worker alone, by its fallback policy
	SourceQueue  Source = "queue"  // nobody was asked: others of this process wait already
)
