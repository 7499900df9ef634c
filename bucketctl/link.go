package bucketctl

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Bounds of the link's breaker.
const (
	failuresToOpen = 3                      // failed calls until an outage is told
	callTimeout    = 500 * time.Millisecond // of one call; a healthy one takes about a millisecond
	firstProbe     = 100 * time.Millisecond // after opening
	slowestProbe   = time.Second            // while Redis is away
	remindEvery    = time.Minute
)

// link is the worker's breaker: whether Redis is asked at all. It is one for
// the whole Client, or for each server of a cluster, so that an outage is told
// once and not per bucket. It is
// our own and not a library's since what follows from an error depends on its
// class, and the probe beside the callers is the way back, not a caller.
//
// The first failed call opens it: from then on nobody waits for a server that
// may hang. But it opens quietly, and a probe asks at once. Only where probes
// fail as well, up to failuresToOpen calls in all, is it an outage that is told.
// One lost packet so costs a few decisions, and no line in any log.
type link struct {
	server string // of a cluster; else empty

	mu       sync.Mutex
	failures int  // failed calls since Redis was asked last with success
	open     bool // callers don't touch Redis
	told     bool // and that is an outage, which somebody was told of
	outage   outage
	opened   time.Time // by this machine's clock
	damping  damping

	clock *serverClock
	tell  func(Transition) // what is told of outages
}

// outage is what happened while the link was open.
type outage struct {
	reason string    // what began it
	newest string    // why the newest probe failed
	since  time.Time // server time, estimated
	lasted time.Duration
}

// isOpen reports whether callers must decide on their own, why, and since when.
func (l *link) isOpen() (bool, string, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, l.outage.newest, l.outage.since
}

// staysAway reports whether Redis is not asked although it may answer, since it
// came and went too often.
func (l *link) staysAway() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open && l.told && l.damping.holdoff > slowestProbe
}

// failed takes in a call that Redis did not answer, or refused. It reports
// whether the link just opened: the caller then starts the probe.
func (l *link) failed(c class, err error) (justOpened bool) {
	justOpened, news := l.opens(time.Now(), c, err)
	if news {
		l.tell(l.transition(false))
	}
	return justOpened
}

// opens opens the link. news: that is an outage already.
func (l *link) opens(now time.Time, c class, err error) (justOpened, news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		return false, false // a call that was under way as well
	}
	reason := reasonOf(c, err)
	l.open, l.told, l.failures = true, false, 1
	l.opened, l.outage = now, outage{reason: reason, newest: reason, since: l.clock.now()}
	return true, l.isNews(l.damping.doubt(now) || c == classConfig)
}

// failedAgain takes in a probe that failed.
func (l *link) failedAgain(c class, err error) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures++
	l.outage.newest = reasonOf(c, err)
	return l.isNews(l.failures >= failuresToOpen || c == classConfig)
}

// isNews makes the open link an outage if it is one and was none yet. Needs l.mu.
func (l *link) isNews(outage bool) bool {
	if l.told || !outage {
		return false
	}
	l.told = true
	l.damping.opens(time.Now())
	return true
}

// transition is what to tell of the outage now.
func (l *link) transition(reminder bool) Transition {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := Transition{Reason: l.outage.reason, Since: l.outage.since, reminder: reminder}
	if reminder {
		t.Reason, t.Lasted = l.outage.newest, time.Since(l.opened)
	}
	return t
}

// reasonOf names the class where it is not a plain outage: waiting does not
// help against a wrong configuration.
func reasonOf(c class, err error) string {
	if c == classConfig {
		return "configuration: " + cause(err)
	}
	return cause(err)
}

// closeAgain lets callers ask Redis again. It reports whether that ends an
// outage that was told.
func (l *link) closeAgain() (o outage, told bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o, told = l.outage, l.told
	o.lasted = time.Since(l.opened)
	l.open, l.told, l.failures, l.outage = false, false, 0, outage{}
	if told {
		l.damping.back(time.Now())
	}
	return o, told
}

// probe tries until Redis can be used again, or ctx ends. It runs beside the
// callers, which never wait for it. ask makes one attempt, and bounds its calls
// each by itself: several of them take longer than one may.
func (l *link) probe(ctx context.Context, ask func(context.Context) error) (back bool) {
	remind := time.Now().Add(remindEvery)
	for wait := l.nextProbe(0); ; wait = l.nextProbe(wait) {
		if !sleep(ctx, wait) {
			return false
		}
		err := ask(ctx)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		switch {
		case l.failedAgain(classify(ctx, err), err):
			l.tell(l.transition(false))
		case time.Now().After(remind):
			remind = remind.Add(remindEvery)
			l.tell(l.transition(true))
		}
	}
}

// nextProbe is how long to wait for the next attempt after one that came wait
// after the one before it; 0: for the first. What is not told yet is asked at
// once, to learn whether it is anything to tell.
func (l *link) nextProbe(wait time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.told:
		return 0
	case wait == 0:
		return jitter(max(firstProbe, l.damping.holdoff))
	}
	return jitter(min(2*wait, max(slowestProbe, l.damping.holdoff)))
}

// bounded makes one call, for which it has callTimeout.
func bounded(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return call(ctx)
}

// jitter spreads what many workers would do at the same moment, by a quarter.
func jitter(d time.Duration) time.Duration {
	return d - time.Duration(rand.Int64N(int64(d)/4+1)) // #nosec G404 -- spreading load needs no secrecy
}

// sleep returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
