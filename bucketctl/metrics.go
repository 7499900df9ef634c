package bucketctl

import (
	"math"
	"time"
)

// Stats are what a Client knows and has counted since it was opened, for
// metrics. Reading them costs a few locks and no call to Redis, and changes
// nothing.
type Stats struct {
	Worker      string // its ID, as in reports and events
	Workers     int    // live workers of the namespace, as far as known
	Transitions int64  // to fallback and back
	Buckets     []BucketStats
}

// BucketStats are those of one bucket. The quantiles of an interval, WaitP50,
// WaitP99 and CallP99, are 0: they belong to reports.
type BucketStats struct {
	WorkerBucket

	Failures  int64     // calls to Redis, of Calls, that were not answered or refused
	Waits     Histogram // of each request that was granted, from its call to its start
	CallTimes Histogram // of each call to Redis
}

// Histogram counts durations.
type Histogram struct {
	Count   uint64
	Sum     float64            // seconds
	Buckets map[float64]uint64 // upper bound, seconds -> how many were not above it
}

// Stats returns the counters of all buckets, in the order of their keys.
func (c *Client) Stats() Stats {
	s := Stats{Worker: c.self.ID, Workers: c.everybody.workers(), Transitions: c.transitions.Load()}
	for _, l := range c.all() {
		b := BucketStats{WorkerBucket: l.describe()}
		l.stats.fill(&b)
		s.Buckets = append(s.Buckets, b)
	}
	return s
}

// waiting is how many callers wait for tokens of the bucket, of it alone or of
// several, and how long the first of each queue still has to, at most.
func (l *Limiter) waiting() (callers int, head time.Duration) {
	l.mu.Lock()
	desks := []*desk{&l.desk}
	for _, s := range l.sets {
		desks = append(desks, &s.desk)
	}
	l.mu.Unlock()
	for _, d := range desks {
		callers += d.queue.waiting()
		if due, short := d.queue.shortage(); short {
			head = max(head, time.Until(due))
		}
	}
	return callers, head
}

// describe is what this worker knows of the bucket, without what is counted.
func (l *Limiter) describe() WorkerBucket {
	b := WorkerBucket{Key: l.key, Mode: ModeShared, Fallback: l.options.fallback, Workers: l.workers(), Declared: l.declared, Window: l.window, Level: math.NaN()}
	b.Waiting, b.HeadWait = l.waiting()
	if open, reason, since := l.link().isOpen(); open {
		b.Mode, b.Reason, b.Since = Mode(l.options.fallback), reason, since
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	limit := l.limitAt(l.client.clock.now())
	b.Share = partOf(limit, b.Workers).Rate
	if !l.seen.limit.IsZero() {
		b.Limit, b.Rev, b.Level = limit, l.seen.rev, l.seen.level
	}
	return b
}

// report is what the worker says of this bucket.
func (l *Limiter) report() WorkerBucket {
	b := l.describe()
	l.stats.report(&b)
	return b
}

// fill fills in what is counted.
func (s *stats) fill(b *BucketStats) {
	s.counted(&b.WorkerBucket)
	s.mu.Lock()
	defer s.mu.Unlock()
	b.Failures = s.failures
	b.Waits = s.allWaits.histogram(waitBounds())
	b.CallTimes = s.allCallTime.histogram(callBounds())
}

// mostBounds is how many bounds a distribution can have.
const mostBounds = 16

// waitBounds are the bounds of waits, in seconds.
func waitBounds() [mostBounds]float64 {
	return [...]float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900}
}

// callBounds are the bounds of calls to Redis, in seconds.
func callBounds() [mostBounds]float64 {
	return [...]float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 1, 2.5}
}

// distribution counts durations between fixed bounds, and is never set back.
type distribution struct {
	counts [mostBounds]uint64 // in (bound before, bound]
	count  uint64
	sum    time.Duration
}

func (d *distribution) add(bounds [mostBounds]float64, v time.Duration) {
	d.count++
	d.sum += v
	s := v.Seconds()
	for i, bound := range bounds {
		if s <= bound {
			d.counts[i]++
			return
		}
	}
}

func (d *distribution) histogram(bounds [mostBounds]float64) Histogram {
	h := Histogram{Count: d.count, Sum: d.sum.Seconds(), Buckets: make(map[float64]uint64, mostBounds)}
	var below uint64
	for i, bound := range bounds {
		below += d.counts[i]
		h.Buckets[bound] = below
	}
	return h
}
