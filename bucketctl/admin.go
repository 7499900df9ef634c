package bucketctl

import (
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/schema"
)

// AdminConfig is what an Admin needs.
type AdminConfig struct {
	// Client talks to the Redis that the workers use. The Admin never closes
	// it. Required.
	Client redis.UniversalClient

	// Namespace is the workers' Config.Namespace. Default: "bucketctl".
	Namespace string

	// By names who makes the changes, for the audit, such as "anna@ops1".
	// Default: "unknown".
	By string

	// ReadOnly refuses every change with ErrReadOnly. Default: false.
	ReadOnly bool
}

// Admin is the one door for looking at buckets and changing them: console,
// verbs and programs of yours go through it.
//
// Every change takes the revision it was decided on (State.Rev, or AnyRev),
// fails with a ConflictError if somebody else was faster, returns the state
// after it, wakes the workers that wait, and adds an event that tells before,
// after, who and why.
//
// Methods return ErrUnavailable, ErrDenied or a context's error, as a CallError,
// or ErrKey where they can't do their work, besides what each of them names;
// changes also an AuditError. An Admin may be used by several goroutines at once.
type Admin struct {
	client   redis.UniversalClient
	keys     schema.Keys
	by       string
	readOnly bool
	scripts  scripts
}

// NewAdmin returns an Admin, or an ErrConfig. It does no I/O.
func NewAdmin(config AdminConfig) (*Admin, error) {
	if config.Client == nil {
		return nil, fmt.Errorf("%w: AdminConfig.Client is required", ErrConfig)
	}
	keys, err := schema.New(config.Namespace)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	by := config.By
	if by == "" {
		by = "unknown"
	}
	return &Admin{client: config.Client, keys: keys, by: by, readOnly: config.ReadOnly, scripts: newScripts()}, nil
}

// ReadOnly reports whether every change is refused.
func (a *Admin) ReadOnly() bool { return a.readOnly }

// By returns who makes the changes.
func (a *Admin) By() string { return a.by }

// Change is what an Admin's change did.
type Change struct {
	Before State // the bucket right before it, at the same server time
	After  State // the bucket right after it
	Event  Event // as written to the events stream; its ID is empty where an AuditError says that it is not
}

// Registered is one bucket of the registry.
type Registered struct {
	Key  string
	Seen time.Time // server time at which a worker last reported it
}

// Page is one step through the registry.
type Page struct {
	Buckets []Registered
	Next    string // cursor for the next page; empty: this was the last
	Total   int    // buckets in the whole registry at that moment
}

// Target is what a reset sets the level to.
type Target struct {
	full   bool
	tokens float64
}

// ToFull is the capacity in force.
func ToFull() Target { return Target{full: true} }

// ToEmpty is 0 tokens.
func ToEmpty() Target { return Target{} }

// ToLevel is so many tokens, clamped to the capacity where it is known.
func ToLevel(tokens float64) Target { return Target{tokens: tokens} }

// Foreign is one key that a scan found.
type Foreign struct {
	Key  string
	Kind Kind // KindForeign, KindForeignWindow, KindBucket or KindWindow
}

// ScanPage is one step of a scan for foreign keys.
type ScanPage struct {
	Keys   []Foreign
	Denied int    // keys left out because the ACL keeps them from this user
	Next   string // cursor for the next step; empty: the scan is complete
}

// Server is what the console and doctor show of a Redis server.
type Server struct {
	Product   string // "redis", "valkey", "miniredis", …
	Version   string
	RunID     string
	Time      time.Time // server time of the reading
	Uptime    time.Duration
	Eviction  string // maxmemory-policy; empty when unknown
	MaxMemory int64  // bytes; 0: no bound
	Evicted   int64  // keys evicted since the server started
}
