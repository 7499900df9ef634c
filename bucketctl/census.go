package bucketctl

import (
	"sync"
	"time"
)

const (
	beatInterval   = 5 * time.Second // between two beats of one worker, at least
	beatsPerSecond = 20              // of all workers of one bucket, at most
	beatLives      = 3               // intervals without a beat until a worker no longer counts
	firstIntervals = 5               // so much shorter is the first interval than those after it
)

// census is how many workers share a rate, by the live counts seen. More
// workers count at once: the share gets smaller, which is the safe side. Fewer
// count only once nothing but fewer was seen for as long as all who were counted
// before may take to be seen again, beatLives intervals, without a gap. So a
// registry that vanished (FLUSHALL, a restart without data, a failover to an
// empty replica) never makes one worker think that it is alone: its own beats
// refill the registry, and so do those of all others, long before it believes it.
type census struct {
	floor int       // Config.Workers
	count int       // believed
	fewer int       // the most seen since the counts fell below it
	since time.Time // since when they did; zero: they did not
	heard time.Time // when the newest count came
}

// newCensus begins with what is assumed while nothing was seen.
func newCensus(config Config) census {
	return census{floor: max(1, config.Workers), count: config.assumedWorkers()}
}

// intervalOf is how far apart the beats of each of so many workers are.
func intervalOf(workers int) time.Duration {
	return max(beatInterval, time.Duration(workers)*time.Second/beatsPerSecond)
}

// see takes in a live count that came at now.
func (c *census) see(now time.Time, live int) {
	live = max(live, c.floor)
	gap := now.Sub(c.heard) > 2*intervalOf(c.count)
	c.heard = now
	switch {
	case live >= c.count:
		c.count, c.since = live, time.Time{}
	case c.since.IsZero() || gap:
		c.fewer, c.since = live, now
	default:
		c.fewer = max(c.fewer, live)
		if now.Sub(c.since) >= beatLives*intervalOf(c.count) {
			c.count, c.since = c.fewer, time.Time{}
		}
	}
}

// pulse is one registry of live workers that a Client beats at: of one bucket,
// or of the whole namespace.
type pulse struct {
	key string

	mu     sync.Mutex
	census census
	next   time.Time // when the next beat is due
}

func newPulse(key string, config Config) *pulse {
	return &pulse{key: key, census: newCensus(config)}
}

// workers is how many there are, as far as known.
func (p *pulse) workers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.census.count
}

// due reports whether it is time to beat.
func (p *pulse) due(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !now.Before(p.next)
}

// beaten takes in the answer to a beat. The first one sees only those who came
// before, which is few where a fleet starts all at once; so the second follows
// early, and no share is sized for a fraction of the fleet for longer than that.
func (p *pulse) beaten(now time.Time, live int, interval time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.census.heard.IsZero() {
		interval = max(lookForBeats, interval/firstIntervals)
	}
	p.census.see(now, live)
	p.next = now.Add(jitter(interval))
}

// missed takes in a beat without an answer.
func (p *pulse) missed(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = now.Add(jitter(beatInterval))
}
