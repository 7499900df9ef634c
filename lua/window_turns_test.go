package lua_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bucketop/internal/redistest"
)

// spanQueue is what a window's hash says of the queue across processes: when
// all that is booked is paid, and what was served so far.
type spanQueue struct{ turn, need, paid, first float64 }

// spanCall is a take of a window while the model works it out, in times alone.
type spanCall struct {
	spanModel
	spanQueue
	now, horizon, ticket         float64
	rate                         float64 // tokens per microsecond
	due, behind, followed, paced bool
	queued, head, wait           float64
	charged, writes              bool
	lapsed                       bool // a long queue had gone
	close                        bool // rounding may decide
}

// freeAt is when the last of n tokens that wait behind each other may start.
func (c *spanCall) freeAt(n float64) float64 {
	rounds := math.Max(1, math.Ceil(n/c.limit))
	q := math.Round((c.used(int64(c.now))+n-rounds*c.limit)*1e6) / 1e6
	per, sum := float64(c.per), 0.0
	for _, s := range c.starts {
		if s.at+c.per <= int64(c.now) {
			continue
		}
		if sum += s.n; q > 0 && sum >= q-5e-7 {
			return math.Max(c.now, float64(s.at)+rounds*per)
		}
	}
	return c.now + (rounds-1)*per
}

// lapseAt is when the queue has gone, if nobody claims what the largest wants.
func (c *spanCall) lapseAt(n float64) float64 {
	need := math.Min(c.limit, math.Max(n, c.need))
	return math.Max(c.paid+need/c.rate+c.horizon, c.freeAt(need))
}

func (c *spanCall) lapses() float64 {
	return math.Max(1, math.Ceil(c.lapseAt(c.head)-c.now)) + 1
}

// line finds where the caller stands.
func (c *spanCall) line(ticket, first float64) {
	if c.turn > c.now {
		at := c.lapseAt(first)
		c.close = c.close || math.Abs(at-c.now) <= 3
		if at <= c.now {
			c.lapsed = c.turn > c.now+1e6
			c.turn, c.writes = 0, true
		}
	}
	if c.turn <= c.now {
		c.need, c.first, c.paid = 0, 0, c.now-c.limit/c.rate-c.horizon // nothing is claimed
	}
	if c.turn < c.now-10e6 {
		c.turn = 0
	}
	if ticket <= c.turn {
		c.ticket = ticket
	}
	c.due = c.ticket > 0 && c.ticket <= c.now
	c.behind = c.turn > c.now && (!c.due || c.first > 0 && c.ticket > c.first)
	c.followed = c.ticket > 0 && c.turn > c.ticket+c.horizon+1
	if c.paced = c.turn > c.now && !c.behind && c.followed; c.paced {
		c.paid = math.Max(c.paid, c.now-math.Max(c.horizon, first/c.rate))
	}
}

// request decides on one of them.
func (c *spanCall) request(a ask, answered outcome) outcome {
	if a.n > c.limit {
		return outcome{code: impossible}
	}
	wait := c.freeAt(c.queued+a.n) - c.now
	if c.paced {
		wait = math.Max(wait, c.paid+(c.queued+a.n)/c.rate-c.now)
	}
	if c.behind {
		wait = math.Max(wait, c.placed(a.n))
	}
	o := outcome{wait: int64(math.Ceil(wait))}
	switch wait = math.Ceil(wait); {
	case wait > float64(a.patience):
		o.code = refusedNow
	case c.behind || c.head > 0 || wait > c.horizon:
		o.code = waits
	}
	if math.Abs(wait-float64(a.patience)) <= 2 || !c.behind && math.Abs(wait-c.horizon) <= 2 {
		o.code = answered.code
	}
	if math.Abs(wait-float64(answered.wait)) <= 2 {
		wait = float64(answered.wait)
	}
	switch o.code {
	case charged:
		c.charged, c.writes, c.paid = true, true, c.now+wait
		c.enter(int64(c.now+wait), a.n)
		if c.ticket == c.first {
			c.first = 0
		}
	case waits:
		if c.head == 0 {
			c.head, c.wait = a.n, wait
		}
		c.queued += a.n
	}
	return o
}

// placed is the wait in the queue: what stands behind the head of one call comes
// with it, where nobody has booked behind.
func (c *spanCall) placed(n float64) float64 {
	head, tokens, from := n, c.queued+n, c.turn
	if c.head > 0 {
		head = c.head
	}
	if c.ticket > 0 {
		from = math.Min(c.ticket, c.ticket+c.horizon-head/c.rate)
	}
	if !c.followed {
		tokens = head
	}
	return from - c.now + tokens/c.rate
}

