package lua_test

import "math"

// decision is a take while the model works it out.
type decision struct {
	*model
	now     float64
	ahead   float64 // how far ahead a start may be charged
	ticket  float64 // shown, and valid; 0: none
	due     bool    // its turn has come
	limit   flow
	behind  bool    // others have booked, and its turn has not come
	queued  float64 // tokens of those who wait in front
	head    float64 // tokens of the first of them
	wait    float64 // of the first of them
	charged bool
	booked  bool
	lapsed  bool // it found that a long queue had gone
}

// take is what the script has to answer. Where rounding decides, what it did
// answer is taken for right; without any answers the model decides alone.
func (m *model) take(now float64, l limits, ahead, ticket int64, asks []ask, answered []outcome) taken {
	next := *m
	found := next.mend(now)
	store := next.join(l, now) || found != sound || !next.exists
	limit := next.flowAt(now)
	out := taken{mended: found, capacity: limit.capacity, rate: limit.speed * 1e6}
	stop, until := next.stopped(now)
	out.stop, out.stopEnd = stop, int64(until)

	d := &decision{model: &next, now: now, ahead: float64(ahead), limit: limit}
	store = d.line(float64(ticket), asks) || store
	if d.lapsed {
		out.mended = queueDropped
	}
	for i, a := range asks {
		var o outcome
		switch {
		case a.n > limit.capacity:
			o.code = impossible
		case stop != running:
			o = whileStopped(a, now, stop, until)
			if o.code == waits && (out.ask == 0 || o.wait < out.ask) {
				out.ask = o.wait
			}
		default:
			told := int64(untold)
			if answered != nil {
				told = answered[i].code
			}
			o = d.request(a, told)
			if o.code == waits && out.ask == 0 {
				out.ask = max(1, o.wait-ahead)
			}
		}
		out.outcomes = append(out.outcomes, o)
	}
	if d.charged && d.ticket == next.first.or(0) {
		next.first = num(0)
	}
	if d.head > 0 {
		out.ask = d.stand(out.ask)
	}
	if out.ask != 0 {
		out.ticket = int64(d.ticket)
	}
	out.level = next.tokens.v
	out.rev = int64(next.rev.or(0))
	if next.overridden(now) {
		out.overEnd = -1
		if next.until.there {
			out.overEnd = int64(next.until.v)
		}
	}
	if store || d.booked || d.charged || len(asks) == 0 || next.exp.or(0) < now+24*3600e6 {
		next.store(now)
		*m = next
	}
	return out
}

// whileStopped: a hold may be lifted at any time, so it only ends a patience of
// none.
func whileStopped(a ask, now float64, stop int64, until float64) outcome {
	wait := until - now
	if until == 0 {
		wait = 9e15
	}
	if a.patience == 0 || wait > float64(a.patience) && stop != heldUp {
		return outcome{refusedNow, int64(wait)}
	}
	return outcome{waits, int64(wait)}
}

// line finds the caller's place in the queue across processes. It returns
// whether the queue had gone, which has to be stored.
func (d *decision) line(ticket float64, asks []ask) (gone bool) {
	if d.turn.or(0) > d.now {
		enough := d.need.or(0)
		if len(asks) > 0 {
			enough = math.Max(enough, asks[0].n)
		}
		if d.tokens.v >= d.lapseLevel(enough) {
			d.lapsed, gone = d.turn.v > d.now+1e6, true
			d.dropTurns()
		}
	}
	if d.turn.there && d.turn.v <= d.now { // all that was booked is paid
		d.need, d.first = num(0), num(0)
	}
	if d.turn.there && d.turn.v < d.now-10e6 { // long ago
		d.dropTurns()
	}
	if ticket <= d.turn.or(0) {
		d.ticket = ticket
	}
	d.due = d.ticket > 0 && d.ticket <= d.now
	if d.turn.or(0) > d.now {
		d.behind = !d.due || d.first.or(0) > 0 && d.ticket > d.first.or(0)
	}
	return gone
}

// lapseLevel is how high the level gets only where the queue has gone.
func (d *decision) lapseLevel(n float64) float64 {
	return math.Min(d.limit.capacity, math.Max(n, d.need.or(0))+d.ahead*d.limit.speed)
}

