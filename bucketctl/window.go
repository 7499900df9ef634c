package bucketctl

import (
	"fmt"
	"time"
)

// Bounds of a Window, beside those of a Limit's rate.
const (
	MaxWindow = 1e9                  // tokens in one span: sums stay exact to a millionth
	MinPer    = time.Millisecond     // the span
	MaxPer    = 366 * 24 * time.Hour // the span
)

// Window is an exact sliding window: no span of Per, wherever it begins, sees
// more than Limit tokens start, by the server's clock. All of them may start
// at once, and then none until the first has left the span.
//
// A bucket of the same rate (Per, Strict) spreads its tokens and costs less at
// Redis: one small hash, while a window logs each start. Choose a window where
// the provider counts one, such as "at most 10 requests in any 10 seconds", and
// where the whole of it should be usable at any moment.
//
// Tokens are counted to a millionth. The log has one member for each start, and
// one for all that start at the same microsecond; where neighbours together make
// no more than a thousandth of the limit, they are merged at the time of the
// later one. So up to a limit of 1000 tokens, taken one by one, a window is
// exact; beyond, up to a thousandth of the limit may come back late, never
// early. A log has at most about 2,000 members, whatever the limit is.
type Window struct {
	Limit float64       // tokens, at least 1
	Per   time.Duration // the span that they count in
}

// Validate says what is wrong with the window, as an ErrLimit, or returns nil.
func (w Window) Validate() error {
	switch {
	case !(w.Limit >= MinCapacity && w.Limit <= MaxWindow): // also true for NaN
		return fmt.Errorf("%w: a window of %s tokens: it must be from %s to %s",
			ErrLimit, formatNumber(w.Limit), formatNumber(MinCapacity), formatNumber(MaxWindow))
	case w.Per < MinPer || w.Per > MaxPer:
		return fmt.Errorf("%w: a window of %v: it must be from %v to %v", ErrLimit, w.Per, MinPer, MaxPer)
	}
	return w.limit().Validate()
}

// limit is the window as a Limit: Capacity tokens in each Capacity / Rate. A
// microsecond is the smallest part of the span.
func (w Window) limit() Limit {
	per := w.Per.Truncate(time.Microsecond)
	return Limit{Capacity: w.Limit, Rate: w.Limit / per.Seconds(), Per: per}
}

// String is the window in short, such as "10/10s".
func (w Window) String() string { return formatNumber(w.Limit) + "/" + unitName(w.Per) }

// declaration names what was declared for a key.
func declaration(l Limit, window bool) string {
	if window {
		return "a window of " + Window{Limit: l.Capacity, Per: l.Per}.String()
	}
	return "a bucket of " + l.String()
}

// Window returns the Limiter of a sliding window; errors are as Bucket's. Its methods are those of a bucket's Limiter: the capacity is the
// window's limit, the level what is left of it, and a wait ends when enough has
// left the span. Declared and Decision.Limit have the limit as Capacity, and the
// span as Capacity / Rate.
//
// An operator's rate replaces limit and span: 20/min lets 20 start in any
// minute. A capacity is the most tokens in the span in force, whatever the rate
// would let through. A limit below what is used means waiting until enough has
// left the span; a longer span counts what has not yet left the old one.
//
// In fallback the worker's share is that of a bucket with the window's rate and
// capacity.
func (c *Client) Window(key string, w Window, options ...BucketOption) (*Limiter, error) {
	if err := w.Validate(); err != nil {
		return nil, fmt.Errorf("window %q: %w", key, err)
	}
	return c.limiter(key, w.limit(), true, options)
}
