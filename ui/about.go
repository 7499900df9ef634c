package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// aboutLines are the lines under the list about the selected bucket: what its
// limit is, then why it is as it is.
func (a *app) aboutLines(most, width int) []string {
	lines := make([]string, 0, most)
	switch key, ok := a.list.selected(a); {
	case most == 0:
	case a.showCost:
		lines = append(lines, wrap(a.costText(), width-2)...)
	case ok:
		lines = append(lines, a.about(key, width-2)...)
	}
	for i := range lines {
		lines[i] = " " + a.aged(a.cut(lines[i], width-2))
	}
	for len(lines) < most {
		lines = append(lines, "")
	}
	return lines[:most]
}

// about is the identity of a bucket, then its facts, gravest first.
func (a *app) about(key string, width int) []string {
	b, known := a.bucket(key)
	name := a.strong.text(a.name(key, max(12, width/2)))
	if !known {
		return []string{name + "  gone: no worker registers it and it has no state"}
	}
	return append([]string{name + "  " + a.identity(&b)}, a.facts(&b, false)...)
}

// identity is "25/s, capacity 25, as declared · rev 7 · 3 workers, all shared".
func (a *app) identity(b *watch.Bucket) string {
	return a.join(a.limitPhrase(b), a.revPhrase(b.State.Rev), workersPhrase(b))
}

func (a *app) revPhrase(r bucketctl.Rev) string {
	if r <= 0 {
		return ""
	}
	return "rev " + a.rev(r)
}

// limitPhrase is the limit in force and whose it is.
func (a *app) limitPhrase(b *watch.Bucket) string {
	s, declared := &b.State, "as declared"
	if b.Reported {
		declared = "declared by workers, not stored yet"
	}
	switch {
	case s.Kind == bucketctl.KindDenied:
		return "Redis' ACL keeps it from this user"
	case s.At.IsZero():
		return "not read yet"
	case s.Kind == bucketctl.KindWrongType:
		return "a Redis " + a.esc(s.Type) + ", not a bucket"
	case s.Kind == bucketctl.KindForeign, s.Kind == bucketctl.KindForeignWindow:
		return "another program's: limit unknown, its workers read no overrides"
	case s.Effective.IsZero():
		return "limit unknown"
	case s.Override.IsZero():
		return limitText(b, s.Effective) + ", " + declared
	case s.Declared.IsZero():
		return limitText(b, s.Effective) + ", override"
	case b.Reported:
		return limitText(b, s.Effective) + " instead of " + limitText(b, s.Declared) + " " + declared
	}
	return limitText(b, s.Effective) + " instead of " + limitText(b, s.Declared)
}

// workersPhrase is "4 workers, all shared" or "4 workers, 1 silent, 1 on its own".
func workersPhrase(b *watch.Bucket) string {
	n := len(b.Workers)
	if n == 0 {
		return "no worker reports it"
	}
	silent, local := 0, 0
	for i := range b.Workers {
		switch w := &b.Workers[i]; {
		case w.Silent:
			silent++
		case w.Mode.Local():
			local++
		}
	}
	text := count(n, "worker")
	switch {
	case silent+local > 0:
		if silent > 0 {
			text += ", " + strconv.Itoa(silent) + " silent"
		}
		if local > 0 {
			text += ", " + strconv.Itoa(local) + " in fallback"
		}
	case n == 1:
		text += ", shared"
	default:
		text += ", all shared"
	}
	return text
}

// facts are sentences about what is not as usual, gravest first; where all is
// as usual, how the bucket is used. Brief leaves out what stands in the table of
// limits.
func (a *app) facts(b *watch.Bucket, brief bool) []string {
	now := a.dataNow()
	var out []string
	add := func(s string) {
		if s != "" {
			out = append(out, s)
		}
	}
	add(a.stuckFact(b))
	for _, p := range b.State.Problems {
		if p.Text != b.Status.Cause {
			add("problem: " + a.esc(p.Text))
		}
	}
	if !brief {
		add(a.holdFact(b, now))
		add(a.cooldownFact(b, now))
	}
	add(a.workersFact(b))
	add(a.driftFact(b))
	if !brief {
		add(a.overrideFact(b, now))
	}
	add(a.useFact(b))
	add(a.aboveFact(b))
	if len(out) == 0 {
		add(a.quietFact(b, now))
	}
	return out
}

func (a *app) stuckFact(b *watch.Bucket) string {
	if !isGrave(b.Status.Code) {
		return ""
	}
	word, mood := a.stateWord(b)
	text := mood.text(word)
	if b.Status.Cause != "" {
		text += ": " + a.esc(b.Status.Cause)
	} else if b.Status.Code == watch.Stuck {
		text += ": callers wait and nothing is granted; the cause is not known"
	}
	if b.Status.Remedy != "" {
		text += " (" + a.esc(b.Status.Remedy) + ")"
	}
	return text
}

