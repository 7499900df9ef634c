package bucketctl

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/schema"
)

const (
	reportInterval = time.Second        // between two of one worker, at least
	reportsPerSec  = 100                // of all workers together, at most
	reportsBytes   = 16 << 20           // the stream's size at most, roughly
	trimEvery      = 30                 // reports between trims by size
	forgetAfter    = 7 * 24 * time.Hour // a bucket that nobody reports
)

// newWorker is what of a report does not change.
func newWorker(config Config) Worker {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Worker{
		ID:       fmt.Sprintf("%s@%s/%d-%s", config.App, host, os.Getpid(), randomHex()),
		App:      config.App,
		Host:     host,
		PID:      os.Getpid(),
		Version:  moduleVersion(),
		Start:    time.Now().UTC(),
		Interval: reportInterval,
		Fallback: config.Fallback,
	}
}

// randomHex keeps apart what process ids don't: Clients of one process, and
// processes in containers.
func randomHex() string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// moduleVersion is the version of bucketop that the program was built with.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dep := range append(info.Deps, &info.Main) {
		if dep.Path == "bucketop" && dep.Version != "" {
			return dep.Version
		}
	}
	return "(devel)"
}

// reportEachInterval publishes reports until ctx ends. While the link is open
// the probe publishes instead, as a part of its attempt; but where a Redis that
// comes and goes is left alone for a while, operators should see who does so.
func (c *Client) reportEachInterval(ctx context.Context) {
	for {
		interval := c.reportInterval()
		if open, _, _ := c.link.isOpen(); !open || c.link.staysAway() {
			attempt, cancel := context.WithTimeout(ctx, c.config.callTimeout)
			var err error
			if open { // a dial that fails would be a line in somebody's log
				err = knock(attempt, c.redis)
			}
			if err == nil {
				err = c.publishReport(attempt, interval, false)
			}
			cancel()
			// Refused reports don't stop the limiter: only takes decide that.
			if classify(ctx, err) == classOutage && !c.isCluster() {
				c.failed(c.link, classOutage, err)
			}
		}
		if !sleep(ctx, interval) {
			return
		}
	}
}

// reportInterval is how far apart reports are: more with more workers, all of
// whom write to one stream.
func (c *Client) reportInterval() time.Duration {
	return max(reportInterval, time.Duration(c.everybody.workers())*time.Second/reportsPerSec)
}

// publishReport adds one report to the stream and renews the registry; interval
// is when the next one comes. The server's clock comes from the stream entry's
// ID.
func (c *Client) publishReport(ctx context.Context, interval time.Duration, closing bool) error {
	limiters := c.all()
	w := c.self
	w.Closing = closing
	w.Interval = interval
	if o := c.lastOutage.Load(); o != nil {
		w.Outage = *o
	}
	for _, l := range limiters {
		w.Buckets = append(w.Buckets, l.report())
	}
	text := encodeReport(w)
	id, err := c.redis.XAdd(ctx, &redis.XAddArgs{
		Stream: c.keys.Reports(),
		MinID:  strconv.FormatInt(c.clock.now().Add(-keptReports).UnixMilli(), 10),
		Approx: true,
		Values: []any{schema.FieldReport, text},
	}).Result()
	if err != nil {
		return fmt.Errorf("publish a report: %w", err)
	}
	now := streamTime(id)
	c.clock.set(now)
	return c.register(ctx, limiters, now, len(text))
}

// register tells the registry of the buckets, and now and then trims what has
// grown old or large.
func (c *Client) register(ctx context.Context, limiters []*Limiter, now time.Time, reportBytes int) error {
	members := make([]redis.Z, len(limiters))
	for i, l := range limiters {
		members[i] = redis.Z{Score: float64(now.UnixMilli()), Member: l.key}
	}
	trims := now.Unix()%trimEvery == 0
	if len(members) == 0 && !trims {
		return nil
	}
	_, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		if len(members) > 0 {
			p.ZAdd(ctx, c.keys.Buckets(), members...)
		}
		if trims {
			p.XTrimMaxLenApprox(ctx, c.keys.Reports(), int64(reportsBytes/max(1, reportBytes)), 0)
			oldest := strconv.FormatInt(now.Add(-forgetAfter).UnixMilli(), 10)
			p.ZRemRangeByScore(ctx, c.keys.Buckets(), "-inf", "("+oldest)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("register the buckets: %w", err)
	}
	return nil
}
