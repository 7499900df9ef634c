package lua_test

import "math"

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
	if why == "refund" && next.turn.or(0) > now {
		next.turn = num(math.Max(now, next.turn.v-(after-before)/limit.speed))
	}
	if after < before {
		next.granted = num(next.granted.or(0) + (before - after))
	}
	if store || after != before {
		next.store(now)
		*m = next
	}
	return given{tokens: after - before, level: after}
}

// cool is what the script has to answer.
func (m *model) cool(now float64, l limits, length int64) cooled {
	next := *m
	found := next.mend(now)
	begun := next.tokens.there
	store := next.join(l, now) || found != sound || !begun
	before := next.blocked.or(0)
	if ends := now + math.Min(float64(length), 24*3600e6); ends > before {
		next.blocked = num(ends)
		store = true
	}
	if next.tokens.v > 0 {
		next.tokens = num(0)
		store = true
	}
	next.dropTurns()
	if store {
		next.store(now)
		*m = next
	}
	return cooled{
		moved:  int64(math.Max(0, next.blocked.v-math.Max(before, now))),
		before: int64(before), blocked: int64(next.blocked.v), level: next.tokens.v,
	}
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
		next.endTurns(old, next.flowAt(now))
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
	next.dropTurns()
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
