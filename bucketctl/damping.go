package bucketctl

import "time"

// Bounds of flapping: a return that lasts less than stableAfter doubles the time
// that the next outage lasts at least, up to slowestReturn. So at most 8 outages
// begin within the first minute of a server that answers each probe and fails
// each call, and 3 in each minute after it.
const (
	stableAfter   = 10 * time.Second
	slowestReturn = 30 * time.Second
)

// damping keeps a link from opening and closing all the time.
type damping struct {
	returned time.Time     // when Redis came back last from an outage
	holdoff  time.Duration // what flapping delays the next return to
	doubted  time.Time     // when a single call failed last
	doubts   int           // such calls, each soon after the one before
}

// doubt takes in that a single call failed. It reports whether that happens so
// often that it is an outage, whatever probes say.
func (d *damping) doubt(now time.Time) (often bool) {
	if now.Sub(d.doubted) > stableAfter {
		d.doubts = 0
	}
	d.doubted = now
	d.doubts++
	return d.doubts >= failuresToOpen
}

// opens takes in that an outage begins.
func (d *damping) opens(now time.Time) {
	if now.Sub(d.returned) < stableAfter {
		d.holdoff = min(max(2*d.holdoff, slowestProbe), slowestReturn)
	} else {
		d.holdoff = 0
	}
}

// back takes in that an outage is over.
func (d *damping) back(now time.Time) { d.returned = now }
