package lua_test

import "math"

// take is what the script has to answer. Where rounding decides, what it did
// answer is taken for right.
func (m *model) take(now float64, l limits, ahead int64, asks []ask, answered []outcome) taken {
	next := *m
	found := next.mend(now)
	store := next.join(l, now) || found != sound || !next.exists
	limit := next.flowAt(now)
	out := taken{mended: found, capacity: limit.capacity, rate: limit.speed * 1e6}
	stop, until := next.stopped(now)
	out.stop, out.stopEnd = stop, int64(until)

	queued := 0.0 // tokens of those who wait in front
	for i, a := range asks {
		o := outcome{code: charged}
		start := next.ts.v + (a.n+queued-next.tokens.v)/limit.speed
		wait := math.Max(0, math.Ceil(math.Min(start-now, 9e15)))
		if wait < 2 {
			wait = 0
		}
		switch {
		case a.n > limit.capacity:
			o, wait = outcome{code: impossible}, 0
		case stop != running:
			wait = until - now
			if until == 0 {
				wait = 9e15
			}
			o.code = waits
			// A hold may be lifted at any time: it only ends a patience of none.
			if a.patience == 0 || wait > float64(a.patience) && stop != heldUp {
				o.code = refusedNow
			}
		case wait > float64(a.patience):
			o.code = refusedNow
		case queued > 0 || wait > float64(ahead):
			o.code = waits
		}
		if a.n <= limit.capacity && stop == running && (tie(wait, float64(a.patience)) || tie(wait, float64(ahead)) || wait <= 3) {
			o.code = answered[i].code
		}
		o.wait = int64(wait)
		out.outcomes = append(out.outcomes, o)
		switch {
		case o.code == charged:
			next.tokens.v -= a.n
			next.granted = num(next.granted.or(0) + a.n)
			store = true
		case o.code == waits && stop == running:
			queued += a.n
			if out.ask == 0 {
				out.ask = max(1, o.wait-ahead)
			}
		case o.code == waits && (out.ask == 0 || o.wait < out.ask):
			out.ask = o.wait
		}
	}
	out.level = next.tokens.v
	out.rev = int64(next.rev.or(0))
	if next.overridden(now) {
		out.overEnd = -1
		if next.until.there {
			out.overEnd = int64(next.until.v)
		}
	}
	if store || next.exp.or(0) < now+24*3600e6 {
		next.store(now)
		*m = next
	}
	return out
}

// give is what the script has to answer.
func (m *model) give(now float64, l limits, why string, tokens float64, start int64) given {
	next := *m
	found := next.mend(now)
	begun := next.tokens.there
	store := next.join(l, now) || found != sound || !begun
	limit := next.flowAt(now)
	before := next.tokens.v
	after := before
	switch {
	case why == "refund" && begun:
		last := next.ts.v - before/limit.speed
		behind := math.Max(0, last-float64(start)) * limit.speed
		after = math.Min(limit.capacity, before+math.Max(0, tokens-behind))
	case why == "settle" && tokens > 0 && begun:
		after = math.Min(limit.capacity, before+tokens)
	case why == "settle" && tokens < 0 && before > -limit.capacity:
		after = math.Max(-limit.capacity, before+tokens)
	case why == "debit" && before > 0:
		after = math.Max(0, before-tokens)
	}
	next.tokens = num(after)
	if after < before {
		next.granted = num(next.granted.or(0) + (before - after))
	}
	if store || after != before {
		next.store(now)
		*m = next
	}
	return given{tokens: after - before, level: after}
}

// known tells what stands in the way of a change, "" where nothing does.
func (m *model) refuses(rev int64, listed int, foreignMatters bool) string {
	switch {
	case listed == 0 && !m.exists && !m.noted:
		return "unknown"
	case foreignMatters && listed == 0 && m.exists && !m.noted && !m.gen.there && !m.capacity.there:
		return "foreign"
	case rev >= 0 && float64(rev) != m.rev.or(0):
		return "conflict"
	}
	return ""
}

// setting is what an edit makes of one side of the override.
func setting(text string, active bool, current cell) cell {
	switch {
	case text == "declared" || text == "" && !(active && positive(current).sound):
		return cell{}
	case text == "":
		return current
	}
	return readCell(text, true)
}

func (m *model) revise(now float64) {
	m.rev = num(math.Max(m.rev.or(0)+1, now))
	m.noted = true
}

// limit is the result that the script has to answer. end is in microseconds
// from now; 0: keep, -1: forever.
func (m *model) limit(now float64, rev int64, listed int, e edit, end int64) string {
	if why := m.refuses(rev, listed, true); why != "" {
		return why
	}
	next := *m
	next.mend(now)
	active := next.overridden(now)
	capacity, rate := setting(e.capacity, active, next.overCapacity), setting(e.rate, active, next.overRate)
	if !capacity.there && !rate.there && !active {
		return "nothing"
	}
	until := cell{}
	switch {
	case end > 0:
		until = num(now + float64(end))
	case end == 0 && active:
		until = next.until
	}
	settles := next.tokens.there && next.capacity.sound && next.rate.sound
	var old flow
	if settles {
		next.fill(now)
		old = next.flowAt(now)
	} else {
		next = *m
	}
	next.overCapacity, next.overRate, next.until = capacity, rate, until
	if !capacity.there && !rate.there {
		next.until = cell{}
	}
	if settles {
		next.tokens = num(turnInto(next.tokens.v, old, next.flowAt(now)))
		next.exp = num(0)
		next.store(now)
	}
	next.revise(now)
	*m = next
	return "ok"
}

// holdUp is the result of the script hold. end is as for limit.
func (m *model) holdUp(now float64, rev int64, listed int, resume bool, end int64) string {
	if why := m.refuses(rev, listed, true); why != "" {
		return why
	}
	held := m.unreadableHold || m.hold.there && m.hold.v > now
	switch {
	case resume && !held:
		return "nothing"
	case resume:
		m.hold, m.unreadableHold = cell{}, false
	case end > 0:
		m.hold, m.unreadableHold = num(now+float64(end)), false
	case end < 0 || !held:
		m.hold, m.unreadableHold = cell{}, true
	}
	m.revise(now)
	return "ok"
}

// reset is the result that the script has to answer. to is a level, -1: full.
func (m *model) reset(now float64, rev int64, listed int, to float64) string {
	if why := m.refuses(rev, listed, false); why != "" {
		return why
	}
	next := *m
	next.mend(now)
	if m.exists && !next.tokens.there && !next.capacity.sound && !next.gen.sound && listed == 0 {
		return "wrongtype"
	}
	capacity := next.flowAt(now).capacity
	switch {
	case to < 0 && capacity == 0:
		return "foreign"
	case to < 0:
		to = capacity
	case capacity > 0:
		to = math.Min(to, capacity)
	}
	next.tokens, next.ts = num(to), num(now)
	if next.capacity.sound && next.rate.sound {
		next.exp = num(0)
		next.store(now)
	} else {
		next.exp = m.exp // some other program's to look after
		if m.granted.wrong() {
			next.granted = cell{}
		} else {
			next.granted = m.granted
		}
	}
	next.exists = true
	*m = next
	return "ok"
}
