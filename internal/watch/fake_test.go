package watch

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"bucketop/bucketctl"
)

// epoch is the server time at which the fakes begin.
var epoch = time.Date(2026, 3, 14, 14, 32, 0, 0, time.UTC)

// at is the server time s seconds after epoch.
func at(s float64) time.Time { return epoch.Add(time.Duration(s * float64(time.Second))) }

// fakeRedis answers like Admin, out of memory. Its clock is what clock says.
type fakeRedis struct {
	clock func() time.Time

	mu       sync.Mutex
	registry []string
	states   map[string]bucketctl.State
	reports  []bucketctl.Worker // oldest first
	events   []bucketctl.Event
	foreign  []bucketctl.Foreign
	server   bucketctl.Server
	down     error            // of every call
	refuse   map[string]error // by method
	locked   map[string]bool  // keys that the ACL refuses
	hang     bool             // every call waits for its context

	read    []string       // keys of the last GetMany
	tried   map[string]int // how often each key was asked for
	calls   map[string]int
	running int // calls under way
	overlap bool
}

func newFakeRedis(clock func() time.Time) *fakeRedis {
	return &fakeRedis{
		clock:  clock,
		states: map[string]bucketctl.State{},
		server: bucketctl.Server{Product: "redis", RunID: "run-1", Uptime: time.Hour, Eviction: "noeviction"},
		refuse: map[string]error{},
		locked: map[string]bool{},
		calls:  map[string]int{},
		tried:  map[string]int{},
	}
}

var errDown = fmt.Errorf("%w: read: can't connect: connect: connection refused", bucketctl.ErrUnavailable)

// enter begins a call; leave ends it.
func (f *fakeRedis) enter(ctx context.Context, method string) error {
	f.mu.Lock()
	f.calls[method]++
	f.running++
	f.overlap = f.overlap || f.running > 1
	hang, err := f.hang, f.down
	if err == nil {
		err = f.refuse[method]
	}
	f.mu.Unlock()
	if hang {
		<-ctx.Done()
		err = fmt.Errorf("bucketctl: %s: %w", method, ctx.Err())
	}
	return err
}

func (f *fakeRedis) leave() {
	f.mu.Lock()
	f.running--
	f.mu.Unlock()
}

