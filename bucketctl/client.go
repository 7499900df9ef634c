package bucketctl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/schema"
)

// Client is a worker's connection to its buckets. Open one per process. It may
// be used by several goroutines at once.
type Client struct {
	config  Config
	redis   redis.UniversalClient
	owned   bool // Open made the redis client, Close closes it
	keys    schema.Keys
	scripts scripts
	link    *link // to the server; of a cluster: of whatever is not known to be at one of its servers
	servers servers
	clock   serverClock
	gen     atomic.Int64 // of the declared limits; 0 until Redis was reached
	self    Worker       // what does not change between reports

	everybody   *pulse          // live workers of the whole namespace
	news        chan Transition // for Config.OnTransition
	transitions atomic.Int64
	lastOutage  atomic.Pointer[Outage] // for reports; nil: there was none

	requests sync.Pool // of *request

	alive  context.Context // ends with Close
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu       sync.Mutex
	limiters map[string]*Limiter
	sets     map[string]*set // by the names of their buckets
	closed   bool
}

// Open returns a Client, or an ErrConfig. It does not fail because Redis is
// down: the worker then starts in fallback, loudly. ctx bounds Open itself,
// not the Client's life.
func Open(ctx context.Context, config Config) (*Client, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("bucketctl: open: %w", err)
	}
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	keys, err := schema.New(config.Namespace)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	c := &Client{config: config, keys: keys, scripts: newScripts(), limiters: map[string]*Limiter{}, sets: map[string]*set{}}
	c.redis = config.Client
	if c.redis == nil {
		options, err := Options(config.URL)
		if err != nil {
			return nil, err
		}
		if config.callTimeout > callTimeout { // then no connection gives up before its call does
			for _, t := range []*time.Duration{&options.DialTimeout, &options.ReadTimeout, &options.WriteTimeout, &options.PoolTimeout} {
				*t = max(*t, config.callTimeout)
			}
		}
		c.redis, c.owned = NewClient(options), true
	} else {
		warnOfSettings(config.Logger, c.redis)
	}
	c.gen.Store(config.Generation)
	c.link = c.newLink("")
	c.self = newWorker(config)
	c.everybody = newPulse(keys.Everybody(), config)
	c.news = make(chan Transition, transitionsKept)
	c.alive, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.goDo(c.listen)
	c.goDo(c.reportEachInterval)
	c.goDo(c.beatInTime)
	if config.OnTransition != nil {
		go c.callOnTransition() // not of those that Close waits for
	}
	return c, nil
}

// warnOfSettings tells of a given client's settings that a limiter can't live
// with quietly. They are the caller's, so they are not changed.
func warnOfSettings(logger *slog.Logger, client redis.UniversalClient) {
	var retries int
	var heedsContext bool
	switch c := client.(type) {
	case *redis.Client:
		retries, heedsContext = c.Options().MaxRetries, c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		retries, heedsContext = c.Options().MaxRetries, c.Options().ContextTimeoutEnabled
	default:
		return
	}
	if retries > 0 {
		logger.Warn("bucketctl: the given Redis client repeats calls: after a timeout one request may be charged several times; set MaxRetries to -1",
			"max_retries", retries)
	}
	if !heedsContext {
		logger.Warn("bucketctl: the given Redis client ignores deadlines of contexts; set ContextTimeoutEnabled")
	}
}

// goDo runs a part of the Client until Close.
func (c *Client) goDo(part func(context.Context)) {
	c.done.Go(func() { part(c.alive) })
}

// Bucket returns the Limiter of one bucket; ErrKey, ErrLimit or ErrConfig where
// that can't be. Asking again with the same limit and options returns the same
// Limiter; with another limit it is an ErrLimit, with other options an
// ErrConfig, since which should hold would depend on the order of calls.
func (c *Client) Bucket(key string, limit Limit, options ...BucketOption) (*Limiter, error) {
	if err := limit.Validate(); err != nil {
		return nil, fmt.Errorf("bucket %q: %w", key, err)
	}
	return c.limiter(key, limit, false, options)
}

// limiter returns the one Limiter of a key.
func (c *Client) limiter(key string, limit Limit, window bool, options []BucketOption) (*Limiter, error) {
	if err := checkKey(c.keys, key); err != nil {
		return nil, err
	}
	set, err := c.config.optionsOf(options)
	if err != nil {
		return nil, fmt.Errorf("bucket %q: %w", key, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if l, ok := c.limiters[key]; ok {
		if l.declared != limit || l.window != window {
			return nil, fmt.Errorf("%w: %q was declared as %s before, now as %s",
				ErrLimit, key, declaration(l.declared, l.window), declaration(limit, window))
		}
		if l.options != set {
			return nil, fmt.Errorf("%w: bucket %q had the fallback policy %s before, now %s", ErrConfig, key, l.options.fallback, set.fallback)
		}
		return l, nil
	}
	l := newLimiter(c, key, limit, window, set)
	c.limiters[key] = l
	return l, nil
}

// all returns the limiters in the order of their keys.
func (c *Client) all() []*Limiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*Limiter, 0, len(c.limiters))
	for _, key := range slices.Sorted(maps.Keys(c.limiters)) {
		out = append(out, c.limiters[key])
	}
	return out
}

// Bounds of Close: for what is under way at Redis to end, and for last words.
const (
	endTimeout  = 400 * time.Millisecond
	lastTimeout = 400 * time.Millisecond
)

// Close wakes every waiting caller with ErrClosed, publishes a last report,
// leaves the live workers, and releases what Open made. It takes at most about
// a second, also where Redis hangs.
func (c *Client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrClosed
	}
	c.closed = true
	c.mu.Unlock()

	c.cancel()
	c.closeQueues()
	if open, _, _ := c.link.isOpen(); c.ended(endTimeout) && !open {
		c.sayGoodbye()
	}
	if !c.owned {
		return nil
	}
	if err := c.redis.Close(); err != nil {
		return fmt.Errorf("bucketctl: close the connection: %w", err)
	}
	return nil
}

// ended waits until all parts of the Client have ended. One that asks a server
// that hangs ends with its call's own bound, and nobody waits for that.
func (c *Client) ended(most time.Duration) bool {
	all := make(chan struct{})
	go func() {
		c.done.Wait()
		close(all)
	}()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-all:
		return true
	case <-timer.C:
		return false
	}
}

// sayGoodbye tells the others that this worker shut down in order.
func (c *Client) sayGoodbye() {
	ctx, cancel := context.WithTimeout(context.Background(), lastTimeout)
	defer cancel()
	err := errors.Join(c.publishReport(ctx, c.reportInterval(), true), c.beat(ctx, c.pulses(), 0))
	if err != nil {
		c.config.Logger.Debug("bucketctl: the last report was not published", "error", cause(err))
	}
}

// closeQueues wakes all who wait.
func (c *Client) closeQueues() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.limiters {
		l.queue.close()
	}
	for _, s := range c.sets {
		s.queue.close()
	}
}

// goUnlessClosed is goDo for parts that begin at any time: adding to the group
// must not race with Close waiting for it.
func (c *Client) goUnlessClosed(part func(context.Context)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.goDo(part)
	}
}
