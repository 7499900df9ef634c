package bucketctl

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// Bounds of the link's breaker.
const (
	failuresToOpen = 3                      // failed calls in a row until callers stop touching Redis
	callTimeout    = 500 * time.Millisecond // of one call; a healthy one takes about a millisecond
	firstProbe     = 100 * time.Millisecond // after opening
	slowestProbe   = time.Second            // while Redis is away
	stableAfter    = 10 * time.Second       // a return that lasts less is flapping
	slowestReturn  = 30 * time.Second       // what flapping delays a return to, at most
	remindEvery    = time.Minute
)

// link is the worker's breaker: whether Redis is asked at all. It is one for
// the whole Client, so that an outage is told once and not per bucket. It is
// our own and not a library's since what follows from an error depends on its
// class, and the probe beside the callers is the way back, not a caller.
type link struct {
	mu       sync.Mutex
	failures int       // failed calls in a row
	open     bool      // callers don't touch Redis
	reason   string    // why
	since    time.Time // server time, estimated, at which the link opened
	opened   time.Time // the same by this machine's clock
	returned time.Time // when Redis came back last
	holdoff  time.Duration

	clock  *serverClock
	logger *slog.Logger
	config Config
}

// outage is what happened while the link was open.
type outage struct {
	reason string
	since  time.Time // server time, estimated
	lasted time.Duration
}

// isOpen reports whether callers must decide on their own, and why.
func (l *link) isOpen() (bool, string, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, l.reason, l.since
}

// succeeded takes in a call that Redis answered.
func (l *link) succeeded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = 0
}

// failed takes in a call that Redis did not answer, or refused. It reports
// whether the link just opened: the caller then starts the probe.
func (l *link) failed(c class, err error) (justOpened bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures++
	if l.open || (c == classOutage && l.failures < failuresToOpen) {
		return false
	}
	l.open, l.reason = true, reasonOf(c, err)
	l.opened, l.since = time.Now(), l.clock.now()
	if time.Since(l.returned) < stableAfter {
		l.holdoff = min(max(2*l.holdoff, slowestProbe), slowestReturn)
	} else {
		l.holdoff = 0
	}
	l.warn("bucketctl: Redis can't be asked, deciding alone", "share", l.shareText())
	return true
}

// reasonOf names the class where it is not a plain outage: waiting does not
// help against a wrong configuration.
func reasonOf(c class, err error) string {
	if c == classConfig {
		return "configuration: " + cause(err)
	}
	return cause(err)
}

func (l *link) shareText() string {
	if l.config.Fallback != FallbackShare {
		return string(l.config.Fallback)
	}
	return "rate / " + formatNumber(float64(l.config.assumedWorkers()))
}

// warn writes the one line of a transition. Needs l.mu.
func (l *link) warn(message string, args ...any) {
	mode := ModeShared
	if l.open {
		mode = Mode(l.config.Fallback)
	}
	args = append([]any{"app", l.config.App, "mode", mode, "reason", l.reason, "since", l.since.Format(time.RFC3339)}, args...)
	l.logger.Warn(message, args...)
}

// closeAgain ends the outage.
func (l *link) closeAgain(local float64) outage {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := outage{reason: l.reason, since: l.since, lasted: time.Since(l.opened)}
	l.open, l.failures, l.returned = false, 0, time.Now()
	l.warn("bucketctl: back on the shared buckets", "lasted", o.lasted.Round(time.Millisecond).String(), "granted_alone", formatNumber(local))
	return o
}

// probe tries until Redis can be used again, or ctx ends. It runs beside the
// callers, which never wait for it. ask makes one attempt.
func (l *link) probe(ctx context.Context, ask func(context.Context) error) (back bool) {
	l.mu.Lock()
	holdoff := l.holdoff // changes only where the link opens
	l.mu.Unlock()
	wait := max(firstProbe, holdoff)
	remind := time.Now().Add(remindEvery)
	for {
		if !sleep(ctx, jitter(wait)) {
			return false
		}
		attempt, cancel := context.WithTimeout(ctx, callTimeout)
		err := ask(attempt)
		cancel()
		if err == nil {
			return true
		}
		if time.Now().After(remind) {
			remind = remind.Add(remindEvery)
			l.mu.Lock()
			l.warn("bucketctl: still deciding alone", "lasted", time.Since(l.opened).Round(time.Second).String())
			l.mu.Unlock()
		}
		wait = min(2*wait, max(slowestProbe, holdoff))
	}
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