// stand finds those who wait their place, and returns when to ask again.
func (c *spanCall) stand() float64 {
	left := c.ticket - c.now
	switch {
	case c.behind && c.due:
		there := math.Max(c.paid+c.need/c.rate, c.freeAt(math.Min(c.limit, c.need))) - c.horizon - c.now
		return math.Max(1, math.Ceil(there)) + c.ticket - c.first
	case c.behind && c.ticket > 0:
		missed := math.Max(0, c.need/c.rate-c.horizon) + 0.2*c.horizon
		c.close = c.close || math.Abs(c.now-c.paid-missed) <= 3
		if c.now-c.paid > missed {
			left = math.Min(left, c.lapses())
		}
		return left
	case c.behind || c.charged || c.ticket == 0:
		came, lapses := c.ticket == 0, c.lapses()
		c.book()
		if left = c.ticket - c.now; came && left > 4e6 {
			left = math.Min(left, lapses)
		}
		return left
	case -left > c.horizon:
		c.need = math.Max(c.need, c.head)
		c.first, c.turn, c.writes = c.ticket, math.Max(c.turn, c.now+c.lapses()), true
	}
	return math.Max(1, c.wait-c.horizon)
}

func (c *spanCall) book() {
	base := math.Max(math.Max(c.turn, c.paid), c.freeAt(c.head)-c.head/c.rate)
	if c.turn <= c.now {
		c.paid = base
	}
	end := base + math.Max(c.head/c.rate, math.Min(c.queued/c.rate, c.horizon))
	c.ticket, c.turn = math.Floor(math.Max(c.now+1, end-c.horizon)), math.Ceil(end)
	c.need, c.writes = math.Max(c.need, c.head), true
}

// spanQueuers are three processes that queue for a window.
type spanQueuers struct {
	*rig
	t       *rapid.T
	w       span
	tickets [3]int64
}

// Whoever queues for a window is told what the model tells, and what is stored
// of the queue is what the model would store.
func TestWindowsQueueAsTheirModelDoes(t *testing.T) {
	c := redistest.Start(t).Client(t)
	rapid.Check(t, func(t *rapid.T) {
		q := &spanQueuers{rig: &rig{failer: t, ctx: t.Context(), c: c, bucket: "b", record: "bucketctl:limit:{b}", log: "bucketctl:log:{b}"}, t: t}
		q.ok(c.FlushDB(q.ctx).Err())
		q.w = span{limit: rapid.SampledFrom([]float64{1, 3, 10}).Draw(t, "limit"), per: rapid.SampledFrom([]int64{second, 10 * second, 60 * second}).Draw(t, "per")}
		t.Repeat(map[string]func(*rapid.T){
			"take":         func(*rapid.T) { q.take() },
			"take again":   func(*rapid.T) { q.take() },
			"take anew":    func(*rapid.T) { q.take() },
			"use all":      func(*rapid.T) { q.takeSpan(q.w, 0, 0, times(10, now1)...) },
			"pass":         func(*rapid.T) { q.pass(float64(q.w.per) * rapid.Float64Range(0, 1.2).Draw(t, "spans")) },
			"pass briefly": func(*rapid.T) { q.pass(float64(q.w.per) / q.w.limit * rapid.Float64Range(0, 1.2).Draw(t, "parts")) },
			"come due":     func(*rapid.T) { q.comeDue() },
		})
	})
}

func (q *spanQueuers) stored() spanQueue {
	f := q.fields()
	read := func(name string) float64 { return readCell(f[name], f[name] != "").or(0) }
	return spanQueue{turn: read("turn"), need: read("need"), paid: read("paid"), first: read("first")}
}