// do changes the fake's data under its lock.
func (f *fakeRedis) do(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeRedis) List(ctx context.Context, cursor string, count int) (bucketctl.Page, error) {
	defer f.leave()
	if err := f.enter(ctx, "List"); err != nil {
		return bucketctl.Page{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	from, _ := strconv.Atoi(cursor)
	to := min(from+count, len(f.registry))
	page := bucketctl.Page{Total: len(f.registry)}
	for _, key := range f.registry[min(from, to):to] {
		page.Buckets = append(page.Buckets, bucketctl.Registered{Key: key, Seen: f.clock()})
	}
	if to < len(f.registry) {
		page.Next = strconv.Itoa(to)
	}
	return page, nil
}

func (f *fakeRedis) Scan(ctx context.Context, _, cursor string, count int) (bucketctl.ScanPage, error) {
	defer f.leave()
	if err := f.enter(ctx, "Scan"); err != nil {
		return bucketctl.ScanPage{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	from, _ := strconv.Atoi(cursor)
	to := min(from+count, len(f.foreign))
	page := bucketctl.ScanPage{Keys: slices.Clone(f.foreign[min(from, to):to])}
	if to < len(f.foreign) {
		page.Next = strconv.Itoa(to)
	}
	return page, nil
}

func (f *fakeRedis) GetMany(ctx context.Context, keys []string) ([]bucketctl.State, error) {
	defer f.leave()
	if err := f.enter(ctx, "GetMany"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read = slices.Clone(keys)
	var out []bucketctl.State
	for _, key := range keys {
		f.tried[key]++
		if f.locked[key] {
			out = append(out, bucketctl.State{
				Key: key, Kind: bucketctl.KindDenied, At: f.clock(), Level: math.NaN(),
				Problems: []bucketctl.Problem{{Code: bucketctl.ProblemDenied, Text: "NOPERM No permissions to access a key"}},
			})
			continue
		}
		s, found := f.states[key]
		if !found {
			s = bucketctl.State{Kind: bucketctl.KindNone, Type: "none", Level: math.NaN()}
		}
		s.Key, s.At = key, f.clock()
		out = append(out, s)
	}
	return out, nil
}

func (f *fakeRedis) Workers(ctx context.Context) ([]bucketctl.Worker, time.Time, error) {
	defer f.leave()
	if err := f.enter(ctx, "Workers"); err != nil {
		return nil, time.Time{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	newest := map[string]bucketctl.Worker{}
	for _, w := range f.reports {
		if f.clock().Sub(w.Seen) < 15*time.Minute {
			newest[w.ID] = w
		}
	}
	var out []bucketctl.Worker
	for _, w := range newest {
		out = append(out, w)
	}
	return out, f.clock(), nil
}

func (f *fakeRedis) Reports(ctx context.Context, after string, most int) ([]bucketctl.Worker, string, error) {
	defer f.leave()
	if err := f.enter(ctx, "Reports"); err != nil {
		return nil, "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if after == "" {
		return nil, strconv.Itoa(len(f.reports)) + "-0", nil
	}
	var from int
	if _, err := fmt.Sscanf(after, "%d-0", &from); err != nil {
		return nil, after, err
	}
	to := min(len(f.reports), from+most)
	return slices.Clone(f.reports[min(from, to):to]), strconv.Itoa(to) + "-0", nil
}

func (f *fakeRedis) Events(ctx context.Context, q bucketctl.EventQuery) ([]bucketctl.Event, error) {
	defer f.leave()
	if err := f.enter(ctx, "Events"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	from, _ := strconv.Atoi(q.After)
	rest := f.events[min(from, len(f.events)):]
	return slices.Clone(rest[max(0, len(rest)-q.Max):]), nil
}

func (f *fakeRedis) Server(ctx context.Context) (bucketctl.Server, error) {
	defer f.leave()
	if err := f.enter(ctx, "Server"); err != nil {
		return bucketctl.Server{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.server
	s.Time = f.clock()
	return s, nil
}

// happen adds an event, now.
func (f *fakeRedis) happen(kind bucketctl.EventKind, key, by string) {
	f.do(func() {
		f.events = append(f.events, bucketctl.Event{
			ID: strconv.Itoa(len(f.events) + 1), At: f.clock(), Kind: kind, Key: key, By: by,
		})
	})
}

// say adds a worker's report, now.
func (f *fakeRedis) say(w bucketctl.Worker) {
	f.do(func() {
		w.Seen = f.clock()
		f.reports = append(f.reports, w)
	})
}

// desk is a watcher without a loop: a test moves its clock and makes its rounds.
type desk struct {
	t     *testing.T
	now   time.Time
	redis *fakeRedis
	w     *Watcher
}

func newDesk(t *testing.T, config Config) *desk {
	t.Helper()
	d := &desk{t: t, now: epoch}
	config.Clock = func() time.Time { return d.now }
	d.redis = newFakeRedis(config.Clock)
	d.w = newWatcher(config, d.redis)
	return d
}

// look makes one refresh s seconds after epoch, and returns what it saw.
func (d *desk) look(s float64) *Snapshot {
	d.t.Helper()
	d.now = at(s)
	d.w.mu.Lock()
	shown := d.w.wanted.shown
	d.w.mu.Unlock()
	d.w.refresh(context.Background(), shown)
	return d.w.Snapshot()
}

// row is the bucket's row.
func (d *desk) row(s *Snapshot, key string) Bucket {
	d.t.Helper()
	for _, b := range s.Buckets {
		if b.Key == key {
			return b
		}
	}
	d.t.Fatalf("no row of %q among %d", key, len(s.Buckets))
	return Bucket{}
}

// state sets what Redis has of a bucket.
func (d *desk) state(key string, s bucketctl.State) {
	d.redis.do(func() {
		if !slices.Contains(d.redis.registry, key) && s.Kind == bucketctl.KindBucket {
			d.redis.registry = append(d.redis.registry, key)
		}
		d.redis.states[key] = s
	})
}

// full is an ordinary bucket of 10/s and capacity 30, with so much granted.
func full(granted float64) bucketctl.State {
	limit := bucketctl.PerSecond(10)
	return bucketctl.State{
		Kind: bucketctl.KindBucket, Type: "hash", Level: 30, Granted: granted,
		Declared: limit, Effective: limit, Raw: map[string]string{},
	}
}

// worker is one that reports each 2 s and says so of its buckets.
func worker(id string, buckets ...bucketctl.WorkerBucket) bucketctl.Worker {
	return bucketctl.Worker{
		ID: id, App: "geo", Host: "box", Start: epoch.Add(-time.Hour), Interval: 2 * time.Second,
		Fallback: bucketctl.FallbackShare, Buckets: buckets,
	}
}

// draws is what a worker says of a bucket of 10/s.
func draws(key string, granted float64, waiting int) bucketctl.WorkerBucket {
	limit := bucketctl.PerSecond(10)
	return bucketctl.WorkerBucket{
		Key: key, Mode: bucketctl.ModeShared, Declared: limit, Limit: limit, Level: math.NaN(),
		Granted: granted, Waiting: waiting, HeadWait: time.Duration(waiting) * time.Second, LargestN: 1,
	}
}
