package ui

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// resetTo is what a reset sets the level to.
type resetTo int

const (
	toNothing resetTo = iota // not chosen yet
	toFull
	toEmpty
	toNumber
	toDelete // the key of a wrong type
)

// plainNumber is the only form of a number that is taken: what Go reads besides
// (NaN, Inf, 0x1p4, 1_000) is no number of tokens.
var plainNumber = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// parseTokens reads a level, from 0.
func parseTokens(text string) (float64, error) {
	if !plainNumber.MatchString(text) {
		return 0, fmt.Errorf("%w: %q is not a plain number such as 20 or 7.5", bucketctl.ErrTokens, text)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n > bucketctl.MaxCapacity {
		return 0, fmt.Errorf("%w: %q is too large", bucketctl.ErrTokens, text)
	}
	return n, nil
}

// resetCause tells what holds the bucket up, in one sentence, and whether a
// reset could help against it.
func resetCause(b watch.Bucket, now time.Time) (text string, helps bool) {
	s := stateAt(b.State, now)
	switch {
	case s.Kind == bucketctl.KindWrongType:
		return fmt.Sprintf("the key holds a %s, which is no bucket: every take from it fails", nameOr(s.Type, "value")), false
	case s.Kind == bucketctl.KindForeignWindow:
		return "it is another program's window, a sorted set: all that can be done here is to delete it", false
	case s.Hold.Active:
		return "it is HELD" + holdText(s.Hold, now) + ". A reset won't help: nothing is charged before it is resumed.", false
	case s.Cooldown.Until.After(now):
		return fmt.Sprintf("it is in COOLDOWN%s: the provider asked for a pause. A reset won't help, and does not end it: it ends by itself at %s, in %s.",
			byText(s.Cooldown.By), clockTime(s.Cooldown.Until, now), spanText(s.Cooldown.Until.Sub(now))), false
	case len(s.Problems) > 0 && s.Problems[0].Code == bucketctl.ProblemRecord:
		return s.Problems[0].Text + ". A reset won't help.", false
	case len(s.Problems) > 0:
		return s.Problems[0].Text + ". A reset mends that.", true
	case b.Status.Cause != "":
		return b.Status.Cause, true
	case s.Kind == bucketctl.KindNone:
		return "there is no state: the next take begins a full bucket anyway", false
	case b.Waiting > 0:
		return "a plain shortage: more is asked for than the limit gives. A reset lets some start beyond the rate, then the queue is back.", true
	case s.Known() && !s.Effective.IsZero() && levelNow(b, now) >= s.Effective.Capacity:
		return "nothing: nobody waits, and it is full", false
	}
	if b.Waiting < 0 {
		return "not known: nobody reports here who waits for it", true
	}
	return "nothing that is seen: nobody waits", true
}

// holdText is whose hold it is, since when, until when and why.
func holdText(h bucketctl.Hold, now time.Time) string {
	text := byText(h.By)
	if !h.At.IsZero() {
		text += fmt.Sprintf(" since %s (%s)", clockTime(h.At, now), rough(now.Sub(h.At)))
	}
	if h.Until.IsZero() {
		text += ", no end"
	} else {
		text += fmt.Sprintf(", until %s (%s)", clockTime(h.Until, now), left(h.Until, now))
	}
	if h.Reason != "" {
		text += ": " + quoteText(h.Reason)
	}
	return text
}

// levelText is the level beside the capacity.
func levelText(b watch.Bucket, now time.Time) string {
	s := b.State
	level := "?"
	if s.Known() {
		level = plain(levelNow(b, now))
	}
	if s.Effective.IsZero() {
		return level + " tokens left of a capacity that is not known"
	}
	return level + " of " + exactTokens(s.Effective.Capacity) + " tokens left"
}

// startsText tells how many callers start at once where the level becomes
// tokens.
func startsText(b watch.Bucket, tokens float64, now time.Time) string {
	s := stateAt(b.State, now)
	if isStopped(s) {
		return "nobody starts before the stop is over"
	}
	if s.Effective.Capacity != 0 {
		tokens = math.Min(tokens, s.Effective.Capacity)
	}
	most := math.Floor(tokens)
	switch {
	case most < 1:
		return "nobody starts at once" + firstText(s, tokens)
	case b.Waiting < 0:
		return fmt.Sprintf("at most %s callers start at once; how many wait is not known", plain(most))
	case b.Waiting == 0:
		return fmt.Sprintf("nobody waits; the next %s tokens are there at once", plain(most))
	case b.LargestN > 1:
		return fmt.Sprintf("at most %s of the %s start at once; some ask for up to %s tokens",
			plain(math.Min(most, float64(b.Waiting))), waitingText(b.Waiting), plain(b.LargestN))
	case most >= float64(b.Waiting):
		return fmt.Sprintf("all of the %s start at once", waitingText(b.Waiting))
	}
	return fmt.Sprintf("%s of the %s start at once", plain(most), waitingText(b.Waiting))
}

// firstText is when the first caller can start where the level is below one
// token.
func firstText(s bucketctl.State, tokens float64) string {
	if s.Effective.Rate == 0 {
		return ""
	}
	wait := math.Min((1-tokens)/s.Effective.Rate, 1e9)
	return "; the first after " + spanText(time.Duration(wait*float64(time.Second)))
}

func waitingText(n int) string { return count(n, "caller") + " waiting" }

// fullTokens is what full means; unknown where the capacity is not stored: a reset
// goes by what is.
func fullTokens(b watch.Bucket) (tokens float64, known bool) {
	if b.Reported {
		return 0, false
	}
	return b.State.Effective.Capacity, b.State.Effective.Capacity != 0
}
