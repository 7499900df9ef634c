package bucketctl

import "time"

// Mode is how a worker decides for one bucket.
type Mode string

// Modes.
const (
	ModeShared Mode = "shared" // Redis decides
	ModeShare  Mode = "share"  // on its own: its share of the rate
	ModeClosed Mode = "closed" // on its own: nobody is let through
	ModeOpen   Mode = "open"   // on its own: everybody is let through
)

// Local reports whether the worker decides on its own.
func (m Mode) Local() bool { return m != ModeShared && m != "" }

// Worker is one process that embeds bucketctl, by the newest report it
// published.
type Worker struct {
	ID       string // unique for one run of the process
	App      string
	Host     string
	PID      int
	Version  string // of bucketctl
	Start    time.Time
	Interval time.Duration // between its reports
	Fallback Policy        // what it does without Redis
	Seen     time.Time     // server time of the newest report
	Closing  bool          // its last words: it shut down in order
	Outage   Outage        // the newest that is over; zero: there was none

	Buckets []WorkerBucket
}

// Outage is a time in which a worker decided alone.
type Outage struct {
	Reason string        // why Redis could not be asked
	Since  time.Time     // server time, by the worker's estimate
	Lasted time.Duration // until Redis was asked again
	Local  float64       // tokens granted alone
}

// silentAfter is how many intervals without a report make a worker silent.
const silentAfter = 3

// SilentAt reports whether the worker has not been heard of for 3 of its
// intervals at server time now: it is down, or on its own share; which of the
// two nobody can know.
func (w Worker) SilentAt(now time.Time) bool {
	return !w.Closing && now.Sub(w.Seen) > silentAfter*w.Interval
}

// WorkerBucket is what a worker says of one bucket. Granted, Refused, Local and
// Calls only grow while the worker lives.
type WorkerBucket struct {
	Key    string
	Mode   Mode
	Reason string    // why Mode is not shared
	Since  time.Time // when Mode was entered, by the worker's estimate of server time

	Fallback Policy  // what it does without Redis; empty: as the worker's
	Workers  int     // that share the rate in fallback, as far as it knows; 0: not told
	Share    float64 // tokens per second that it may use alone in fallback
	Declared Limit   // what this worker was configured with
	Window   bool    // a sliding window: Limit's Capacity in any span of Capacity / Rate
	Limit    Limit   // the limit in force as it saw it last
	Rev      Rev     // revision of the operators' record that it saw last
	Level    float64 // tokens, as it saw them last; NaN when it never did

	Granted float64 // tokens charged, in whatever mode
	Local   float64 // of these, tokens granted without Redis
	Refused int64   // requests refused
	Calls   int64   // calls to Redis

	Waiting  int           // callers waiting now
	HeadWait time.Duration // how long the first of them still has to wait
	WaitP50  time.Duration // waits of the last interval
	WaitP99  time.Duration
	LargestN float64       // most tokens asked for at once since the worker started
	CallP99  time.Duration // duration of its calls to Redis in the last interval
}
