package bucketctl

import (
	"sync"
	"time"
)

// maxBatch is how many requests one call takes at most. More would not be
// faster, and would keep Redis from others for longer.
const maxBatch = 256

// request is one caller who wants n tokens, or so many each of several buckets.
type request struct {
	n        float64
	each     []float64 // in the order of the buckets; nil: of one bucket
	deadline time.Time // of the caller; zero: none
	allow    bool      // has no patience at all
	joined   time.Time
	answer   chan answer // of two, so that whoever answers never waits

	before, behind *request // in the queue
	stands         bool     // in the queue: neither answered nor gone
	sent           bool     // a call that asks for it is in flight
	gone           bool     // its caller left meanwhile
	heeds          bool     // its caller heeds its context, too
}

// answer is what a request gets.
type answer struct {
	verdict
	err  error
	heed bool // none yet: heed your context, too
}

// tokens is how many are wanted of the i-th bucket.
func (r *request) tokens(i int) float64 {
	if r.each == nil {
		return r.n
	}
	return r.each[i]
}

// patience is how long the caller accepts to wait at now, in microseconds.
func (r *request) patience(now time.Time) int64 {
	switch {
	case r.allow:
		return 0
	case r.deadline.IsZero():
		return unlimited
	}
	return max(0, r.deadline.Sub(now).Microseconds())
}

// queue is where the callers of one bucket and process stand, in their order of
// arrival. One dispatcher asks Redis for all of them: while its call is in
// flight the others gather, and the next call takes them all. The list is made
// of the requests themselves: one of the standard library's would allocate for
// each caller.
type queue struct {
	mu      sync.Mutex
	front   *request
	back    *request
	length  int
	tokens  float64   // that they want together
	running bool      // a dispatcher is at work
	closed  bool      // the Client is: nobody is served any more
	resting bool      // the dispatcher sleeps until tokens come back
	due     time.Time // while resting: when the first of the queue is due; zero: nobody knows

	watcher  *time.Timer
	watching bool // it will come
}

// join takes the last place. The caller must start a dispatcher if told so, and
// heed its context if told so; else it will be told.
func (q *queue) join(r *request) (start, heeds bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		r.answer <- answer{err: ErrClosed}
		return false, true
	}
	r.heeds = q.resting
	if !r.heeds {
		q.watch()
	}
	r.stands, r.before, r.behind = true, q.back, nil
	if q.back == nil {
		q.front = r
	} else {
		q.back.behind = r
	}
	q.back = r
	q.length++
	q.tokens += r.n
	start = !q.running
	q.running = true
	return start, r.heeds
}

// close answers all who wait, and all who come later, with ErrClosed; those that
// a call in flight asks for get its answer.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for r := q.front; r != nil; {
		behind := r.behind
		if !r.sent {
			q.remove(r)
			r.answer <- answer{err: ErrClosed}
		}
		r = behind
	}
}

// leave takes a caller out, from wherever it stands. It reports whether the
// request was answered already, and the answer waits in its channel.
func (q *queue) leave(r *request) (answered bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !r.stands {
		return true
	}
	r.gone = true
	if !r.sent {
		q.remove(r)
	}
	return false
}

// remove takes a request out of the list. Needs q.mu.
func (q *queue) remove(r *request) {
	if r.before == nil {
		q.front = r.behind
	} else {
		r.before.behind = r.behind
	}
	if r.behind == nil {
		q.back = r.before
	} else {
		r.behind.before = r.before
	}
	r.stands, r.before, r.behind = false, nil, nil
	q.length--
	q.tokens -= r.n
	if q.length == 0 {
		q.tokens = 0 // no drift
	}
}

// next puts the first requests into batch, at most most, for one call. Without
// any the dispatcher is to end: the queue no longer counts on it.
func (q *queue) next(batch []*request, most int) []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.resting = false
	batch = batch[:0]
	for r := q.front; r != nil && len(batch) < most; r = r.behind {
		r.sent = true
		batch = append(batch, r)
	}
	q.running = len(batch) > 0
	return batch
}

// shortage reports whether callers wait for tokens, and until when the first.
func (q *queue) shortage() (due time.Time, short bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.due, q.resting && q.length > 0
}

// startBehind estimates when n tokens would be there behind all who wait, at a
// rate in tokens per second; unknown where nobody waits, or for a hold.
func (q *queue) startBehind(n, rate float64) (start time.Time, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.resting || q.front == nil || q.due.IsZero() || rate <= 0 {
		return time.Time{}, false
	}
	return q.due.Add(seconds((q.tokens - q.front.n + n) / rate)), true
}

// waiting is how many callers stand in the queue.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length
}
