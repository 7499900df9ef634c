package watch

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"bucketop/bucketctl"
)

// Bounds of Config.Refresh, and its default.
const (
	MinRefresh     = 250 * time.Millisecond
	MaxRefresh     = 60 * time.Second
	DefaultRefresh = time.Second
)

// leastPause lies between two refreshes, whatever asks for the second.
const leastPause = 200 * time.Millisecond

// Config is what a Watcher needs.
type Config struct {
	// Admin reads from Redis. Required.
	Admin *bucketctl.Admin

	// Addr is shown as the address of Redis. Never with a password.
	Addr string

	// Refresh is the time from the start of one refresh to the start of the
	// next; it is kept within MinRefresh and MaxRefresh. Default: 1s.
	Refresh time.Duration

	// Match is a glob pattern of keys to look for beyond the registry, by SCAN
	// in bounded steps. Default: "", no SCAN at all.
	Match string

	// Clock is this machine's clock. Default: time.Now.
	Clock func() time.Time

	// Count returns how many commands this process sent to Redis and how many
	// bytes it read, since its start. Default: nil, commands are estimated.
	Count func() (calls, bytes int64)
}

func (c Config) withDefaults() Config {
	if c.Refresh == 0 {
		c.Refresh = DefaultRefresh
	}
	c.Refresh = min(max(c.Refresh, MinRefresh), MaxRefresh)
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return c
}

// Watcher turns Redis into snapshots. Run does the work; every other method
// returns at once and may be called by any goroutine, before and after Run too.
type Watcher struct {
	config   Config
	reader   reader
	snapshot atomic.Pointer[Snapshot]
	updates  chan struct{}
	wake     chan struct{}

	mu     sync.Mutex
	wanted wanted

	model   *model // of Run's goroutine alone, like what follows
	meter   *meter
	link    Link
	ended   time.Time // when the last refresh ended
	extraAt time.Time // when a refresh last read what is out of sight
}

// wanted is what the other goroutines want of Run.
type wanted struct {
	shown  []string
	paused bool
	asked  bool // a refresh, whether paused or not
	fresh  bool // rows came on screen
	prefer func(key string) bool
}

// New returns a Watcher that has read nothing yet. It does no I/O.
func New(config Config) *Watcher { return newWatcher(config, config.Admin) }

func newWatcher(config Config, r reader) *Watcher {
	config = config.withDefaults()
	w := &Watcher{
		config:  config,
		reader:  r,
		updates: make(chan struct{}, 1),
		wake:    make(chan struct{}, 1),
		model:   newModel(config.Refresh),
		meter:   &meter{count: config.Count},
		link:    Link{State: Connecting, Addr: config.Addr, Since: config.Clock()},
	}
	w.snapshot.Store(&Snapshot{Link: w.link, Match: config.Match, Counts: map[Code]int{}})
	return w
}

// Snapshot returns the newest snapshot, never nil.
func (w *Watcher) Snapshot() *Snapshot { return w.snapshot.Load() }

// Updates receives a token when there is a newer snapshot than before. Tokens do
// not pile up.
func (w *Watcher) Updates() <-chan struct{} { return w.updates }

// Show says which buckets are on screen, the open one included, those that
// matter most first. Each refresh reads them, at most 200; of all others some at
// a time. Rows that were not on screen before are read soon.
func (w *Watcher) Show(keys []string) {
	w.mu.Lock()
	before := w.wanted.shown
	w.wanted.shown = slices.Clone(keys[:min(len(keys), maxShown)])
	fresh := hasOther(w.wanted.shown, before)
	w.wanted.fresh = w.wanted.fresh || fresh
	w.mu.Unlock()
	if fresh {
		notify(w.wake)
	}
}

// hasOther reports whether keys has one that before has not.
func hasOther(keys, before []string) bool {
	known := make(map[string]bool, len(before))
	for _, key := range before {
		known[key] = true
	}
	return slices.ContainsFunc(keys, func(key string) bool { return !known[key] })
}

// Prefer says which buckets a snapshot lists where it has not room for all, such
// as those that a filter looks for; nil: those that were looked at, then any. Run
// calls match for each known bucket at each refresh. What asks for attention is
// listed in any case.
func (w *Watcher) Prefer(match func(key string) bool) {
	w.mu.Lock()
	w.wanted.prefer = match
	w.wanted.fresh = true
	w.mu.Unlock()
	notify(w.wake)
}

// preferred is what Prefer was told last.
func (w *Watcher) preferred() func(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wanted.prefer
}

// Refresh asks for a reading now: after a change, or because somebody wants to
// see. While Redis is lost it is the next attempt.
func (w *Watcher) Refresh() {
	w.mu.Lock()
	w.wanted.asked = true
	w.mu.Unlock()
	notify(w.wake)
}

// Pause stops reading, or goes on with it at once. While paused only Refresh, and
// rows that come on screen, are read.
func (w *Watcher) Pause(paused bool) {
	w.mu.Lock()
	changed := w.wanted.paused != paused
	w.wanted.paused = paused
	w.mu.Unlock()
	if changed && !paused {
		notify(w.wake)
	}
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run reads Redis until ctx ends. It starts no goroutine. A reading under way
// when ctx ends may take until its own timeout, 2 s at most; whoever quits need
// not wait for it.
func (w *Watcher) Run(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
			if wait, wanted := w.soon(); wanted {
				next.Reset(wait)
			}
		case <-next.C:
			if wait, goOn := w.turn(ctx); goOn {
				next.Reset(wait)
			}
		}
	}
}

// soon is how long to wait before the refresh that somebody asks for, and
// whether there is to be one: while Redis is lost only Refresh cuts the pause
// between attempts short.
func (w *Watcher) soon() (wait time.Duration, wanted bool) {
	w.mu.Lock()
	asked := w.wanted.asked
	w.mu.Unlock()
	if w.link.State == Lost && !asked {
		return 0, false
	}
	return max(0, leastPause-w.config.Clock().Sub(w.ended)), true
}

// turn does what the timer is for, and returns when it is to ring again, if at
// all by itself.
func (w *Watcher) turn(ctx context.Context) (wait time.Duration, goOn bool) {
	w.mu.Lock()
	want := w.wanted
	w.wanted.asked, w.wanted.fresh = false, false
	w.mu.Unlock()
	if want.paused && !want.asked && !want.fresh {
		return 0, false
	}
	return w.refresh(ctx, want.shown), true
}

// refresh reads once and publishes what came of it, and returns the pause until
// the next time.
func (w *Watcher) refresh(ctx context.Context, shown []string) time.Duration {
	bounded, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	start := w.config.Clock()
	w.model.prefer = w.preferred()
	r := round{r: w.reader, m: w.model, meter: w.meter, clock: w.config.Clock, match: w.config.Match}
	err := r.run(bounded, shown, w.dueExtra(start))
	w.ended = w.config.Clock()
	if ctx.Err() != nil {
		return 0 // the failure is our own
	}
	w.publish(&r, err)
	if err != nil {
		return w.link.retry()
	}
	return max(w.config.Refresh-w.ended.Sub(start), leastPause)
}
