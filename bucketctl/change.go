package bucketctl

import (
	"fmt"
	"strings"
	"time"
)

// Setting is what a change does to one number of the override. The zero
// Setting keeps what is there.
type Setting struct {
	op    settingOp
	value float64
}

type settingOp uint8

const (
	keepSetting settingOp = iota
	declaredSetting
	toSetting
)

// Keep leaves the number as it is.
func Keep() Setting { return Setting{} }

// ToDeclared takes the override of this number away.
func ToDeclared() Setting { return Setting{op: declaredSetting} }

// To sets the number.
func To(value float64) Setting { return Setting{op: toSetting, value: value} }

// IsKeep reports whether the setting changes nothing.
func (s Setting) IsKeep() bool { return s.op == keepSetting }

// apply returns the overriding number after the change; 0 is none.
func (s Setting) apply(current float64) float64 {
	switch s.op {
	case declaredSetting:
		return 0
	case toSetting:
		return s.value
	case keepSetting:
	}
	return current
}

// End is when an override or a hold ends by itself. The zero End keeps the end
// that is there, which is none where nothing is in force.
type End struct {
	op    endOp
	after time.Duration
	at    time.Time
}

type endOp uint8

const (
	keepEnd endOp = iota
	noEnd
	afterEnd
	atEnd
)

// NoEnd is for ever, until somebody changes it.
func NoEnd() End { return End{op: noEnd} }

// EndAfter is d from now by the server's clock.
func EndAfter(d time.Duration) End { return End{op: afterEnd, after: d} }

// EndAt is a moment of server time.
func EndAt(t time.Time) End { return End{op: atEnd, at: t} }

// IsKeep reports whether the end stays as it is.
func (e End) IsKeep() bool { return e.op == keepEnd }

// LimitChange is what an operator wants of a bucket's limit. What is not named
// stays as it is.
type LimitChange struct {
	Rate     Setting       // tokens per second
	Per      time.Duration // unit that Rate was given in, for showing it; 0: the second
	Capacity Setting       // tokens
	End      End
	Reason   string // for the audit
}

// Preview returns the override and the limit in force right after the change,
// were it made on s at s.At. It writes nothing; errors are ErrLimit.
func (c LimitChange) Preview(s State) (Override, Limit, error) {
	if err := c.validate(); err != nil {
		return s.Override, Limit{}, err
	}
	o := s.Override
	o.Capacity = c.Capacity.apply(o.Capacity)
	o.Rate = c.Rate.apply(o.Rate)
	if !c.Rate.IsKeep() {
		o.Per = c.Per
	}
	switch c.End.op {
	case noEnd:
		o.Until = time.Time{}
	case afterEnd:
		o.Until = s.At.Add(c.End.after)
	case atEnd:
		o.Until = c.End.at
	case keepEnd:
	}
	if o.IsZero() {
		return Override{}, s.Declared, nil
	}
	if o.Rate != 0 {
		if err := validateRate(o.Rate); err != nil {
			return o, Limit{}, err
		}
	}
	if o.Capacity != 0 {
		if err := validateCapacity(o.Capacity); err != nil {
			return o, Limit{}, err
		}
	}
	if !o.Until.IsZero() && !o.Until.After(s.At) {
		return o, Limit{}, fmt.Errorf("%w: the end lies in the past", ErrLimit)
	}
	after := s.under(o)
	if s.Kind == KindWindow && !after.IsZero() && after.Capacity < MinCapacity {
		return o, Limit{}, errWindowTooSmall()
	}
	return o, after, nil
}

