package lua_test

import (
	"math"
	"regexp"
	"strconv"
)

// The model is what the scripts promise, written down a second time and in
// another way: a bucket is a vessel that fills over a timeline of limits.
// Time is an argument; the tests take it from the scripts' replies.

// cell is a number as stored: not there, there and sound, or there and not.
type cell struct {
	v            float64
	there, sound bool
}

func num(v float64) cell { return cell{v: v, there: true, sound: true} }

var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

// readCell reads a stored number.
func readCell(text string, there bool) cell {
	v, err := strconv.ParseFloat(text, 64)
	sound := there && err == nil && decimal.MatchString(text) && math.Abs(v) <= 9e15
	return cell{v: v, there: there, sound: sound}
}

func (c cell) wrong() bool { return c.there && !c.sound }

// or is the cell's value where it can be used.
func (c cell) or(other float64) float64 {
	if c.sound {
		return c.v
	}
	return other
}

// model is one bucket and its record. Times are microseconds.
type model struct {
	exists                                   bool
	tokens, ts, granted, blocked, exp        cell
	capacity, rate, per, gen                 cell
	turn, need, first                        cell // the queue: when all that is booked is paid, its largest head, a late ticket
	noted                                    bool // the record exists
	overCapacity, overRate, until, hold, rev cell
	unreadableHold                           bool // held, with an end that can't be read, or none
}

// flow is a limit in force: at most so much, so fast, tokens and tokens/µs.
type flow struct{ capacity, speed float64 }

func positive(c cell) cell {
	if c.sound && c.v <= 0 {
		c.sound = false
	}
	return c
}

// overridden tells whether the override is in force at t.
func (m *model) overridden(t float64) bool {
	if m.until.wrong() || m.until.there && t >= m.until.v {
		return false
	}
	return positive(m.overCapacity).sound || positive(m.overRate).sound
}

// flowAt is the limit in force at t. The declared one has to be known.
func (m *model) flowAt(t float64) flow {
	f := flow{capacity: m.capacity.v, speed: m.rate.v / 1e6}
	if m.overridden(t) {
		f.capacity = positive(m.overCapacity).or(f.capacity)
		f.speed = positive(m.overRate).or(m.rate.v) / 1e6
	}
	return f
}

// turnInto is what a level becomes where one limit follows another: a debt
// keeps its time, but does not grow beyond one capacity, and nothing stays
// above the brim.
func turnInto(level float64, from, to flow) float64 {
	if level < 0 {
		if scaled := level / from.speed * to.speed; scaled < level {
			level = math.Max(scaled, math.Min(level, -to.capacity))
		} else {
			level = scaled
		}
	}
	return math.Min(level, to.capacity)
}

// fill lets the time from ts to now flow in, piece by piece.
func (m *model) fill(now float64) {
	t, level := m.ts.v, m.tokens.v
	current := m.flowAt(math.Min(t, now))
	if t > now { // slightly ahead: waits there
		current = m.flowAt(now)
	}
	for t < now {
		next := now
		for _, cut := range []float64{m.until.or(0), m.blocked.or(0)} {
			if cut > t && cut < next {
				next = cut
			}
		}
		if t >= m.blocked.or(0) {
			level = math.Min(current.capacity, level+(next-t)*current.speed)
		}
		t = next
		if following := m.flowAt(t); following != current {
			m.endTurns(current, following)
			level = turnInto(math.Min(level, current.capacity), current, following)
			current = following
		}
	}
	m.tokens = num(math.Min(level, current.capacity))
	m.ts = num(math.Max(m.ts.v, now))
}

// What mend found.
const (
	sound, begunAgain, reanchored, queueDropped = 0, 1, 2, 3
)

// mend puts right what can't be, at now. What it finds is only stored with the
// next write.
func (m *model) mend(now float64) (found int64) {
	if positive(m.turn).sound {
		m.need, m.first = num(math.Max(0, m.need.or(0))), num(math.Max(0, m.first.or(0)))
	} else {
		m.dropTurns()
	}
	badBlocked := m.blocked.wrong() || m.blocked.or(0) > now+25*3600e6
	badLimit := positive(m.capacity).wrong() || positive(m.rate).wrong() || m.per.wrong() || m.gen.wrong()
	if badBlocked || badLimit || m.tokens.wrong() || m.ts.wrong() || m.granted.wrong() || m.tokens.there != m.ts.there {
		m.tokens, m.ts, m.exp = num(0), num(now), num(0)
		m.granted = num(m.granted.or(0))
		m.dropTurns()
		if badBlocked {
			m.blocked = cell{}
		}
		if badLimit {
			m.capacity, m.rate, m.per, m.gen = cell{}, cell{}, cell{}, cell{}
		}
		return begunAgain
	}
	if m.ts.there && m.ts.v > now+1e6 {
		m.ts = num(now)
		m.dropTurns()
		return reanchored
	}
	return sound
}

// join is what a caller with this declared limit makes of the bucket at now.
// It returns whether that has to be stored.
func (m *model) join(l limits, now float64) (store bool) {
	gen := float64(l.gen)
	switch l.gen {
	case 0:
		gen = 1
	case genNow:
		gen = now
	}
	caller := func() {
		m.capacity, m.rate, m.per, m.gen = num(l.capacity), num(l.rate), num(float64(second)), num(gen)
		store = true
	}
	known := m.capacity.sound && m.rate.sound && m.gen.sound
	if !known {
		caller()
	}
	if !m.tokens.there {
		m.tokens, m.ts = num(m.flowAt(now).capacity), num(now)
	} else {
		m.fill(now)
	}
	if known && gen > m.gen.v {
		before := m.flowAt(now)
		caller()
		m.endTurns(before, m.flowAt(now))
		m.tokens = num(turnInto(m.tokens.v, before, m.flowAt(now)))
	}
	return store
}

// life is for how long the state has to be kept from now on.
func (m *model) life(now float64) float64 {
	idle := math.Max(0, math.Max(m.blocked.or(0), m.ts.v)-now)
	declared := flow{capacity: m.capacity.v, speed: m.rate.v / 1e6}
	full := 0.0
	for _, f := range []flow{declared, m.flowAt(now)} {
		full = math.Max(full, (f.capacity-m.tokens.v)/f.speed)
	}
	return math.Min(36500*24*3600e6, math.Max(24*3600e6, idle+full))
}

// store writes the state, and renews the expiry where it got short.
func (m *model) store(now float64) {
	m.exists = true
	if m.blocked.there && m.blocked.v <= now {
		m.blocked = cell{}
	}
	m.granted = num(m.granted.or(0))
	if left := m.life(now); m.exp.or(0) < now+left || m.exp.or(0) > now+36500*24*3600e6+3600e6 {
		m.exp = num(now + left + 3600e6)
	}
}

// stopped tells what stops the bucket, and until when (0: no end).
func (m *model) stopped(now float64) (what int64, until float64) {
	switch {
	case m.unreadableHold:
		return heldUp, 0
	case m.hold.there && m.hold.v > now:
		return heldUp, m.hold.v
	case m.blocked.or(0) > now:
		return coolingDown, m.blocked.v
	}
	return running, 0
}

// tie tells whether rounding decides which side of a bound a wait is on.
func tie(wait, bound float64) bool { return math.Abs(wait-bound) <= 1.5+1e-9*math.Abs(bound) }
