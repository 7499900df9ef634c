package lua_test

// storm is everything that can befall a bucket and those who draw from it,
// each at random times.
type storm struct {
	*world
	limit limits
	ends  int64
}

// storms lets trouble begin, which is over at a time.
func (w *world) storms(l limits, ends int64) *storm {
	s := &storm{w, l, ends}
	for _, trouble := range []struct {
		every int64
		do    func()
	}{
		{6 * second, s.birth}, {6 * second, s.death}, {15 * second, s.massDeath}, {9 * second, s.edit}, {12 * second, s.hold},
		{15 * second, s.reset}, {20 * second, s.cool}, {15 * second, s.clock}, {30 * second, s.remove},
	} {
		s.again(trouble.every, trouble.do)
	}
	return s
}

// again lets trouble come at random, so often on average.
func (s *storm) again(every int64, do func()) {
	wait := int64(s.ExpFloat64() * float64(every))
	if s.now+wait < s.ends {
		s.after(wait, func() {
			do()
			s.again(every, do)
		})
	}
}

func (s *storm) birth() {
	if len(s.processes) > 80 {
		return
	}
	l := s.limit
	if s.IntN(5) == 0 { // a deploy with another limit
		l.rate *= 0.5 + s.Float64()
		l.gen = s.clock0()
	}
	s.settle(s.world.birth(l))
}

// clock0 is a generation: when a worker first reached the server.
func (s *storm) clock0() int64 { return s.world.clock() }

// settle gives a process callers of every kind.
func (s *storm) settle(p *process) {
	for range 1 + s.IntN(3) {
		p.crowd(1+s.IntN(6), s.habit())
	}
}

func (s *storm) habit() habit {
	capacity := s.limit.capacity
	h := habit{pause: 50000 + s.Int64N(second), n: func() float64 { return min(1, capacity) }}
	switch s.IntN(3) {
	case 0:
		h.n = func() float64 { return capacity * (0.01 + 0.99*s.Float64()) }
	case 1:
		h.n = func() float64 { return capacity * s.Float64() * 0.2 }
	}
	switch s.IntN(6) {
	case 0:
		h.allow, h.pause = true, 1000+s.Int64N(100000)
	case 1:
		h.deadline = func() int64 { return 1 + s.Int64N(10*second) }
	case 2:
		h.leaves = func() int64 { return 1 + s.Int64N(2*second) }
	case 3:
		h.settles = true
		h.work = func() int64 { return s.Int64N(second) }
	}
	return h
}

func (s *storm) death() {
	if alive := s.alive(); len(alive) > 1 {
		alive[s.IntN(len(alive))].kill()
	}
}

func (s *storm) massDeath() {
	alive := s.alive()
	for i, at := range s.Perm(len(alive)) {
		if i > len(alive)/5 {
			alive[at].kill()
		}
	}
}

func (w *world) alive() []*process {
	var alive []*process
	for _, p := range w.processes {
		if !p.dead {
			alive = append(alive, p)
		}
	}
	return alive
}

func (s *storm) edit() {
	e := edit{rate: exact(s.limit.rate * (0.2 + 2*s.Float64()))}
	switch s.IntN(3) {
	case 0:
		e.capacity = exact(s.limit.capacity * (0.2 + 2*s.Float64()))
	case 1:
		e = edit{rate: "declared", capacity: "declared"}
	}
	s.notef("an operator sets %+v", e)
	s.server.edit(e, []int64{-1, 0, 1 + s.Int64N(5*second)}[s.IntN(3)])
}

func (s *storm) hold() {
	length := 1 + s.Int64N(4*second)
	s.notef("an operator holds for %d", length)
	s.server.hold(false, []int64{length, -1}[s.IntN(2)])
	s.after(length, func() {
		s.notef("the hold is over")
		s.server.hold(true, 0)
	})
}

func (s *storm) reset() {
	to := []float64{-1, 0, s.limit.capacity * s.Float64()}[s.IntN(3)]
	s.notef("an operator resets to %v", to)
	s.server.reset(to)
}

func (s *storm) cool() {
	length := s.Int64N(5 * second)
	s.notef("a cooldown of %d", length)
	s.server.cool(length)
}

func (s *storm) clock() {
	by := []int64{s.Int64N(second) - second/2, s.Int64N(20*second) - 10*second, minute, -minute}[s.IntN(4)]
	s.notef("the clock steps by %d", by)
	s.server.step(by)
}

func (s *storm) remove() {
	s.notef("the key is deleted")
	s.server.remove()
}

// calm is the end of all trouble: the declared limit is in force, and some
// callers wait that have time.
func (s *storm) calm() {
	s.notef("calm")
	if s.server.m.unreadableHold || s.server.m.hold.there {
		s.server.hold(true, 0)
	}
	s.server.edit(edit{rate: "declared", capacity: "declared"}, -1)
	s.server.m.blocked = cell{}
	for _, p := range s.alive() {
		p.crowd(3, habit{pause: second, n: func() float64 { return min(1, s.limit.capacity) }})
	}
}
