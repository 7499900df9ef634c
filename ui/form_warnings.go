package ui

import (
	"fmt"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// editWarnings are what an operator may not have thought of, gravest first.
func editWarnings(s bucketctl.State, live watch.Bucket, o outlook, now time.Time) []string {
	var all []string
	add := func(text string) {
		if text != "" {
			all = append(all, text)
		}
	}
	add(stillStopped(live.State, now))
	if o.nothing {
		return all
	}
	add(factorWarning(s, o.limit))
	add(reachWarning("this edit", live, now))
	if o.limit.IsZero() {
		return all
	}
	if live.LargestN > o.limit.Capacity {
		add(fmt.Sprintf("workers ask for up to %s at once: with capacity %s those calls fail at once",
			plain(live.LargestN), exactTokens(o.limit.Capacity)))
	}
	add(burstWarning(s, o.limit))
	if n := cutOff(live, o.limit, now); live.State.Known() && n > 0 {
		add(fmt.Sprintf("%s cut off: %s are in it, %s fit",
			tokensText(n), plain(levelNow(live, now)), exactTokens(o.limit.Capacity)))
	}
	return all
}

// stillStopped warns that a limit starts nothing that was stopped.
func stillStopped(s bucketctl.State, now time.Time) string {
	switch {
	case s.Hold.Active:
		return "it is HELD" + byText(s.Hold.By) + ": an edit does not resume it (H does)"
	case s.Cooldown.Until.After(now):
		return "it is in COOLDOWN until " + clockTime(s.Cooldown.Until, now) + ": an edit does not end that"
	}
	return ""
}

// factorWarning catches a slip of the unit, such as 450/s for 450/min.
func factorWarning(s bucketctl.State, limit bucketctl.Limit) string {
	const slip = 10
	old, rate := s.Effective.Rate, limit.Rate
	if old == 0 || rate == 0 || rate < old*slip && rate > old/slip {
		return ""
	}
	from, to := exactRate(old, s.Effective.Per), exactRate(rate, limit.Per)
	if rate > old {
		return fmt.Sprintf("%s is %s times what is in force (%s): is the unit right?", to, plain(rate/old), from)
	}
	return fmt.Sprintf("%s is %s times less than what is in force (%s): is the unit right?", to, plain(old/rate), from)
}

// burstWarning compares the capacity with the rate. A window's capacity is a
// whole window by its nature.
func burstWarning(s bucketctl.State, limit bucketctl.Limit) string {
	if s.Kind == bucketctl.KindWindow || limit == s.Effective {
		return ""
	}
	const stalls, minute = 1.0, 60.0
	capacity := exactTokens(limit.Capacity)
	switch seconds := limit.Capacity / limit.Rate; {
	case seconds < stalls:
		return fmt.Sprintf("capacity %s is only %s of rate: it stalls on jitter; 3 s is usual", capacity, secondsText(seconds))
	case seconds >= minute && limit.Capacity > 1:
		return fmt.Sprintf("capacity %s is %s of rate: all of that can start at once", capacity, secondsText(seconds))
	}
	return ""
}

// secondsText is a capacity as a time of rate: "2.9 s", "5 min".
func secondsText(seconds float64) string {
	if seconds < 60 {
		return plain(seconds) + " s"
	}
	if seconds > 1e9 {
		return "decades"
	}
	return spanText(time.Duration(seconds) * time.Second)
}

// reachWarning tells which workers a change does not reach, and what they may
// do meanwhile. what is "this edit", "this hold", "this reset".
func reachWarning(what string, b watch.Bucket, now time.Time) string {
	var silent, local []string
	var share float64
	var oldest time.Time
	for _, w := range b.Workers {
		switch {
		case w.Silent:
			silent = append(silent, w.Name)
			if oldest.IsZero() || w.Seen.Before(oldest) {
				oldest = w.Seen
			}
		case w.Mode.Local():
			local = append(local, w.Name)
		default:
			continue
		}
		share += w.Share
	}
	missed := len(silent) + len(local)
	if missed == 0 {
		return ""
	}
	head := ""
	if len(silent) > 0 {
		head = fewNames(silent) + " " + isAre(len(silent)) + " SILENT"
		if !oldest.IsZero() {
			head += " " + rough(now.Sub(oldest))
		}
	}
	if len(local) > 0 {
		head = joinClauses(head, fewNames(local)+" "+isAre(len(local))+" in FALLBACK")
	}
	return fmt.Sprintf("%s: %s reaches %d of %s; %s",
		head, what, len(b.Workers)-missed, count(len(b.Workers), "worker"), aloneText(append(silent, local...), share, b))
}

// aloneText tells what workers that Redis does not reach may do.
func aloneText(names []string, share float64, b watch.Bucket) string {
	who, them := fewNames(names), "them"
	if len(names) == 1 {
		them = "it"
	}
	own := "on their own"
	if len(names) == 1 {
		own = "on its own"
	}
	if share <= 0 {
		return fmt.Sprintf("%s may be deciding %s until Redis answers %s", who, own, them)
	}
	return fmt.Sprintf("%s may be drawing up to %s %s until Redis answers %s",
		who, aboutRate(share, b.State.Effective.Per), own, them)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func joinClauses(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

// byText names who did something, where it is known.
func byText(by string) string {
	if by == "" {
		return ""
	}
	return " by " + brief(by)
}

// brief bounds a text that anybody may have written into Redis.
func brief(s string) string {
	const most = 80
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "..."
		}
		n++
	}
	return s
}

// quoteText is a reason as it stands in a sentence; empty where there is none.
func quoteText(reason string) string {
	if reason == "" {
		return ""
	}
	return `"` + brief(reason) + `"`
}

// movedOn warns early that somebody else has written since the form opened.
func (st *styles) movedOn(frozen, live bucketctl.State) string {
	if live.Rev <= frozen.Rev || frozen.At.IsZero() {
		return ""
	}
	return st.changerText(frozen, live, live.At) + " meanwhile: what you do here is not written over it"
}
