package lua_test

import "math"

// bucketServer is the one bucket of a world, and the record of all that the
// bound of starts is about.
type bucketServer struct {
	*world
	m       model
	inForce flow    // the limit, as of the last touch; zero before the first
	left    float64 // tokens when the key was deleted
	starts  []started
	puts    []put
}

// started is a caller that started.
type started struct {
	at      int64 // by the server's clock
	n       float64
	decided int // how many puts there were when it was charged
}

// put is whatever lets more start than one limit alone would.
type put struct {
	at     int64 // by the server's clock
	tokens float64
	kind   putKind
	limit  flow // in force from here on
}

type putKind int

const (
	putRefund putKind = iota // tokens came back
	putChange                // another limit, or another level
	putBack                  // the clock went back: no span reaches across
)

// touch lets a script run, and notes what it changes in the limit, or what had
// changed before by itself.
func (s *bucketServer) touch(script func(now float64)) {
	now := s.clock()
	s.note(now, max(s.lastPut(), int64(s.m.until.or(0))))
	known := s.known()
	script(float64(now))
	if !known && s.known() { // full, whatever was left before it was deleted
		limit := s.m.flowAt(float64(now))
		s.putIn(put{at: now, tokens: limit.capacity - s.left + s.inForce.speed*horizon, kind: putChange, limit: limit})
	}
	s.note(now, now)
}

// known tells whether the bucket has a limit: a reset makes one without.
func (s *bucketServer) known() bool { return s.m.exists && s.m.capacity.sound && s.m.rate.sound }

func (s *bucketServer) lastPut() int64 {
	if len(s.puts) == 0 {
		return 0
	}
	return s.puts[len(s.puts)-1].at
}

// note looks whether another limit is in force, and since when. What was
// charged under the old one may still be ahead by its horizon.
func (s *bucketServer) note(now, since int64) {
	if !s.known() || s.inForce.speed == 0 {
		return
	}
	limit := s.m.flowAt(float64(now))
	if limit != s.inForce {
		s.putIn(put{at: min(now, since), tokens: s.inForce.speed * horizon, kind: putChange, limit: limit})
	}
}

func (s *bucketServer) putIn(p put) {
	s.puts = append(s.puts, p)
	s.inForce = p.limit
}

func (s *bucketServer) take(l limits, ticket int64, asks []ask) (t taken) {
	s.touch(func(now float64) {
		t = s.m.take(now, l, horizon, ticket, asks, nil)
		t.now = int64(now)
	})
	return t
}

// give is run for those who have started, and for those who never did. The
// former let others start beyond the bound. The latter only do where a put has
// come since they were charged: by their start they can't tell any more how
// much was charged behind them.
func (s *bucketServer) give(l limits, why string, c charge, tokens float64, hadStarted bool) {
	s.touch(func(now float64) {
		g := s.m.give(now, l, why, tokens, c.start)
		if g.tokens > 0 && s.known() && (hadStarted || len(s.puts) > c.decided) {
			s.putIn(put{at: int64(now), tokens: g.tokens, limit: s.inForce})
		}
	})
}

// level is what there is to take.
func (s *bucketServer) level() float64 {
	m, now := s.m, float64(s.clock())
	if m.mend(now); !m.tokens.there || !m.capacity.sound || !m.rate.sound {
		return 0
	}
	m.fill(now)
	return m.tokens.v
}

// What operators, providers and clocks do.

func (s *bucketServer) edit(e edit, end int64) {
	s.touch(func(now float64) { s.m.limit(now, anyRev, listed, e, end) })
	s.wake()
}

func (s *bucketServer) hold(resume bool, end int64) {
	s.touch(func(now float64) { s.m.holdUp(now, anyRev, listed, resume, end) })
	s.wake()
}

func (s *bucketServer) reset(to float64) {
	before := s.level()
	s.touch(func(now float64) { s.m.reset(now, anyRev, listed, to) })
	s.filledUp(before)
	s.wake()
}

// remove is a DEL by hand, which nobody is told of.
func (s *bucketServer) remove() {
	if !s.known() {
		return
	}
	s.left = s.level()
	s.m.forget(true)
}

func (s *bucketServer) filledUp(before float64) {
	if s.known() {
		s.putIn(put{at: s.clock(), tokens: math.Max(0, s.level()-before), kind: putChange, limit: s.inForce})
	}
}

// cool is what a worker does when the provider said to wait.
func (s *bucketServer) cool(length int64) {
	s.touch(func(now float64) {
		if s.m.exists && s.m.tokens.there {
			s.m.mend(now)
			s.m.fill(now)
			s.m.blocked = num(math.Max(s.m.blocked.or(0), now+float64(length)))
			s.m.tokens = num(math.Min(0, s.m.tokens.v))
		}
	})
}

// step moves the server's clock, as a failover does.
func (s *bucketServer) step(by int64) {
	s.touch(func(float64) {})
	s.offset += by
	if by < 0 {
		s.putIn(put{at: s.clock(), kind: putBack, limit: s.inForce})
	}
}

// wake tells every process, each after its delay.
func (s *bucketServer) wake() {
	for _, p := range s.processes {
		s.after(s.delay(), p.wake)
	}
}
