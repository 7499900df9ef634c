// Package watch turns Redis into snapshots for the console: it polls the
// buckets on screen, follows reports and events, keeps the last minutes in
// rings, and ranks what an operator should look at first. It knows nothing of
// terminals.
package watch

import (
	"time"

	"bucketop/bucketctl"
)

// Snapshot is everything the console shows, at one moment. It is never changed
// after it was handed out; whoever holds one may read it at leisure.
type Snapshot struct {
	At    time.Time // server time of the newest reading; zero before the first
	Taken time.Time // this machine's monotonic clock at the same moment

	Link    Link
	Server  bucketctl.Server
	Buckets []Bucket // worst first
	Workers []Worker // worst first; who is gone last
	Events  []bucketctl.Event
	Alerts  []Alert // gravest first
	Counts  map[Code]int
	Forced  Forced
	Cost    Cost
	Match   string // the pattern of keys looked for beyond the registry, as in Config

	Known int // buckets known; Buckets has the worst of them, at most MaxRows

	First Progress      // of the first sweep of the whole registry; zero once it is complete
	Back  time.Duration // how far back the reports seen reach
	Sweep time.Duration // from one sweep of the whole registry to the next; 0 before the first is complete
	Round time.Duration // how long it takes at most until a bucket that nobody looks at is read again
}

// Forced counts buckets in which an operator's will is in force, whatever else
// their state is: Counts has each bucket once, by its gravest state.
type Forced struct{ Overrides, Holds int }

// Progress is how far something that takes long is.
type Progress struct{ Read, Total int }

// LinkState is how the console itself stands with Redis.
type LinkState string

// Link states.
const (
	Connecting LinkState = "connecting" // nothing was read yet
	Live       LinkState = "live"
	Lost       LinkState = "lost" // the last attempt failed; the data is old
)

// Link is the console's own connection.
type Link struct {
	State LinkState
	Addr  string        // host:port, never with a password
	Since time.Time     // local time at which State was entered
	Err   string        // why it is not Live, one clause, escaped for terminals by the console
	RTT   time.Duration // of the last refresh
	Tries int           // attempts since it was Live
}

// Code is one state of a bucket in the list, in the order of gravity.
type Code int

// Codes, gravest first.
const (
	Stuck      Code = iota // someone waits, nothing is granted, no hold, no cooldown
	Corrupt                // stored values, or the key's type, can't be
	Silent                 // a worker of it is not heard of
	Fallback               // a worker of it decides on its own
	Cooldown               // workers stopped it because the provider asked
	Held                   // an operator stopped it
	Drift                  // its workers declare different limits
	FullUse                // someone waits, grants at 90 % of the limit or more: healthy
	Overridden             // an override is in force
	OK                     // tokens are granted
	Idle                   // nothing was granted lately
	Foreign                // another program's bucket
	Unread                 // known, but its state was not read yet
)

// Status is what the STATE column says of one bucket.
type Status struct {
	Code   Code
	Since  time.Time // server time at which it began; zero when unknown
	Text   string    // after the word: "4m", "1 of 4", "4m anna", "2 limits", "26m"
	Cause  string    // where known: one clause, such as "ts is 9m ahead, no refill until 14:41"
	Remedy string    // the key or verb that helps, such as "R resets"; empty when none
}

// Bucket is one row.
type Bucket struct {
	Key   string
	State bucketctl.State // Kind KindNone and zero At while unread; KindDenied and zero At where Redis refuses it

	// Reported: nothing is stored that tells the declared limit, since no worker has
	// reached the scripts yet. Declared and Effective of State are what the workers
	// report instead; Redis does not know them.
	Reported bool

	Seen   time.Time // server time a worker last reported it; zero: none did
	Status Status

	Granted  float64       // tokens per second lately, over about 5 s; NaN when unknown
	Alone    float64       // of Granted, what workers grant without Redis, on their shares
	Used     float64       // Granted as a part of the rate in force; NaN when unknown
	Waiting  int           // callers waiting, over all workers; -1 when unknown
	HeadWait time.Duration // the longest wait of any worker's first caller; 0 when unknown, as right after a change
	LargestN float64       // most tokens a worker asked for at once; 0 when unknown
	Workers  []WorkerRow   // who draws from it, by name

	History History
}

// WorkerRow is one worker's view of one bucket.
type WorkerRow struct {
	Name   string
	Silent bool
	Seen   time.Time
	bucketctl.WorkerBucket
	Rate float64 // tokens per second lately; NaN when unknown
	Over float64 // tokens per second that it may draw on top of the limit, while it is silent or in fallback; +Inf: no bound
}

// Worker is one process on the workers screen.
type Worker struct {
	bucketctl.Worker
	Name  string // unique; short of those alive, the ID of those gone
	State WorkerState
	Since time.Time   // server time at which State began, by the worker's estimate; of one silent or gone its last report; zero while shared
	Why   string      // one clause, such as "down, or on its own share, +150/min above limit"; escape it for terminals
	Rows  []WorkerRow // by key
}

// History is the last minute of one bucket, one point a second, oldest first;
// NaN where nothing is known. Marks are the events within it.
type History struct {
	End     time.Time // server time of the newest point
	Levels  []float64 // tokens
	Granted []float64 // tokens per second
	Marks   []Mark
}

// Mark is an event within a History.
type Mark struct {
	At   time.Time
	Kind bucketctl.EventKind
}

// Alert is one attention line above the list.
type Alert struct {
	Code   Code
	Key    string // the bucket it is about; empty when about a worker
	Worker string
	Text   string // such as "STUCK 4m: ts is 9m ahead, no refill until 14:41 (R resets)"
	Grave  bool   // shown as "!!" and in red, else as "!" and in yellow
}

// Cost is what the console itself asks of Redis.
type Cost struct {
	Calls   float64 // commands per second, lately
	Bytes   float64 // read from Redis per second, lately; NaN when unknown
	Refresh time.Duration
}
