package bucketctl

import (
	"context"
	"slices"
	"sync"
	"time"
)

// desk is where callers of this process stand and are served, in their order:
// a queue and its dispatcher. What they are served from is its service.
type desk struct {
	client  *Client
	service service
	queue   queue
	bell    bell

	// Of the dispatcher alone.
	roundTrip time.Duration // of its last call
	served    []served      // of its last call
}

// service is what stands behind a desk: one bucket, or several together.
type service interface {
	// decide answers a batch of requests in order, as Limiter.decide does.
	decide(ctx context.Context, batch []*request, verdicts []verdict) ([]verdict, error)
	// affordable is how many requests the next call can hope to charge.
	affordable(verdicts []verdict) int
	// count counts answered requests, refuse one whose caller gave up before.
	count(all []served, now time.Time)
	refuse()
	// putBack gives back what nobody uses. It does not wait for Redis.
	putBack(o orphan)
	// gaveUp is the error of a caller whose context ended.
	gaveUp(ctx context.Context) error
}

func newDesk(c *Client, s service) desk {
	return desk{client: c, service: s, bell: bell{rung: make(chan struct{})}}
}

// orphan is a charge whose caller left before its start: of one bucket, or of
// each of several.
type orphan struct {
	n    float64
	each []float64
	verdict
}

// covers reports whether the charge suffices for a request.
func (o orphan) covers(r *request) bool {
	for i, n := range r.each {
		if n > o.each[i] {
			return false
		}
	}
	return r.n <= o.n
}

// without is what is left of the charge behind a request that it covers.
func (o orphan) without(r *request) orphan {
	o.n -= r.n
	o.each = slices.Clone(o.each) // its caller's own
	for i, n := range r.each {
		o.each[i] -= n
	}
	return o
}

// bell ends sleeps.
type bell struct {
	mu   sync.Mutex
	rung chan struct{} // closed when it rings, then replaced
}

// ring ends every sleep that waits for the bell.
func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.rung)
	b.rung = make(chan struct{})
}

// signal is closed at the next ring. Take it before asking Redis, so that no
// change after the answer is missed.
func (b *bell) signal() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rung
}
