package ui

import (
	"fmt"
	"math"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// The sentences of this file and its neighbours are raw: names and reasons in
// them are as Redis has them. The page escapes each sentence whole, once, when
// it draws it. Nothing here looks at a clock; now is always server time.

// editField is one field of the edit form, in the order of the form.
type editField int

const (
	rateField editField = iota
	capacityField
	endField
	reasonField
	editFields
)

// editTexts is what is typed into the fields.
type editTexts [editFields]string

// outlook is what an edit would do to a bucket.
type outlook struct {
	change   bucketctl.LimitChange
	override bucketctl.Override // right after it
	limit    bucketctl.Limit    // in force right after it; zero when unknown
	nothing  bool               // it would change nothing

	now      string   // what goes on
	then     []string // what will
	warnings []string // what the operator may not have thought of

	err error // what can't be read, in the field bad; then is empty then
	bad editField
}

// foresee tells what typed would do to the bucket whose state was frozen when
// the form opened. What goes on in it is taken from live, the newest reading.
func foresee(frozen bucketctl.State, live watch.Bucket, typed editTexts, now time.Time) outlook {
	s := stateAt(frozen, now)
	o := outlook{now: nowText(live), override: s.Override, limit: s.Effective}
	o.change, o.bad, o.err = parseEdit(s, typed)
	if o.err != nil {
		return o
	}
	if o.override, o.limit, o.err = o.change.Preview(s); o.err != nil {
		return o
	}
	o.nothing = changesNothing(s, o)
	o.then = thenTexts(s, live, o, now)
	o.warnings = editWarnings(s, live, o, now)
	return o
}

// stateAt is the state as it will be at now, if nobody changes it until then:
// an override may have ended by itself meanwhile.
func stateAt(s bucketctl.State, now time.Time) bucketctl.State {
	if now.Before(s.At) {
		return s
	}
	s.At = now
	if !s.Override.Until.IsZero() && !s.Override.Until.After(now) {
		s.Override, s.Effective = bucketctl.Override{}, s.Declared
	}
	if s.Hold.Active && !s.Hold.Until.IsZero() && !s.Hold.Until.After(now) {
		s.Hold = bucketctl.Hold{}
	}
	return s
}

// parseEdit reads the fields one after the other, so that an error is shown
// beside the field it is about.
func parseEdit(s bucketctl.State, typed editTexts) (bucketctl.LimitChange, editField, error) {
	rate, capacity, end := typed[rateField], typed[capacityField], typed[endField]
	if _, err := bucketctl.ParseLimitChange(s, rate, "", ""); err != nil {
		return bucketctl.LimitChange{}, rateField, err
	}
	if _, err := bucketctl.ParseLimitChange(s, rate, capacity, ""); err != nil {
		return bucketctl.LimitChange{}, capacityField, err
	}
	change, err := bucketctl.ParseLimitChange(s, rate, capacity, end)
	change.Reason = typed[reasonField]
	return change, endField, err
}

// changesNothing reports whether the operators' record would say the same
// afterwards. An end alone has nothing to end where there is no override.
func changesNothing(s bucketctl.State, o outlook) bool {
	if o.override.IsZero() {
		return s.Override.IsZero()
	}
	return o.override == s.Override
}

// nowText tells what goes on in the bucket.
func nowText(b watch.Bucket) string {
	limit := b.State.Effective
	text := ""
	switch unit := exactRate(limit.Rate, limit.Per); {
	case math.IsNaN(b.Granted) && limit.IsZero() && b.Waiting < 0:
		return "nothing is known of grants, limit or who waits"
	case math.IsNaN(b.Granted) && b.Waiting < 0:
		return "limit " + unit + "; nothing is known of grants or who waits"
	case math.IsNaN(b.Granted) && limit.IsZero():
		text = "nothing is known of grants or limit"
	case math.IsNaN(b.Granted):
		text = "what is granted of " + unit + " is not known"
	case limit.IsZero():
		text = aboutRate(b.Granted, time.Second) + " granted of a limit that is not known"
	default:
		text = plain(inUnit(b.Granted, limit.Per)) + " of " + unit + " granted"
	}
	switch {
	case b.Waiting < 0:
		return text + ", how many wait is not known"
	case b.Waiting == 0:
		return text + ", nobody waits"
	}
	text += fmt.Sprintf(", %d waiting", b.Waiting)
	if wait, known := lastWait(b, limit); known {
		text += "; the last of them waits " + wait
	}
	return text
}

// lastWait is how long the last of those who wait has to wait at limit, were
// nobody to come behind them. Each is taken to want one token; where some want
// more it says so.
func lastWait(b watch.Bucket, limit bucketctl.Limit) (text string, known bool) {
	if limit.Rate == 0 || b.Waiting <= 0 || isStopped(b.State) {
		return "", false
	}
	wait := float64(b.Waiting) / limit.Rate
	if old := b.State.Effective.Rate; b.State.Known() && b.State.Level >= 0 {
		wait -= b.State.Level / limit.Rate
	} else if b.State.Known() && old != 0 {
		wait -= b.State.Level / old // a debt keeps its time
	}
	if old := b.State.Effective.Rate; old != 0 {
		// Whoever reports a longer wait knows better, such as what they want.
		if seen := b.HeadWait.Seconds() * old / limit.Rate; seen > wait+1 {
			wait = seen
		}
	}
	text = spanText(time.Duration(math.Max(0, math.Min(wait, 1e9)) * float64(time.Second)))
	if b.LargestN > 1 {
		text += " or more"
	}
	return text, true
}

// isStopped reports whether a hold or a cooldown is in force, so that the rate
// says nothing about waits.
func isStopped(s bucketctl.State) bool { return s.Hold.Active || s.Cooldown.Until.After(s.At) }

// thenTexts tell what will go on after the edit.
func thenTexts(s bucketctl.State, live watch.Bucket, o outlook, now time.Time) []string {
	if o.nothing {
		return []string{"as now: nothing is changed yet"}
	}
	if o.limit.IsZero() {
		return []string{"what the workers declare is not known, so what will be in force is not either", endText(s, o, now)}
	}
	return []string{rateThen(live, o.limit), burstThen(live, s, o.limit, now), endText(s, o, now)}
}

// rateThen tells what the rate will do to the queue.
func rateThen(b watch.Bucket, limit bucketctl.Limit) string {
	text := exactRate(limit.Rate, limit.Per) + " at most"
	if isStopped(b.State) {
		return text + ", once it is no longer stopped"
	}
	grows := ""
	if excess := b.Granted - limit.Rate; excess > limit.Rate/200 {
		grows = "the queue grows by " + aboutRate(excess, limit.Per)
	}
	wait, known := lastWait(b, limit)
	switch {
	case known && grows != "":
		return fmt.Sprintf("%s; those %d wait %s, %s", text, b.Waiting, wait, grows)
	case known:
		return fmt.Sprintf("%s; those %d wait %s", text, b.Waiting, wait)
	case grows != "" && b.Waiting == 0:
		return text + "; callers begin to wait, " + grows
	case grows != "":
		return text + "; " + grows
	}
	return text
}

// burstThen tells what the capacity will do.
func burstThen(b watch.Bucket, s bucketctl.State, limit bucketctl.Limit, now time.Time) string {
	text := "at most " + exactTokens(limit.Capacity) + " start at once"
	switch was := s.Effective.Capacity; {
	case was == limit.Capacity:
		text += ", as now"
	case was != 0:
		text += " (was " + exactTokens(was) + ")"
	}
	if b.State.Known() {
		text += "; " + tokensText(cutOff(b, limit, now)) + " cut off"
	}
	return text
}

// cutOff is how many tokens the bucket holds that it can't hold afterwards.
func cutOff(b watch.Bucket, limit bucketctl.Limit, now time.Time) float64 {
	return math.Max(0, levelNow(b, now)-limit.Capacity)
}

// levelNow is the level now: while callers wait they take what accrues, so it
// does not rise then.
func levelNow(b watch.Bucket, now time.Time) float64 {
	if b.Waiting > 0 {
		return b.State.Level
	}
	return b.State.LevelAt(now)
}

// tokensText is a number of tokens with its verb.
func tokensText(n float64) string {
	if text := plain(n); text != "1" {
		return text + " tokens are"
	}
	return "1 token is"
}

// endText tells when the override ends, and that what comes then is the
// declared limit, not the one that was in force before the edit.
func endText(s bucketctl.State, o outlook, now time.Time) string {
	declared := "back to declared, " + exactLimit(s.Declared)
	if s.Declared.IsZero() {
		declared = "back to what the workers declare, which is not known"
	}
	switch {
	case o.override.IsZero():
		return declared + ", at once"
	case o.override.Until.IsZero():
		return "no end: it stays until somebody changes it"
	}
	text := clockTime(o.override.Until, now) + " " + declared
	if !s.Override.IsZero() && !s.Effective.IsZero() {
		text += notTo(s)
	}
	if o.change.End.IsKeep() {
		text += "; the end is the one it had"
	}
	return text
}

// notTo names the limit in force that does not come back.
func notTo(s bucketctl.State) string {
	switch {
	case s.Effective.Rate != s.Declared.Rate:
		return " (not to " + exactRate(s.Effective.Rate, s.Effective.Per) + ")"
	case s.Effective.Capacity != s.Declared.Capacity:
		return " (not to capacity " + exactTokens(s.Effective.Capacity) + ")"
	}
	return ""
}
