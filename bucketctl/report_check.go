package bucketctl

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Bounds of what a report may say. Whoever may write the stream could write
// anything, and screens and sums are made of it.
const (
	shortestInterval = 100 * time.Millisecond
	longestInterval  = time.Hour
)

// check says what in the report can't be.
func (w Worker) check() error {
	switch {
	case w.ID == "":
		return errors.New("it names no worker")
	case w.Interval < shortestInterval || w.Interval > longestInterval:
		return fmt.Errorf("an interval of %v", w.Interval)
	}
	if w.Fallback != "" && !w.Fallback.valid() { // "": not told
		return fmt.Errorf("fallback %q", w.Fallback)
	}
	if o := w.Outage; o.Lasted < 0 || !(o.Local >= 0 && o.Local <= maxNumber) { // also true for NaN
		return fmt.Errorf("an outage of %v with %v granted", o.Lasted, o.Local)
	}
	for _, b := range w.Buckets {
		if err := b.check(); err != nil {
			return fmt.Errorf("bucket %q: %w", b.Key, err)
		}
	}
	return nil
}

func (b WorkerBucket) check() error {
	switch b.Mode {
	case "", ModeShared, ModeShare, ModeClosed, ModeOpen: // "": not told
	default:
		return fmt.Errorf("mode %q", b.Mode)
	}
	if b.Fallback != "" && !b.Fallback.valid() {
		return fmt.Errorf("fallback %q", b.Fallback)
	}
	for _, n := range []float64{float64(b.Workers), b.Share, b.Granted, b.Local, b.LargestN, float64(b.Refused), float64(b.Calls), float64(b.Waiting)} {
		if !(n >= 0 && n <= maxNumber) { // also true for NaN
			return fmt.Errorf("a count of %v", n)
		}
	}
	for _, d := range []time.Duration{b.HeadWait, b.WaitP50, b.WaitP99, b.CallP99} {
		if d < 0 {
			return fmt.Errorf("a wait of %v", d)
		}
	}
	if !math.IsNaN(b.Level) && math.Abs(b.Level) > maxNumber {
		return fmt.Errorf("a level of %v", b.Level)
	}
	for _, limit := range []Limit{b.Declared, b.Limit} { // zero: not told
		if err := limit.Validate(); err != nil && !limit.IsZero() {
			return err
		}
	}
	return nil
}
