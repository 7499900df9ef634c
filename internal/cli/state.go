package cli

import (
	"strings"
	"time"

	"bucketop/bucketctl"
)

// Words for a bucket's state, as one reading can know it: who is starved or in
// fallback takes the workers' reports, which the console and the verb workers
// show.
const (
	stateStuck    = "stuck"    // nobody is served for long: ts ahead, or a deep debt
	stateCorrupt  = "corrupt"  // stored values, or the key's type, can't be
	stateCooldown = "cooldown" // workers stopped it because the provider asked
	stateHeld     = "held"     // an operator stopped it
	stateOverride = "override" // an override is in force
	stateOK       = "ok"       // the declared limit is in force
	stateIdle     = "idle"     // known, but nothing was taken for so long that the state expired
	stateForeign  = "foreign"  // another program's bucket
	stateDenied   = "denied"   // Redis' ACL keeps it from this user: nothing is known
)

// stateOf returns the gravest word that fits s.
func stateOf(s bucketctl.State) string {
	switch {
	case s.Kind == bucketctl.KindDenied:
		return stateDenied
	case hasProblem(s, bucketctl.ProblemWrongType, bucketctl.ProblemRecord, bucketctl.ProblemCorrupt), s.Kind == bucketctl.KindWrongType:
		return stateCorrupt
	case hasProblem(s, bucketctl.ProblemAhead, bucketctl.ProblemDebt):
		return stateStuck
	case s.Cooldown.Until.After(s.At):
		return stateCooldown
	case s.Hold.Active:
		return stateHeld
	case s.Kind == bucketctl.KindForeign, s.Kind == bucketctl.KindForeignWindow:
		return stateForeign
	case !s.Override.IsZero():
		return stateOverride
	case s.Kind == bucketctl.KindNone:
		return stateIdle
	}
	return stateOK
}

func hasProblem(s bucketctl.State, codes ...bucketctl.ProblemCode) bool {
	for _, p := range s.Problems {
		for _, code := range codes {
			if p.Code == code {
				return true
			}
		}
	}
	return false
}

// loud puts the words in capitals that ask an operator to act.
func loud(state string) string {
	switch state {
	case stateStuck, stateCorrupt, stateCooldown, stateHeld, stateDenied:
		return strings.ToUpper(state)
	}
	return state
}

// stateText is the state for people: the word and what goes with it.
func stateText(s bucketctl.State) string {
	word := stateOf(s)
	text := loud(word)
	switch word {
	case stateCooldown:
		return text + " " + showSpan(s.Cooldown.Until.Sub(s.At))
	case stateHeld:
		if !s.Hold.Until.IsZero() {
			return text + " " + showSpan(s.Hold.Until.Sub(s.At)) + " left"
		}
	case stateOverride:
		if !s.Override.Until.IsZero() {
			return text + " " + showSpan(s.Override.Until.Sub(s.At)) + " left"
		}
	}
	if s.Kind == bucketctl.KindWindow || s.Kind == bucketctl.KindForeignWindow {
		text += " window"
	}
	return text
}

// showSpan is a duration for people: its two largest units, "26m", "1h5m", "2d3h".
func showSpan(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return two(d/time.Minute, "m", d%time.Minute/time.Second, "s")
	case d < day:
		return two(d/time.Hour, "h", d%time.Hour/time.Minute, "m")
	}
	return two(d/day, "d", d%day/time.Hour, "h")
}

func two(a time.Duration, unitA string, b time.Duration, unitB string) string {
	text := showNumber(float64(a)) + unitA
	if b > 0 {
		text += showNumber(float64(b)) + unitB
	}
	return text
}