// reaches is when the level is there, from now.
func (d *decision) reaches(level float64) float64 {
	return math.Min(9e15, math.Max(1, math.Ceil(d.ts.v-d.now+(level-d.tokens.v)/d.limit.speed)))
}

// untold is the code of a request that no script has answered.
const untold = -1

// request decides on one of them, and charges it where it can be.
func (d *decision) request(a ask, answered int64) outcome {
	wait := d.waitFor(a.n)
	code := int64(charged)
	switch {
	case wait > float64(a.patience):
		code = refusedNow
	case d.behind || d.queued > 0 || wait > d.ahead:
		code = waits
	}
	if answered != untold && (tie(wait, float64(a.patience)) || !d.behind && (tie(wait, d.ahead) || wait <= 3)) {
		code = answered
	}
	switch code {
	case charged:
		d.charged = true
		d.tokens.v -= a.n
		d.granted = num(d.granted.or(0) + a.n)
	case waits:
		d.follow(a.n, wait)
	}
	return outcome{code, int64(wait)}
}

// waitFor is how long n tokens take behind those who wait.
func (d *decision) waitFor(n float64) float64 {
	start := d.ts.v + (n+d.queued-d.tokens.v)/d.limit.speed
	wait := math.Min(start-d.now, 9e15)
	if wait < 2 {
		wait = 0
	}
	wait = math.Ceil(wait)
	if d.behind {
		wait = math.Max(wait, d.placed(n))
	}
	return wait
}

// follow lets n tokens wait behind those who do.
func (d *decision) follow(n, wait float64) {
	if d.head == 0 {
		d.head, d.wait = n, wait
	}
	d.queued += n
}

// placed is the wait in the queue: from the end of it, or where the ticket says
// that those in front are served, if it was booked for the first who waits.
func (d *decision) placed(n float64) float64 {
	first := d.head
	if first == 0 {
		first = n
	}
	front := d.turn.v
	if d.ticket > 0 {
		front = math.Min(d.ticket, d.ticket+d.ahead-first/d.limit.speed)
	}
	return math.Min(9e15, math.Ceil(front+(d.queued+n)/d.limit.speed-d.now))
}

// stand finds those who wait their place in the queue, and returns when they
// should ask again: at ask, if their turn has come.
func (d *decision) stand(ask int64) int64 {
	lapses := d.reaches(d.lapseLevel(d.head)) + 1
	charge := d.ahead * d.limit.speed // what one call may charge ahead
	switch {
	case d.behind && d.due:
		return int64(d.reaches(d.need.or(0)-charge) + d.ticket - d.first.v)
	case d.behind && d.ticket > 0:
		left := d.ticket - d.now
		if d.tokens.v > math.Max(0, d.need.or(0)-charge)+0.2*charge {
			left = math.Min(left, lapses)
		}
		return int64(left)
	case d.behind || d.charged || d.ticket == 0:
		came := d.ticket == 0
		d.book()
		left := d.ticket - d.now
		if came && left > 4e6 {
			left = math.Min(left, lapses)
		}
		return int64(left)
	case d.now-d.ticket > d.ahead:
		d.reserve(d.head)
	}
	return ask
}

// reserve lets later tickets wait for a head that is late, until so many tokens
// lie there that it has gone.
func (d *decision) reserve(tokens float64) {
	d.need = num(math.Max(d.need.or(0), tokens))
	gone := math.Min(9e15, d.now+d.reaches(d.lapseLevel(d.head))+1)
	d.first, d.turn, d.booked = num(d.ticket), num(math.Max(d.turn.or(0), gone)), true
}

// book gives those who wait a place at the end.
func (d *decision) book() {
	paid := d.ts.v - d.tokens.v/d.limit.speed
	end := math.Max(d.turn.or(0), paid) + math.Max(d.head/d.limit.speed, math.Min(d.queued/d.limit.speed, d.ahead))
	d.ticket = math.Floor(math.Min(9e15, math.Max(d.now+1, end-d.ahead)))
	d.turn = num(math.Min(9e15, math.Ceil(end)))
	d.need = num(math.Max(d.need.or(0), d.head))
	d.booked = true
}

func (m *model) dropTurns() { m.turn, m.need, m.first = cell{}, cell{}, cell{} }

// endTurns: places are booked at a rate, and end with it.
func (m *model) endTurns(from, to flow) {
	if from.speed != to.speed {
		m.dropTurns()
	}
}
