package lua_test

import "math"

// setDecision is a take of several buckets while the models work it out.
type setDecision struct {
	each   []*decision
	store  []bool
	now    float64
	ahead  float64
	behind bool // in one of them
	stop   int64
	wait   float64 // until no bucket is stopped
	stopBy int64
	head   float64 // wait of the first who waits; below 0: nobody
}

// takeSet is what take_all has to answer, as take of the model has it for one
// bucket.
func takeSet(now float64, models []*model, declared []limits, ahead int64, tickets []int64, asks []wanted, answered []told) takenAll {
	s := &setDecision{now: now, ahead: float64(ahead), head: -1}
	var out takenAll
	for b, m := range models {
		var first []ask
		if len(asks) > 0 {
			first = []ask{{n: asks[0].each[b]}}
		}
		out.each = append(out.each, s.join(*m, declared[b], float64(tickets[b]), first))
	}
	ask := 0.0
	for i, a := range asks {
		o := s.request(a, answered[i])
		if o.code == waits && s.stop != running {
			ask = s.wait
		}
		out.told = append(out.told, o)
	}
	if s.head >= 0 {
		ask = s.stand()
	}
	for b, d := range s.each {
		t := &out.each[b]
		t.ask, t.level = int64(ask), d.tokens.v
		if ask != 0 {
			t.ticket = int64(d.ticket)
		}
		if s.store[b] || d.booked || d.charged || d.exp.or(0) < now+24*3600e6 {
			d.store(now)
			*models[b] = *d.model
		}
	}
	return out
}

// join lets a caller with this limit and ticket come to one of the buckets.
func (s *setDecision) join(m model, l limits, ticket float64, first []ask) taken {
	found := m.mend(s.now)
	store := m.join(l, s.now) || found != sound || !m.exists
	limit := m.flowAt(s.now)
	stop, until := m.stopped(s.now)
	d := &decision{model: &m, now: s.now, ahead: s.ahead, limit: limit}
	store = d.line(ticket, first) || store
	s.each, s.store = append(s.each, d), append(s.store, store)
	s.behind = s.behind || d.behind
	s.stopped(stop, until)
	t := taken{mended: found, stop: stop, stopEnd: int64(until), capacity: limit.capacity, rate: limit.speed * 1e6, rev: int64(m.rev.or(0))}
	if m.overridden(s.now) {
		t.overEnd = int64(m.until.or(-1))
	}
	return t
}

// stopped notes what stops the bucket that joined last: a hold decides before a
// cooldown, and what lasts longer before what does not. All of it has to pass.
func (s *setDecision) stopped(stop int64, until float64) {
	if stop == running {
		return
	}
	wait := until - s.now
	if until == 0 {
		wait = 9e15
	}
	longest := s.wait
	s.wait = math.Max(s.wait, wait)
	if s.stop == running || stop == heldUp && s.stop == coolingDown || stop == s.stop && wait > longest {
		s.stop, s.stopBy = stop, int64(len(s.each))
	}
}

// request decides on one of them.
func (s *setDecision) request(a wanted, answered told) told {
	for b, d := range s.each {
		if a.each[b] > d.limit.capacity {
			return told{outcome{code: impossible}, int64(b + 1)}
		}
	}
	if s.stop != running {
		o := whileStopped(ask{patience: a.patience}, s.now, s.stop, s.now+s.wait)
		return told{o, s.stopBy}
	}
	waitsFor := make([]float64, len(s.each))
	o := told{by: 1}
	wait := 0.0
	for b, d := range s.each {
		if waitsFor[b] = d.waitFor(a.each[b]); waitsFor[b] > wait {
			wait, o.by = waitsFor[b], int64(b+1)
		}
	}
	if by := answered.by; by > 0 && by <= int64(len(s.each)) && math.Abs(waitsFor[by-1]-wait) <= 2 {
		o.by = by // it is as long there
	}
	if nearMicro(answered.wait, int64(wait)) {
		wait = float64(answered.wait)
		waitsFor[o.by-1] = wait
	}
	o.wait = int64(wait)
	switch {
	case wait > float64(a.patience):
		o.code = refusedNow
	case s.behind || s.head >= 0 || wait > s.ahead:
		o.code = waits
	}
	if tie(wait, float64(a.patience)) || !s.behind && (tie(wait, s.ahead) || wait <= 3) {
		o.code = answered.code
	}
	for b, d := range s.each {
		switch o.code {
		case charged:
			d.chargeAt(a.each[b], wait)
		case waits:
			d.follow(a.each[b], waitsFor[b])
		}
	}
	if o.code == waits && s.head < 0 {
		s.head = wait
	}
	return o
}

// chargeAt takes n tokens whose start lies ahead: what flows over until then is
// lost now, so that it can't be taken twice.
func (d *decision) chargeAt(n, wait float64) {
	flows := math.Max(0, d.now+wait-d.ts.v) * d.limit.speed
	d.tokens.v = math.Min(d.tokens.v+flows, d.limit.capacity) - flows - n
	d.granted, d.charged = num(d.granted.or(0)+n), true
	if d.ticket == d.first.or(0) {
		d.first = num(0)
	}
}

// stand finds those who wait their places, and returns when to ask again: when
// it is their turn everywhere, but early enough to reserve what comes at last.
func (s *setDecision) stand() float64 {
	ask, earliest := 1.0, math.Inf(1)
	for _, d := range s.each {
		switch own, early := d.standInSet(s.head, s.behind); {
		case early:
			earliest = math.Min(earliest, own)
		default:
			ask = math.Max(ask, own)
		}
	}
	return math.Min(ask, earliest)
}

// standInSet is stand where the head starts after whole, and may be behind in
// another bucket.
func (d *decision) standInSet(whole float64, behind bool) (ask float64, early bool) {
	late := math.Min(d.limit.capacity, d.head+math.Max(0, whole-d.wait)*d.limit.speed) // lies there when the head starts
	switch {
	case !d.behind && d.wait <= d.ahead: // could be served
		if first := d.first.or(0); first > 0 && first == d.ticket {
			d.reserve(late)
		}
		return 1, false
	case d.behind || d.charged || d.ticket == 0:
		return float64(d.stand(0)), false
	case !behind && d.now-d.ticket > d.ahead:
		empty := d.head/d.limit.speed + d.ahead // from which it would take so long
		if whole > math.Max(d.wait, empty) {
			return math.Max(1, whole-empty), true
		}
		d.reserve(late)
	}
	return math.Max(1, d.wait-d.ahead), false
}
