package bucketctl

import "time"

// Decision is the answer to one request, and who gave it.
type Decision struct {
	OK    bool
	At    time.Time     // server time at which the caller may start; zero if not OK
	Wait  time.Duration // if not OK: how long a caller would have to wait, at least
	Level float64       // tokens left in the bucket; NaN when unknown
	Limit Limit         // the limit in force

	Mode   Mode   // ModeShared: Redis decided; otherwise the worker did
	Reason string // why the mode is not ModeShared, or why nothing is granted (held, cooldown)
}
