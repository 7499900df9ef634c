package lua_test

// caller is one who wants n tokens of a process.
type caller struct {
	p          *process
	n          float64
	deadline   int64 // 0: none
	allow      bool
	place      int // in the order of arrival at the process
	joined     int64
	sent, gone bool // a call that asks for it is in flight; it needs nothing any more
	answered   bool
	got        charge
	then       func(code int64) // what it does once it has started, or got nothing
}

// charge is what a caller was told that it may start with.
type charge struct {
	n          float64
	start, due int64 // by the server's clock, and by the world's
	decided    int   // how many puts there were
}

// Why a caller got nothing, beyond the codes of the script.
const (
	leftQueue = 100
	unfit     = 101 // the wait does not fit its deadline, by what the process knows
	behindOwn = 102 // an Allow where others of its process wait
)

func (c *caller) patience() int64 {
	switch {
	case c.allow:
		return 0
	case c.deadline == 0:
		return endless
	}
	return max(0, c.deadline-c.p.now)
}

// come begins a caller.
func (p *process) come(c *caller) {
	p.arrivals++
	c.p, c.joined, c.place = p, p.now, p.arrivals
	switch {
	case c.allow && p.resting && len(p.queue) > 0:
		c.finish(behindOwn)
		return
	case c.deadline > 0:
		if at, known := p.startBehind(c.n); known && at > c.deadline {
			c.finish(unfit)
			return
		}
		p.after(c.deadline-p.now, c.leave)
	}
	p.join(c)
}

// answer is what the dispatcher found out.
func (c *caller) answer(code int64, got charge) {
	c.answered, c.got = true, got
	if code != charged {
		c.finish(code)
		return
	}
	c.p.after(got.due-c.p.now+c.p.late(), func() {
		if !c.gone && !c.p.dead {
			c.p.server.starts = append(c.p.server.starts, started{got.start, c.n, got.decided})
			c.finish(charged)
		}
	})
}

// leave is a caller that gives up, wherever it stands.
func (c *caller) leave() {
	if c.gone || c.p.dead {
		return
	}
	switch {
	case c.answered: // charged, and not started
		c.p.handOn(c.got)
	case !c.sent:
		c.p.remove(c)
	}
	c.finish(leftQueue)
}

func (c *caller) finish(code int64) {
	c.gone = true
	if !c.p.dead {
		c.then(code)
	}
}

// habit is what a caller does again and again.
type habit struct {
	n        func() float64
	deadline func() int64 // how long it would wait at most; 0: for ever
	leaves   func() int64 // when it gives up without having said so; 0: never
	work     func() int64 // how long it works once it has started
	pause    int64        // after it got nothing
	allow    bool
	settles  bool // tells afterwards what it really needed, or that it needed nothing
}

// crowd lets so many callers of one habit come to a process.
func (p *process) crowd(callers int, h habit) {
	for range callers {
		p.again(h)
	}
}

func drawn(draw func() int64) int64 {
	if draw == nil {
		return 0
	}
	return draw()
}

func (p *process) again(h habit) {
	c := &caller{n: h.n(), allow: h.allow}
	if most := drawn(h.deadline); most > 0 {
		c.deadline = p.now + most
	}
	if soon := drawn(h.leaves); soon > 0 {
		p.after(soon, c.leave)
	}
	c.then = func(code int64) {
		wait := h.pause
		switch code {
		case charged:
			wait = drawn(h.work)
			if h.settles {
				p.after(wait, func() { p.settle(c) })
			}
		case leftQueue:
			wait = 0
		}
		p.after(wait, func() {
			if !p.dead && !p.closed {
				p.again(h)
			}
		})
	}
	p.come(c)
}

// settle tells what a caller really needed.
func (p *process) settle(c *caller) {
	why, tokens := "settle", c.n*(p.Float64()*1.5-0.5)
	if p.IntN(4) == 0 {
		why, tokens = "refund", c.n
	}
	if !p.dead {
		p.after(p.delay(), func() { p.server.give(p.declared, why, c.got, tokens, true) })
	}
}
