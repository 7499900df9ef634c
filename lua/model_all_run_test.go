package lua_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bucketop/internal/redistest"
)

// setWalk is one sequence of steps with several buckets: each has its own walk,
// and some calls take of all of them.
type setWalk struct {
	t     *rapid.T
	each  []*walk
	limit []limits
}

// A set does what its model does, whatever befalls any of its buckets.
func TestSetsFollowTheirModel(t *testing.T) {
	c := redistest.Start(t).Client(t)
	rapid.Check(t, func(t *rapid.T) {
		s := &setWalk{t: t}
		for _, key := range []string{"{x}a", "{x}b", "{x}c"}[:rapid.IntRange(1, 3).Draw(t, "buckets")] {
			r := &rig{failer: t, ctx: t.Context(), c: c, bucket: key, record: "bucketctl:limit:=" + key, log: "bucketctl:log:=" + key}
			r.ok(c.FlushDB(r.ctx).Err())
			w := &walk{rig: r, t: t}
			s.each = append(s.each, w)
			s.limit = append(s.limit, limits{capacity: pick(w, "capacity", 3.0, 5, 10, 100), rate: pick(w, "rate", 1.0/7, 1, 1, 5, 50)})
		}
		one := func() *walk { return s.each[rapid.IntRange(0, len(s.each)-1).Draw(t, "bucket")] }
		t.Repeat(map[string]func(*rapid.T){
			"take":         func(*rapid.T) { s.take((*walk).shown) },
			"take again":   func(*rapid.T) { s.take((*walk).shown) },
			"take late":    func(*rapid.T) { s.takeLate() },
			"take later":   func(*rapid.T) { s.takeLate() },
			"take of one":  func(*rapid.T) { one().take() },
			"empty":        func(*rapid.T) { one().drain() },
			"pass":         func(*rapid.T) { s.pass(one().breath()) },
			"pass briefly": func(*rapid.T) { s.pass(one().moment()) },
			"queue":        func(*rapid.T) { one().queue() },
			"give":         func(*rapid.T) { one().give() },
			"limit":        func(*rapid.T) { one().limit() },
			"hold":         func(*rapid.T) { one().hold() },
			"cool":         func(*rapid.T) { one().cool() },
			"owe":          func(*rapid.T) { one().owe() },
			"spoil":        func(*rapid.T) { one().spoil() },
			"end":          func(*rapid.T) { one().end() },
		})
	})
}

func (s *setWalk) take(shown func(*walk) int64) {
	first := s.each[0]
	ahead := pick(first, "horizon", int64(0), horizon, horizon, 2*second)
	asks := make([]wanted, rapid.IntRange(0, 4).Draw(s.t, "asks"))
	for i := range asks {
		asks[i].patience = pick(first, "patience", int64(0), 200000, second, minute, endless, endless)
		for _, w := range s.each {
			asks[i].each = append(asks[i].each, pick(w, "n", 1.0, 1, 0.1, 2, 3, 1.0/3, 7))
		}
	}
	var members []*member
	var models []*model
	var tickets []int64
	for b, w := range s.each {
		m := &member{w.rig, s.limit[b], shown(w)}
		members, models, tickets = append(members, m), append(models, &w.m), append(tickets, m.ticket)
	}
	got := takeAllAhead(s.t, members, ahead, asks...)
	now := got.each[0].now
	want := takeSet(float64(now), models, s.limit, ahead, tickets, asks, got.told)
	for i, o := range got.told {
		if w := want.told[i]; o.code != w.code || o.by != w.by || !nearMicro(o.wait, w.wait) {
			s.t.Fatalf("request %d of %v: %+v, want %+v (%+v)", i, asks, o, w, got)
		}
	}
	for b, w := range s.each {
		w.wantTaken(got.each[b], want.each[b])
		if ticket := got.each[b].ticket; ticket != 0 && ticket != tickets[b] {
			w.ticket, w.stale = ticket, w.ticket
		}
		w.compare(now, "take of all")
	}
}

// takeLate takes with tickets whose turns have come.
func (s *setWalk) takeLate() {
	for _, w := range s.each {
		w.late()
	}
	s.take(func(w *walk) int64 { return w.ticket })
}

// wantTaken compares what a set's take tells of a bucket.
func (w *walk) wantTaken(got, want taken) {
	w.Helper()
	if got.mended != want.mended || got.stop != want.stop || got.stopEnd != want.stopEnd || got.rev != want.rev || got.overEnd != want.overEnd {
		w.Fatalf("%s: %+v, want %+v", w.bucket, got, want)
	}
	if got.capacity != want.capacity || math.Abs(got.rate-want.rate) > 1e-12*want.rate || !near(got.level, want.level) {
		w.Fatalf("%s: %+v, want %+v", w.bucket, got, want)
	}
	const rounding = 3 // microseconds: of waits, of the difference of two, and of what that makes
	if d := math.Abs(float64(got.ask - want.ask)); d > rounding+1e-12*float64(want.ask) {
		w.Fatalf("%s: ask %d, want %d (%+v, want %+v)", w.bucket, got.ask, want.ask, got, want)
	}
	if d := math.Abs(float64(got.ticket - want.ticket)); d > rounding+1e-12*math.Abs(float64(want.ticket-got.now)) {
		w.Fatalf("%s: ticket %d, want %d (%+v, want %+v)", w.bucket, got.ticket, want.ticket, got, want)
	}
}

// pass lets time pass for all of them.
func (s *setWalk) pass(d time.Duration) {
	for _, w := range s.each {
		w.elapse(d)
	}
}

func (w *walk) breath() time.Duration {
	return pick(w, "pass", time.Second, 5*time.Second, 20*time.Second, 40*24*time.Hour)
}

func (w *walk) moment() time.Duration {
	return time.Duration(rapid.IntRange(1, 2000).Draw(w.t, "ms")) * time.Millisecond
}

// drain takes what is there, nearly all.
func (w *walk) drain() {
	if w.m.tokens.sound && w.m.ts.sound {
		w.m.tokens, w.m.ts = num(pick(w, "left", 0, 0.3, 1, 3.0)), num(float64(w.now()))
		w.set("tokens", exact(w.m.tokens.v), "ts", seconds(int64(w.m.ts.v)))
	}
}

// late lets the turn of the last ticket have come, where others have booked
// behind it, and maybe its own head or an earlier one has asked in vain.
func (w *walk) late() {
	if !w.m.exists {
		return
	}
	w.drain()
	now := w.now()
	w.ticket = now - pick(w, "ago", 100000, 300000, second, 3*second)
	first := pick(w, "first", 0, w.ticket, w.ticket, w.ticket-second)
	turn := now + pick(w, "turn", 200000, second, 20*second)
	w.m.turn, w.m.need, w.m.first = num(float64(turn)), num(pick(w, "need", 1.0, 3, 7)), num(float64(first))
	w.set("turn", turn, "need", exact(w.m.need.v), "first", first)
}
