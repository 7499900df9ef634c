package bucketctl

import (
	"fmt"
	"math"
	"time"
)

// Bounds of what a limit may say. Within them no step of the arithmetic, in Go
// or in the scripts, overflows or loses a microsecond.
const (
	MinCapacity = 1.0  // tokens: below, nobody could ever take 1
	MaxCapacity = 1e12 // tokens
	MinRate     = 1e-9 // tokens per second: one token in 32 years
	MaxRate     = 1e9  // tokens per second
	MinTokens   = 1e-6 // tokens in one request
)

// Limit is a token bucket's limit: how many tokens it holds at most and how
// fast they come back. Over any span of time it lets through at most
//
//	Capacity + Rate x span
//
// tokens. Build one with PerSecond, PerMinute, PerHour, PerDay, Per or Every,
// or read one with ParseLimit.
type Limit struct {
	Capacity float64       // tokens: also called burst
	Rate     float64       // tokens per second
	Per      time.Duration // the unit that Rate was declared in, for showing it
}

// PerSecond is shorthand for Per(n, time.Second).
func PerSecond(n float64) Limit { return Per(n, time.Second) }

// PerMinute is shorthand for Per(n, time.Minute).
func PerMinute(n float64) Limit { return Per(n, time.Minute) }

// PerHour is shorthand for Per(n, time.Hour).
func PerHour(n float64) Limit { return Per(n, time.Hour) }

// PerDay is shorthand for Per(n, 24*time.Hour).
func PerDay(n float64) Limit { return Per(n, 24*time.Hour) }

// Every is one token each d.
func Every(d time.Duration) Limit { return Per(1, d) }

// Per is n tokens in each d, evenly spread. Its capacity is what comes back in
// 3 seconds, at least 1: enough for ordinary jitter without a visible burst at
// the provider. Burst sets another.
func Per(n float64, d time.Duration) Limit {
	rate := n / d.Seconds()
	return Limit{Capacity: defaultCapacity(rate), Rate: rate, Per: d}
}

// Strict is a limit that lets through never more than n tokens in any span of
// per, where Per would let through n and a capacity on top: Capacity + Rate x
// per is n. The price is a rate a little below n in each per. A tenth of per, at
// most 3 seconds of rate, may start at once, at least 1. n must be above 1.
func Strict(n float64, per time.Duration) Limit {
	burst := min(per/10, 3*time.Second)
	rate := n / (per + burst).Seconds()
	capacity := rate * burst.Seconds()
	if capacity < 1 {
		capacity, rate = 1, (n-1)/per.Seconds()
	}
	return Limit{Capacity: capacity, Rate: rate, Per: per}
}

// Burst returns the limit with another capacity, in tokens.
func (l Limit) Burst(capacity float64) Limit {
	l.Capacity = capacity
	return l
}

// IsZero reports whether the limit is unknown.
func (l Limit) IsZero() bool { return l.Capacity == 0 && l.Rate == 0 }

// Validate says what is wrong with the limit, as an ErrLimit, or returns nil.
func (l Limit) Validate() error {
	if err := validateRate(l.Rate); err != nil {
		return err
	}
	if err := validateCapacity(l.Capacity); err != nil {
		return err
	}
	return validateUnit(l.Per)
}

func validateUnit(per time.Duration) error {
	if per < 0 {
		return fmt.Errorf("%w: the unit of the rate is %v: it must not be negative", ErrLimit, per)
	}
	return nil
}

func validateRate(rate float64) error {
	switch {
	case rate == 0:
		return fmt.Errorf("%w: the rate is 0: to stop a bucket, hold it", ErrLimit)
	case !(rate >= MinRate && rate <= MaxRate): // also true for NaN
		return fmt.Errorf("%w: the rate is %s tokens per second: it must be from %s to %s",
			ErrLimit, formatNumber(rate), formatNumber(MinRate), formatNumber(MaxRate))
	}
	return nil
}

func validateCapacity(capacity float64) error {
	switch {
	case !(capacity >= MinCapacity): // also true for NaN
		return fmt.Errorf("%w: the capacity is %s: below 1 nobody could ever take 1", ErrLimit, formatNumber(capacity))
	case capacity > MaxCapacity:
		return fmt.Errorf("%w: the capacity is %s: at most %s", ErrLimit, formatNumber(capacity), formatNumber(MaxCapacity))
	}
	return nil
}

func validateTokens(n float64) error {
	if !(n >= MinTokens && n <= MaxCapacity) { // also true for NaN
		return fmt.Errorf("%w: %s: it must be from %s to %s",
			ErrTokens, formatNumber(n), formatNumber(MinTokens), formatNumber(MaxCapacity))
	}
	return nil
}

func defaultCapacity(rate float64) float64 { return math.Max(1, 3*rate) }

// InUnit returns the rate in tokens per unit, where unit is l.Per, or the
// second when that is not known.
func (l Limit) InUnit() (n float64, unit time.Duration) {
	unit = l.Per
	if unit <= 0 {
		unit = time.Second
	}
	return l.Rate * unit.Seconds(), unit
}

// RateString is the rate in the unit it was declared in, such as "300/min".
func (l Limit) RateString() string {
	n, unit := l.InUnit()
	return formatNumber(n) + "/" + unitName(unit)
}

// String is the form that ParseLimit reads, such as "300/min burst 15".
func (l Limit) String() string {
	if l.IsZero() {
		return "unknown"
	}
	return l.RateString() + " burst " + formatNumber(l.Capacity)
}