// ParseLimitChange reads what an operator typed for a bucket in state s. Empty
// texts keep what is there.
//
//	rate      450/min  7.5/s  25000/day  10/10s  x0.5  x2  declared
//	capacity  22  3s (of the new rate)  x2  declared
//	end       30m  1h30m  forever
//
// x multiplies what is in force. Errors are ErrLimit and say what to write.
func ParseLimitChange(s State, rate, capacity, end string) (LimitChange, error) {
	var c LimitChange
	if err := c.parseRate(s, strings.TrimSpace(rate)); err != nil {
		return c, err
	}
	if err := c.parseCapacity(s, strings.TrimSpace(capacity)); err != nil {
		return c, err
	}
	var err error
	c.End, err = ParseEnd(strings.TrimSpace(end))
	if err != nil {
		return c, err
	}
	_, _, err = c.Preview(s)
	return c, err
}

func (c *LimitChange) parseRate(s State, text string) error {
	switch factor, isFactor, err := parseFactor("rate", text); {
	case text == "":
		return nil
	case text == "declared":
		c.Rate = ToDeclared()
	case err != nil:
		return err
	case isFactor:
		if s.Effective.IsZero() {
			return fmt.Errorf("%w: rate %q: the rate in force is not known, give one", ErrLimit, text)
		}
		c.Rate, c.Per = To(s.Effective.Rate*factor), s.Effective.Per
	default:
		limit, err := ParseRate(text)
		if err != nil {
			return err
		}
		c.Rate, c.Per = To(limit.Rate), limit.Per
	}
	return nil
}

func (c *LimitChange) parseCapacity(s State, text string) error {
	switch factor, isFactor, err := parseFactor("capacity", text); {
	case text == "":
		return nil
	case text == "declared":
		c.Capacity = ToDeclared()
	case err != nil:
		return err
	case isFactor:
		if s.Effective.IsZero() {
			return fmt.Errorf("%w: capacity %q: the capacity in force is not known, give one", ErrLimit, text)
		}
		c.Capacity = To(s.Effective.Capacity * factor)
	default:
		o, after, err := LimitChange{Rate: c.Rate, Per: c.Per}.Preview(s)
		if err != nil {
			return err
		}
		rate := o.Rate // known also where the capacity is not, and so the limit
		if rate == 0 {
			rate = after.Rate
		}
		capacity, err := ParseCapacity(text, rate)
		if err != nil {
			return err
		}
		c.Capacity = To(capacity)
	}
	return nil
}

// parseFactor reads "x0.5", of what is in force.
func parseFactor(what, text string) (factor float64, isFactor bool, err error) {
	digits, isFactor := strings.CutPrefix(text, "x")
	if !isFactor {
		return 0, false, nil
	}
	factor, err = parseNumber(digits)
	if err != nil {
		return 0, true, fmt.Errorf("%w: %s %q: %w", ErrLimit, what, text, err)
	}
	if factor == 0 {
		return 0, true, fmt.Errorf("%w: %s %q: to stop a bucket, hold it", ErrLimit, what, text)
	}
	return factor, true, nil
}

// MaxEnd is how far ahead an end may lie.
const MaxEnd = 366 * 24 * time.Hour

// ParseEnd reads "30m", "1h30m", "2d" or "forever"; empty keeps the end there
// is. Errors are ErrLimit.
func ParseEnd(text string) (End, error) {
	switch text {
	case "":
		return End{}, nil
	case "forever":
		return NoEnd(), nil
	}
	d, err := parseDuration(text)
	if err != nil {
		return End{}, fmt.Errorf("%w: %q is no duration: write 30m, 2h, 1d or forever", ErrLimit, text)
	}
	if d < time.Second || d > MaxEnd {
		return End{}, fmt.Errorf("%w: %q: it must be from 1s to 366d, or forever", ErrLimit, text)
	}
	return EndAfter(d), nil
}

// parseDuration is time.ParseDuration with days and without signs.
func parseDuration(text string) (time.Duration, error) {
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, err := parseNumber(days)
		return seconds(n * 86400), err
	}
	if !startsWithDigit(text) {
		return 0, fmt.Errorf("%q does not start with a digit", text)
	}
	return time.ParseDuration(text)
}
