package bucketctl

import (
	"context"
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
// Methods return ErrUnavailable, ErrDenied, ErrKey or a context's error where
// they can't do their work, besides what each of them names. An Admin may be
// used by several goroutines at once.
type Admin struct {
	client   redis.UniversalClient
	keys     schema.Keys
	by       string
	readOnly bool
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
	return &Admin{client: config.Client, keys: keys, by: by, readOnly: config.ReadOnly}, nil
}

// ReadOnly reports whether every change is refused.
func (a *Admin) ReadOnly() bool { return a.readOnly }

// By returns who makes the changes.
func (a *Admin) By() string { return a.by }

// Change is what an Admin's change did.
type Change struct {
	Before State // the bucket right before it, at the same server time
	After  State // the bucket right after it
	Event  Event // as written to the events stream; its ID is empty with an AuditError
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
	Keys []Foreign
	Next uint64 // cursor for the next step; 0: the scan is complete
}

var errTodo = fmt.Errorf("%w: being built", ErrUnavailable)

// List returns one page of the registry, which knows every bucket that a
// worker reported. cursor is "" for the first page, Page.Next after that;
// count is the page's size at most.
func (a *Admin) List(ctx context.Context, cursor string, count int) (Page, error) {
	return Page{}, errTodo
}

// Scan looks for keys by a glob pattern with SCAN, which walks the whole
// keyspace in steps of about count keys: for buckets that no worker of
// bucketctl registers. Only keys that look like buckets or windows are
// returned. cursor is 0 at the start, ScanPage.Next after that.
func (a *Admin) Scan(ctx context.Context, pattern string, cursor uint64, count int) (ScanPage, error) {
	return ScanPage{}, errTodo
}

// Get returns one bucket's state, or ErrNotFound. With read commands alone.
func (a *Admin) Get(ctx context.Context, key string) (State, error) {
	return State{}, errTodo
}

// GetMany returns the states of keys, in their order, in one round trip (one
// for each node of a cluster). An unknown bucket has KindNone, no Override and
// no Hold; a key of a wrong type has KindWrongType. Neither is an error.
func (a *Admin) GetMany(ctx context.Context, keys []string) ([]State, error) {
	return nil, errTodo
}

// SetLimit changes the override. The level is settled at the limit in force
// until now; a debt keeps its time, not its tokens. Returns ErrLimit,
// ErrForeign (its workers read no overrides), ErrNotFound, ErrWrongType.
func (a *Admin) SetLimit(ctx context.Context, key string, rev Rev, c LimitChange) (Change, error) {
	return Change{}, errTodo
}

// ClearLimit takes the override away; ErrNothing where there is none.
func (a *Admin) ClearLimit(ctx context.Context, key string, rev Rev, reason string) (Change, error) {
	return Change{}, errTodo
}

// Hold stops the bucket: nothing more is charged until end or Resume. A zero
// End keeps the end of the hold that is there, or is NoEnd.
func (a *Admin) Hold(ctx context.Context, key string, rev Rev, end End, reason string) (Change, error) {
	return Change{}, errTodo
}

// Resume takes the hold away; ErrNothing where there is none.
func (a *Admin) Resume(ctx context.Context, key string, rev Rev, reason string) (Change, error) {
	return Change{}, errTodo
}

// Undo changes the newest change of limit or hold back, and says whose it was
// in Change.Event.Detail["undone_by"]. rev is AnyRev or the state's revision.
// ErrNothing where the newest change is an undo, or no event of it is kept.
func (a *Admin) Undo(ctx context.Context, key string, rev Rev, reason string) (Change, error) {
	return Change{}, errTodo
}

// Reset sets the level and mends values that can't be. It touches no hold, no
// cooldown and no override, and can't be undone. Change.Before.Problems says
// what was wrong. Returns ErrNotFound, ErrWrongType, and ErrForeign for ToFull
// where the capacity is unknown.
func (a *Admin) Reset(ctx context.Context, key string, rev Rev, to Target, reason string) (Change, error) {
	return Change{}, errTodo
}

// Delete deletes the state, of whatever type, and forgets the bucket in the
// registry; override and hold stay. A worker that still takes from it begins a
// new bucket, full. Returns ErrNotFound.
func (a *Admin) Delete(ctx context.Context, key string, rev Rev, reason string) (Change, error) {
	return Change{}, errTodo
}

// Workers returns the newest report of every worker heard of in the last 15
// minutes, by name. Server time of the reading comes with it, to tell who is
// silent.
func (a *Admin) Workers(ctx context.Context) ([]Worker, time.Time, error) {
	return nil, time.Time{}, errTodo
}

// Events returns events, oldest first.
func (a *Admin) Events(ctx context.Context, q EventQuery) ([]Event, error) {
	return nil, errTodo
}

// Reports returns reports published after the stream ID after ("" for the
// newest of each worker in the last minute), at most max, oldest first, and
// the ID to go on from.
func (a *Admin) Reports(ctx context.Context, after string, max int) ([]Worker, string, error) {
	return nil, "", errTodo
}

// Server is what the console and doctor show of a Redis server.
type Server struct {
	Addr      string
	Product   string // "redis", "valkey", "miniredis", …
	Version   string
	RunID     string
	Time      time.Time // server time of the reading
	Uptime    time.Duration
	Eviction  string // maxmemory-policy; empty when unknown
	MaxMemory int64  // bytes; 0: no bound
	Evicted   int64  // keys evicted since the server started
}

// Server returns what the server says of itself; what its ACL or product does
// not let us read stays zero.
func (a *Admin) Server(ctx context.Context) (Server, error) {
	return Server{}, errTodo
}