func (a *app) holdFact(b *watch.Bucket, now time.Time) string {
	h := b.State.Hold
	if !h.Active {
		return ""
	}
	end := "no end"
	if !h.Until.IsZero() {
		end = "until " + clockTime(h.Until, now) + ", " + left(h.Until, now)
	}
	text := a.warn.text("HELD") + " by " + a.whoWhen(h.By, h.At, now) + ", " + end
	if h.Reason != "" {
		text += ": " + a.quoted(h.Reason)
	}
	return text
}

func (a *app) cooldownFact(b *watch.Bucket, now time.Time) string {
	c := b.State.Cooldown
	if !c.Until.After(now) {
		return ""
	}
	return a.warn.text("COOLDOWN") + " until " + clockTime(c.Until, now) + ", " + left(c.Until, now) +
		": the provider asked " + a.orSomebody(a.shortName(c.By)) + " to pause, all workers do"
}

// workersFact is about workers that don't share the bucket, silent ones first.
func (a *app) workersFact(b *watch.Bucket) string {
	const most = 2
	var silent, local []string
	for i := range b.Workers {
		w := b.Workers[i].Plight()
		text := a.name(w.Name, 24) + " " + a.warn.text(w.State.Word()) + " " + rough(a.dataNow().Sub(w.Since)) + ": " + a.esc(w.Why)
		switch w.State {
		case watch.WorkerSilent:
			silent = append(silent, text)
		case watch.WorkerFallback:
			local = append(local, text)
		case watch.WorkerShared, watch.WorkerGone:
		}
	}
	all := slices.Concat(silent, local)
	if len(all) > most {
		all = append(all[:most:most], strconv.Itoa(len(all)-most)+" more: w")
	}
	return a.join(all...)
}

func (a *app) driftFact(b *watch.Bucket) string {
	if b.Status.Code != watch.Drift || b.Status.Cause == "" {
		return ""
	}
	return a.warn.text("DRIFT") + ": workers declare " + a.esc(b.Status.Cause)
}

func (a *app) overrideFact(b *watch.Bucket, now time.Time) string {
	s := &b.State
	if s.Override.IsZero() {
		return ""
	}
	end := "no end"
	if u := s.Override.Until; !u.IsZero() {
		end = "until " + clockTime(u, now) + ", " + left(u, now)
	}
	text := a.note.text("override") + " by " + a.whoWhen(s.By, s.ChangedAt, now) + ", " + end
	if s.Reason != "" {
		text += ": " + a.quoted(s.Reason)
	}
	return text
}

// useFact is how much of the limit is used, and who waits.
func (a *app) useFact(b *watch.Bucket) string {
	if b.Waiting <= 0 {
		return ""
	}
	text := count(b.Waiting, "caller") + " waiting"
	if b.HeadWait > 0 {
		text += ", the first for " + span(b.HeadWait) + " more"
	}
	var p99 time.Duration
	for i := range b.Workers {
		p99 = max(p99, b.Workers[i].WaitP99)
	}
	if p99 > 0 {
		text += "; waits lately: p99 " + millis(p99)
	}
	if b.LargestN > 1 {
		text += "; up to " + plain(b.LargestN) + " tokens at once"
	}
	return text
}

// aboveFact is why more is granted than the rate: a limit is a rate and what was
// saved up, and workers on their own add their shares.
func (a *app) aboveFact(b *watch.Bucket) string {
	const worth = 1.03 // of the rate: below, it is the measure's own jitter
	limit := b.State.Effective
	if !(b.Used > worth) || limit.IsZero() {
		return ""
	}
	text := "granted " + percent(b.Used) + " of the rate: "
	above := b.Granted - limit.Rate
	alone := min(above, b.Alone)
	var parts []string
	if alone > limit.Rate/100 {
		parts = append(parts, "+"+rateText(alone, limit, 4)+" by workers on their own")
	}
	if saved := above - alone; saved > limit.Rate/100 {
		parts = append(parts, "+"+rateText(saved, limit, 4)+" from what was saved up (capacity "+plain(limit.Capacity)+") or an older limit")
	}
	return text + strings.Join(parts, ", ")
}

func (a *app) quietFact(b *watch.Bucket, now time.Time) string {
	switch {
	case b.State.Kind == bucketctl.KindDenied:
		return "what is stored is not known here: this console's Redis user may not read it"
	case b.Status.Code == watch.Unread:
		return "known from the registry; its state is read when it is on screen"
	case b.Waiting < 0 && len(b.Workers) == 0 && isForeign(*b):
		return "who draws from it, and who waits, is not known here"
	case b.Granted > 0:
		return "granted " + grantedOf(b, 30) + ", nobody waits"
	case !b.Seen.IsZero() && now.Sub(b.Seen) > time.Minute:
		return "last reported by a worker " + rough(now.Sub(b.Seen)) + " ago"
	}
	return "nothing granted lately, nobody waits"
}

// whoWhen is "anna@ops1 14:28:01".
func (a *app) whoWhen(by string, at, now time.Time) string {
	if at.IsZero() {
		return a.orSomebody(by)
	}
	return a.orSomebody(by) + " " + clockTime(at, now)
}

func (a *app) orSomebody(by string) string {
	if by == "" {
		return "somebody"
	}
	return a.name(by, 30)
}
