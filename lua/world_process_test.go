package lua_test

import (
	"math"
	"slices"
)

// What a process of the world takes over from the package bucketctl.
const (
	recheck   = 5 * second
	longNap   = 4980 * second / 1000
	seenAlive = second
	maxBatch  = 256
)

// process is a small copy of what one process does for a bucket: callers stand
// in a queue, one call at a time asks for the first of them.
type process struct {
	*world
	id        int
	declared  limits
	dead      bool
	closed    bool // its callers come no more
	queue     []*caller
	arrivals  int
	running   bool // a dispatcher is at work
	resting   bool // it sleeps until tokens come back
	woken     bool // a wake came since the last call was made
	sleep     int  // which sleep this is, so that one that was ended does nothing
	due       int64
	rate      float64 // as seen last
	most      int     // callers in the next call
	ticket    int64
	lapseTold int64
	served    int64 // when a call was charged last, by the server's clock
	roundTrip int64
	figures
}

// figures are what a process did.
type figures struct {
	calls, grants int
	tokens        float64
	since         int64 // when anything was granted last, or its queue began
	longest       int64 // that a queue waited for anything to be granted
	lastPlace     int   // of a caller that was granted in its turn
	overtaken     int   // how many were granted after one who came later
}

func (w *world) birth(l limits) *process {
	p := &process{world: w, id: len(w.processes), declared: l, most: maxBatch}
	w.processes = append(w.processes, p)
	w.notef("process %d is born", p.id)
	return p
}

// kill ends a process: calls in flight are still executed.
func (p *process) kill() {
	p.dead = true
	p.notef("process %d dies with %d waiting", p.id, len(p.queue))
}

// join takes the last place in the queue.
func (p *process) join(c *caller) {
	if len(p.queue) == 0 {
		p.since = p.now
	}
	p.queue = append(p.queue, c)
	if !p.running {
		p.running, p.most = true, maxBatch
		p.after(0, p.ask) // those who come together share the call
	}
}

func (p *process) remove(c *caller) {
	if i := slices.Index(p.queue, c); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
	}
}

// ask makes the next call.
func (p *process) ask() {
	p.sleep++
	p.resting, p.woken = false, false
	batch := slices.Clone(p.queue[:min(len(p.queue), p.most)])
	p.running = len(batch) > 0
	if !p.running {
		return
	}
	asks := make([]ask, len(batch))
	for i, c := range batch {
		c.sent = true
		asks[i] = ask{c.n, c.patience()}
	}
	p.calls++
	sent, ticket := p.now, p.ticket
	p.after(p.delay(), func() {
		t := p.server.take(p.declared, ticket, asks)
		decided := len(p.server.puts)
		p.noteTake(ticket, asks, t)
		p.after(p.delay(), func() {
			if !p.dead {
				p.roundTrip = p.now - sent
				p.tellLapse(t)
				p.overlook(ticket, &t)
				p.deliver(batch, t, decided)
			}
		})
	})
}

// deliver answers the callers of one call, and then asks again at once, or
// when those who still wait are due.
func (p *process) deliver(batch []*caller, t taken, decided int) {
	p.ticket, p.rate = t.ticket, t.rate
	var orphans []charge
	waiting := false
	for i, c := range batch {
		o := t.outcomes[i]
		c.sent = false
		got := charge{n: c.n, start: t.now + o.wait, due: p.now + o.wait, decided: decided}
		switch {
		case c.gone:
			p.remove(c)
			if o.code == charged {
				orphans = append(orphans, got)
			}
		case o.code == waits:
			if !waiting {
				waiting, p.resting, p.due = true, true, 0
				if t.stop != heldUp {
					p.due = p.now + o.wait
				}
			}
		default:
			p.remove(c)
			if o.code == charged {
				p.granted(c)
				p.inTurn(c)
			}
			c.answer(o.code, got)
		}
	}
	for _, o := range orphans {
		p.handOn(o)
	}
	p.most = maxBatch
	if !waiting || p.woken {
		p.ask()
		return
	}
	p.most = affordable(t)
	p.rest(max(1, t.ask))
}

// affordable is how many callers the next call can hope to serve.
func affordable(t taken) int {
	const least = 16
	return int(math.Min(maxBatch, least+t.rate*math.Max(0, float64(horizon+t.ask))/1e6))
}

// rest sleeps until it is time to ask again, ahead by half the round trip.
func (p *process) rest(asking int64) {
	sleep := p.sleep
	p.after(nap(max(asking-p.roundTrip/2, 1))+p.late(), func() {
		if p.sleep == sleep && !p.dead {
			p.ask()
		}
	})
}

// nap is how long to sleep of a long time.
func nap(long int64) int64 {
	if long <= recheck+recheck/20 {
		return long
	}
	return long / ((long + longNap - 1) / longNap)
}

// tellLapse wakes the others where a call found the queue gone.
func (p *process) tellLapse(t taken) {
	if t.outcomes[0].code != charged || t.mended != queueDropped || p.lapseTold > 0 && p.now-p.lapseTold < recheck {
		return
	}
	p.lapseTold = p.now
	p.after(p.delay(), p.server.wake)
}

// overlook lets one that was served a moment ago sleep until its turn.
func (p *process) overlook(shown int64, t *taken) {
	if t.outcomes[0].code == charged {
		p.served = t.now
	}
	if shown == 0 && t.ticket != 0 && t.now-p.served < seenAlive {
		t.ask = max(t.ask, t.ticket-t.now)
	}
}

// wake ends a sleep early.
func (p *process) wake() {
	p.woken = true
	if p.resting && !p.dead {
		p.ask()
	}
}

func (p *process) granted(c *caller) {
	p.grants++
	p.tokens += c.n
	p.longest = max(p.longest, p.now-max(p.since, c.joined))
	p.since = p.now
}

// inTurn notes who was served after one who came later. Those with a deadline
// may be passed over, and a charge that is handed on goes to whom it suffices.
func (p *process) inTurn(c *caller) {
	if c.allow || c.deadline > 0 {
		return
	}
	if c.place < p.lastPlace {
		p.overtaken++
	}
	p.lastPlace = c.place
}

// handOn gives a charge whose caller left to the first in the queue that it
// suffices for, and the rest back.
func (p *process) handOn(o charge) {
	for _, c := range p.queue {
		if c.sent || c.gone || c.n > o.n || o.due-p.now > c.patience() {
			continue
		}
		p.remove(c)
		p.granted(c)
		got := o
		got.n = c.n
		c.answer(charged, got)
		o.n -= c.n
		break
	}
	if o.n >= 1e-9 {
		p.after(p.delay(), func() { p.server.give(p.declared, "refund", o, o.n, false) })
	}
}

// startBehind estimates when n tokens would be there behind all who wait.
func (p *process) startBehind(n float64) (at int64, known bool) {
	if !p.resting || len(p.queue) == 0 || p.due == 0 || p.rate <= 0 {
		return 0, false
	}
	tokens := n
	for _, c := range p.queue[1:] {
		tokens += c.n
	}
	return p.due + int64(tokens/p.rate*1e6), true
}