func (q *spanQueuers) take() {
	process := rapid.IntRange(0, 2).Draw(q.t, "process")
	asks := make([]ask, rapid.IntRange(1, 3).Draw(q.t, "asks"))
	for i := range asks {
		asks[i] = ask{
			n:        rapid.SampledFrom([]float64{1, 1, 0.5, 2, 3}).Draw(q.t, "n"),
			patience: rapid.SampledFrom([]int64{0, second, 5 * second, endless, endless, endless}).Draw(q.t, "patience"),
		}
	}
	ahead := rapid.SampledFrom([]int64{0, horizon, horizon, 2 * second}).Draw(q.t, "horizon")
	c := &spanCall{spanModel: spanModel{starts: q.starts(), limit: q.w.limit, per: q.w.per}, spanQueue: q.stored(), horizon: float64(ahead), rate: q.w.limit / float64(q.w.per)}
	before, ticket := c.spanQueue, q.tickets[process]
	got := q.takeSpan(q.w, ahead, ticket, asks...)
	q.tickets[process] = got.ticket

	c.now = float64(got.now)
	c.line(float64(ticket), asks[0].n)
	for i, a := range asks {
		if o := c.request(a, got.outcomes[i]); !c.close && (o.code != got.outcomes[i].code || math.Abs(float64(o.wait-got.outcomes[i].wait)) > 2) {
			q.t.Fatalf("request %d of %v with ticket %d of %+v: %+v, want %+v; %v", i, asks, ticket, before, got, o, c.starts)
		}
	}
	asking, shown := 0.0, 0.0
	if c.head > 0 {
		asking = c.stand()
		shown = c.ticket
	}
	if c.close {
		return
	}
	const rounding = 4
	if (got.mended == queueDropped) != c.lapsed {
		q.t.Fatalf("%v with ticket %d of %+v: mended %d, want the queue gone: %t", asks, ticket, before, got.mended, c.lapsed)
	}
	if math.Abs(float64(got.ask)-asking) > rounding || math.Abs(float64(got.ticket)-shown) > rounding {
		q.t.Fatalf("%v with ticket %d of %+v: ask %d, ticket %d, want %v and %v (%+v)", asks, ticket, before, got.ask, got.ticket, asking, shown, got)
	}
	if after := q.stored(); c.writes && (math.Abs(after.turn-c.turn) > rounding || c.turn > c.now && !after.like(c.spanQueue, rounding)) {
		q.t.Fatalf("%v with ticket %d of %+v leaves %+v, want %+v", asks, ticket, before, after, c.spanQueue)
	}
}

func (s spanQueue) like(other spanQueue, rounding float64) bool {
	return s.need == other.need && math.Abs(s.paid-other.paid) <= rounding && math.Abs(s.first-other.first) <= rounding
}

func (q *spanQueuers) pass(micros float64) {
	d := time.Duration(micros) * time.Microsecond
	q.backWindow(d)
	for i := range q.tickets {
		q.tickets[i] = max(0, q.tickets[i]-d.Microseconds())
	}
}

// comeDue lets the turn of one come, or be over for a while.
func (q *spanQueuers) comeDue() {
	ticket := q.tickets[rapid.IntRange(0, 2).Draw(q.t, "whose")]
	if left := ticket - q.now(); ticket > 0 && left > 0 {
		q.pass(float64(left + rapid.SampledFrom([]int64{0, 100000, 300000, 3 * second}).Draw(q.t, "late")))
	}
}

// A head that wants more than accrues in two horizons is served in its turn,
// where others have booked behind it.
func TestALargeHeadOfAWindowIsServedInItsTurn(t *testing.T) {
	r := newRig(t)
	r.takeSpan(ten, horizon, 0, ask{n: 10})
	large := r.takeSpan(ten, horizon, 0, willWait(3))
	r.takeSpan(ten, horizon, 0, willWait(1))
	r.takeSpan(ten, horizon, 0, willWait(3))
	r.backWindow(time.Duration(large.ticket-r.now()) * time.Microsecond)
	large = r.takeSpan(ten, horizon, r.now(), willWait(3))
	if large.outcomes[0].code != charged || r.field("turn") <= float64(large.now) {
		t.Errorf("%+v, %v, want it charged before those behind it", large, r.fields())
	}
}

// Whoever finds that a long queue for a window has gone is told so.
func TestWhoFindsALongQueueForAWindowGoneIsTold(t *testing.T) {
	r := newRig(t)
	for name, tt := range map[string]struct {
		passes time.Duration
		want   int64
	}{"it lives": {9 * time.Second, sound}, "it has gone": {14 * time.Second, queueDropped}} {
		t.Run(name, func(t *testing.T) {
			r := r.under(t)
			r.takeSpan(ten, horizon, 0, ask{n: 10})
			for range 5 {
				r.takeSpan(ten, horizon, 0, willWait(3))
			}
			r.backWindow(tt.passes)
			if got := r.takeSpan(ten, horizon, 0, willWait(1)); got.mended != tt.want {
				t.Errorf("%+v, %v, want mended %d", got, r.fields(), tt.want)
			}
		})
	}
}
