package watch

import (
	"math"
	"time"
)

// rateSpan is the span of time that "lately" means for a rate.
const rateSpan = 5 * time.Second

// Readings of a counter lie at least minStep apart, so that a fast refresh does
// not crowd out the span.
const (
	minStep     = 600 * time.Millisecond
	maxReadings = 10 // rateSpan / minStep, and one at each end
)

// reading is one value of a counter.
type reading struct {
	at    time.Time
	value float64
}

// counter turns readings of something that only grows into a rate. The zero
// counter has none.
type counter struct {
	kept [maxReadings]reading // oldest first
	n    int
	last reading // newest, also when it came too soon to be kept
}

// add takes a reading and returns by how much the counter grew since the one
// before, NaN when that can't be told: the first one, a restart (the value went
// down), or a server clock that went back.
func (c *counter) add(at time.Time, value float64) (grown float64) {
	if math.IsNaN(value) {
		return math.NaN()
	}
	if c.n == 0 || value < c.last.value || at.Before(c.last.at) {
		*c = counter{}
		c.keep(reading{at, value})
		return math.NaN()
	}
	grown = value - c.last.value
	if at.Sub(c.kept[c.n-1].at) < minStep {
		c.last = reading{at, value}
		return grown
	}
	c.keep(reading{at, value})
	return grown
}

// keep appends, and forgets what lies before the span; one reading at or beyond
// its start stays, since the rate is taken from there.
func (c *counter) keep(r reading) {
	c.last = r
	first := 0
	for first+1 < c.n && r.at.Sub(c.kept[first+1].at) >= rateSpan {
		first++
	}
	if c.n-first == maxReadings {
		first++
	}
	copy(c.kept[:], c.kept[first:c.n])
	c.n -= first
	c.kept[c.n] = r
	c.n++
}

// rate is the mean per second over about the last rateSpan before now. It is
// NaN while there is only one reading, and when the newest is older than
// patience. Readings further apart than that don't count together: that would be
// an average of long ago.
func (c *counter) rate(now time.Time, patience time.Duration) float64 {
	if c.n < 2 || now.Sub(c.last.at) > patience {
		return math.NaN()
	}
	for _, first := range c.kept[:c.n] {
		switch span := c.last.at.Sub(first.at); {
		case span > max(patience, 2*rateSpan):
			continue
		case span >= minStep:
			return (c.last.value - first.value) / span.Seconds()
		}
	}
	return math.NaN()
}

// stride is where the rate of a worker on a bucket is taken from. There may be
// very many of them, so it keeps two readings where a counter keeps ten: the span
// is between one and two of rateSpan.
type stride struct{ from, next reading }

// startAt is a stride of one reading.
func startAt(r reading) stride { return stride{from: r, next: r} }

// step moves on to r, the reading after last. Readings far apart, as around a
// silence, count for themselves only.
func (s stride) step(last, r reading) stride {
	if last.at.Sub(s.next.at) >= rateSpan {
		s = stride{from: s.next, next: last}
	}
	if r.at.Sub(s.from.at) > 3*rateSpan || r.value < s.from.value {
		return startAt(last)
	}
	return s
}

// between is the rate between two readings of a counter that grew, or NaN.
func between(before, after reading) float64 {
	span := after.at.Sub(before.at).Seconds()
	if span <= 0 || after.value < before.value {
		return math.NaN()
	}
	return (after.value - before.value) / span
}

// sum adds what is known; it is NaN where nothing is.
func sum(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return a + b
}
