package bucketctl

import (
	"context"
	"math"
	"runtime"
	"time"
)

// dispatch serves the queue until it is empty. It is the only one that asks
// Redis for those who stand in it.
func (d *desk) dispatch(ctx context.Context) {
	var (
		batch    []*request
		verdicts []verdict
		most     = maxBatch
	)
	for ctx.Err() == nil {
		runtime.Gosched()        // those who were just served may stand in the queue again, and one call does for all
		woken := d.bell.signal() // before asking, so that no change after the answer is missed
		if batch = d.queue.next(batch, most); len(batch) == 0 {
			return
		}
		var err error
		verdicts, err = d.service.decide(ctx, batch, verdicts[:0])
		ask, orphans := d.deliver(batch, verdicts, err)
		for _, o := range orphans {
			d.handOn(o)
		}
		most = maxBatch
		if ask > 0 {
			d.rest(ctx, ask, woken)
			most = d.service.affordable(verdicts)
		}
	}
}

// affordable is how many requests the next call can hope to charge: asking for
// more would only make Redis read them in vain.
func (l *Limiter) affordable(verdicts []verdict) int {
	const least = 16
	v := verdicts[0]
	hope := v.limit.Rate * (l.client.config.Horizon.Seconds() + v.ask.Seconds())
	return int(math.Min(maxBatch, least+math.Max(0, hope)))
}

// rest sleeps until it is time to ask again, a change of the bucket wakes, or
// the Client ends.
func (d *desk) rest(ctx context.Context, ask time.Duration, woken <-chan struct{}) {
	early := d.roundTrip / 2 // asking is timed ahead; a start never is
	timer := time.NewTimer(nap(max(ask-early, time.Microsecond)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	case <-ctx.Done():
	}
}

// nap is how long to sleep of a long time. One that is hardly longer than
// recheck is slept through, else its rest would cost a call of its own; a much
// longer one is slept in even parts, so that those who sleep in one queue do not
// come in bunches.
func nap(long time.Duration) time.Duration {
	if long <= recheck+recheck/20 {
		return long
	}
	return long / time.Duration(math.Ceil(long.Seconds()/longNap.Seconds()))
}

// served is a request with its answer.
type served struct {
	*request
	answer
}

// deliver answers the requests of one call. Those who must wait keep their
// places, and ask is when to ask for them again. Charges whose callers left
// come back as orphans. Nobody is answered before the queue is free for others:
// who is served often comes again at once.
func (d *desk) deliver(batch []*request, verdicts []verdict, err error) (ask time.Duration, orphans []orphan) {
	now := time.Now()
	ask = d.settle(batch, verdicts, err, now)
	d.service.count(d.served, now)
	for _, s := range d.served {
		if s.gone {
			orphans = append(orphans, orphan{s.n, s.each, s.verdict})
			continue
		}
		s.request.answer <- s.answer // from here on it is its caller's
	}
	return ask, orphans
}

// settle takes those who need not wait any longer out of the queue, and notes
// their answers. Of those who left, it keeps those that were charged.
func (d *desk) settle(batch []*request, verdicts []verdict, err error, now time.Time) (ask time.Duration) {
	d.served = d.served[:0]
	q := &d.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, r := range batch {
		r.sent = false
		a := answer{err: err}
		if err == nil {
			a.verdict = verdicts[i]
		}
		waits := err == nil && a.code == codeWaits
		switch {
		case r.gone:
			q.remove(r)
			if err == nil && a.code == codeCharged {
				d.served = append(d.served, served{r, a})
			}
		case waits && !q.closed:
			if ask == 0 {
				ask = max(time.Microsecond, a.ask)
				q.resting, q.due = true, time.Time{}
				if a.stop != stopHeld {
					q.due = now.Add(a.wait)
				}
			}
		default:
			if waits {
				a = answer{err: ErrClosed}
			}
			q.remove(r)
			d.served = append(d.served, served{r, a})
		}
	}
	return ask
}

// handOn gives a charge whose caller left to the first in the queue that it
// suffices for, and what is left of it back to the bucket. It was counted when
// it was charged, as the bucket counts.
func (d *desk) handOn(o orphan) {
	now := time.Now()
	q := &d.queue
	q.mu.Lock()
	for r := q.front; r != nil; r = r.behind {
		if r.sent || r.gone || !o.covers(r) || o.wait.Microseconds() > r.patience(now) {
			continue
		}
		q.remove(r)
		rest := o.without(r) // before the answer: its caller may use the request again at once
		r.answer <- answer{verdict: o.verdict}
		o = rest
		break
	}
	q.mu.Unlock()
	if !o.local {
		d.service.putBack(o)
	}
}
