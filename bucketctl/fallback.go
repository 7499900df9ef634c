package bucketctl

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Policy is what a worker does while Redis can't be asked.
type Policy string

// Policies.
const (
	FallbackShare  Policy = "share"  // go on with a share of the rate: rate / workers
	FallbackClosed Policy = "closed" // let nobody through: ErrUnavailable
	FallbackOpen   Policy = "open"   // let everybody through
)

// valid reports whether p is one of the policies.
func (p Policy) valid() bool {
	return slices.Contains([]Policy{FallbackShare, FallbackClosed, FallbackOpen}, p)
}

// BucketOption is what of one bucket differs from its Client's Config.
type BucketOption func(*bucketOptions)

type bucketOptions struct{ fallback Policy }

// WithFallback makes p the bucket's fallback policy instead of Config.Fallback:
// closed for the one provider that bans who exceeds its quota, say, while all
// others go on with their share.
func WithFallback(p Policy) BucketOption {
	return func(o *bucketOptions) { o.fallback = p }
}

// optionsOf are the options of one bucket, with the Config's for what none says.
func (c Config) optionsOf(options []BucketOption) (bucketOptions, error) {
	o := bucketOptions{fallback: c.Fallback}
	for _, set := range options {
		set(&o)
	}
	if !o.fallback.valid() {
		return o, fmt.Errorf("%w: the fallback policy is %q: share, closed or open", ErrConfig, o.fallback)
	}
	return o, nil
}

// mode is how the bucket's decisions are made now, and since when.
func (l *Limiter) mode() (Mode, time.Time) {
	if open, _, since := l.link().isOpen(); open {
		return Mode(l.options.fallback), since
	}
	return ModeShared, time.Time{}
}

// workers is how many workers the rate is shared by in fallback; never 0.
func (l *Limiter) workers() int { return l.pulse.workers() }

// describeFallback says what these buckets do without Redis, each case once:
// "rate / 4 workers", or "closed (2 buckets); rate / 4 workers (5 buckets)".
func (c *Client) describeFallback(limiters []*Limiter) string {
	counts := map[string]int{}
	for _, l := range limiters {
		switch l.options.fallback {
		case FallbackShare:
			counts[fmt.Sprintf("rate / %d workers", l.workers())]++
		case FallbackClosed, FallbackOpen:
			counts[string(l.options.fallback)]++
		}
	}
	if len(counts) == 0 && c.config.Fallback == FallbackShare { // no bucket yet
		return fmt.Sprintf("rate / %d workers", c.config.assumedWorkers())
	}
	parts := make([]string, 0, len(counts))
	for what, n := range counts {
		if len(counts) > 1 {
			what = fmt.Sprintf("%s (%d buckets)", what, n)
		}
		parts = append(parts, what)
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		return string(c.config.Fallback)
	}
	const most = 5
	if len(parts) > most {
		parts = append(parts[:most], "…")
	}
	return strings.Join(parts, "; ")
}
