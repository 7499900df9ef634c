package lua_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bucketop/internal/redistest"
)

// The scripts do what the model does, whatever is asked of them in whatever
// order. Nothing waits: time passes by moving what is stored back.
func TestScriptsFollowTheModel(t *testing.T) {
	c := redistest.Start(t).Client(t)
	for round := range 2 { // rapid's own hundred sequences, twice
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := &rig{failer: t, ctx: t.Context(), c: c, bucket: "b", record: "bucketctl:limit:{b}", log: "bucketctl:log:{b}"}
				r.ok(c.FlushDB(r.ctx).Err())
				w := &walk{rig: r, t: t}
				t.Repeat(map[string]func(*rapid.T){
					"take":         func(*rapid.T) { w.take() },
					"take again":   func(*rapid.T) { w.take() },
					"take anew":    func(*rapid.T) { w.take() },
					"give":         func(*rapid.T) { w.give() },
					"limit":        func(*rapid.T) { w.limit() },
					"hold":         func(*rapid.T) { w.hold() },
					"reset":        func(*rapid.T) { w.reset() },
					"pass":         func(*rapid.T) { w.pass() },
					"pass briefly": func(*rapid.T) { w.passBriefly() },
					"spoil":        func(*rapid.T) { w.spoil() },
					"clock":        func(*rapid.T) { w.clock() },
					"end":          func(*rapid.T) { w.end() },
					"owe":          func(*rapid.T) { w.owe() },
					"cool":         func(*rapid.T) { w.cool() },
					"block":        func(*rapid.T) { w.block() },
					"delete":       func(*rapid.T) { w.remove() },
					"queue":        func(*rapid.T) { w.queue() },
				})
			})
		})
	}
}

// walk is one sequence of steps, taken by the scripts and by the model.
type walk struct {
	*rig
	t *rapid.T
	m model

	ticket, stale int64 // the last ones that take gave; 0: none
}

func pick[T any](w *walk, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(w.t, label)
}

func (w *walk) limits() limits {
	return limits{
		capacity: pick(w, "capacity", 1.0, 3, 10, 10, 100, 0.5, 1e9),
		rate:     pick(w, "rate", 1.0/86400, 1.0/7, 1, 3, 50, 1000, 1e-9),
		gen:      pick(w, "gen", int64(0), 0, 0, 2, 3, genNow),
	}
}

func (w *walk) take() {
	ahead := pick(w, "horizon", int64(0), horizon, horizon, 2*second)
	asks := make([]ask, rapid.IntRange(0, 5).Draw(w.t, "asks"))
	for i := range asks {
		asks[i] = ask{
			n:        pick(w, "n", 1.0, 1, 0.1, 2, 5, 1e-9, 70, 1.0/3),
			patience: pick(w, "patience", int64(0), 0, 1000, 200000, second, minute, endless),
		}
	}
	l := w.limits()
	ticket := w.shown()
	got := w.takeWith(l, ahead, ticket, asks...)
	want := w.m.take(float64(got.now), l, ahead, ticket, asks, got.outcomes)
	if got.mended != want.mended || got.stop != want.stop || got.stopEnd != want.stopEnd || got.rev != want.rev || got.overEnd != want.overEnd {
		w.Fatalf("take: %+v, want %+v", got, want)
	}
	if got.capacity != want.capacity || math.Abs(got.rate-want.rate) > 1e-12*want.rate || !near(got.level, want.level) {
		w.Fatalf("take: %+v, want %+v", got, want)
	}
	for i, o := range got.outcomes {
		if o.code != want.outcomes[i].code || !nearMicro(o.wait, want.outcomes[i].wait) {
			w.Fatalf("take: request %d of %v: %v, want %v (%+v)", i, asks, o, want.outcomes[i], got)
		}
	}
	if !nearMicro(got.ask, want.ask) {
		w.Fatalf("take: ask %d, want %d (%+v)", got.ask, want.ask, got)
	}
	if (got.ticket == 0) != (want.ticket == 0) || !nearMicro(got.ticket-got.now, want.ticket-got.now) {
		w.Fatalf("take with ticket %d: ticket %d, want %d (%+v)", ticket, got.ticket, want.ticket, got)
	}
	if got.ticket != 0 && got.ticket != ticket {
		w.ticket, w.stale = got.ticket, w.ticket
	}
	w.compare(got.now, "take")
	if life := w.life(w.bucket); life < day-slack {
		w.Fatalf("after a take the state lives %d s", life/second)
	}
}

// shown is a ticket: none, the last one, one before it, one that nobody gave.
func (w *walk) shown() int64 {
	turn := int64(w.m.turn.or(0))
	return pick(w, "ticket", 0, w.ticket, w.ticket, w.ticket, w.stale, w.now()-second, w.now()+second, max(0, turn), max(0, turn-second),
		min(endless, max(0, turn)+minute))
}

func nearMicro(a, b int64) bool {
	return math.Abs(float64(a-b)) <= 1+1e-12*math.Abs(float64(b)) || min(a, b) == 0 && max(a, b) == 2 // rounding decides
}

func (w *walk) give() {
	l := w.limits()
	why := pick(w, "why", "refund", "settle", "settle", "debit")
	tokens := pick(w, "tokens", 1.0, 0.3, 5, 70, 1e9)
	if why == "settle" {
		tokens *= pick(w, "sign", 1.0, -1, 0)
	}
	start := w.now() + pick(w, "start", 0, -second, 200000, -day)
	got := w.rig.give(l, why, tokens, start)
	want := w.m.give(float64(got.now), l, why, tokens, start)
	tolerance := 1e-9 * math.Max(1, math.Abs(want.level)+math.Abs(got.tokens)) // of what was subtracted
	if math.Abs(got.tokens-want.tokens) > tolerance || !near(got.level, want.level) {
		w.Fatalf("give %s %v: %+v, want %+v", why, tokens, got, want)
	}
	w.compare(got.now, "give "+why)
}

// revision is one to decide on, mostly the one that is there.
func (w *walk) revision() int64 {
	return pick(w, "rev", anyRev, anyRev, int64(w.m.rev.or(0)), 0, 12345)
}

// anEnd is an end as the scripts read it, and as the model does.
func (w *walk) anEnd() (text string, micros int64) {
	micros = pick(w, "end", int64(0), -1, second, minute, 3*day)
	switch {
	case micros < 0:
		return "forever", micros
	case micros == 0:
		return "", 0
	}
	return "+" + strconv.FormatInt(micros, 10), micros
}

func (w *walk) limit() {
	listed, rev := pick(w, "listed", strange, listed), w.revision()
	e := edit{
		capacity: pick(w, "capacity", "", "", "declared", "2", "50", "1e6"),
		rate:     pick(w, "rate", "", "declared", "0.01", "2", "300"),
		per:      pick(w, "per", "", "60000000"),
	}
	var micros int64
	e.end, micros = w.anEnd()
	got := w.rig.limit(rev, listed, e)
	want := w.m.limit(float64(got.now), rev, listed, e, micros)
	w.wantChange("limit", got, want)
}

func (w *walk) hold() {
	listed, rev := pick(w, "listed", strange, listed), w.revision()
	end, micros := w.anEnd()
	resume := rapid.Bool().Draw(w.t, "resume")
	if resume {
		end = "resume"
	}
	got := w.rig.hold(rev, listed, end)
	want := w.m.holdUp(float64(got.now), rev, listed, resume, micros)
	w.wantChange("hold "+end, got, want)
}

func (w *walk) reset() {
	listed, rev := pick(w, "listed", strange, listed), w.revision()
	to := pick(w, "to", "full", "empty", "2.5", "70")
	level := map[string]float64{"full": -1, "empty": 0, "2.5": 2.5, "70": 70}[to]
	got := w.rig.reset(rev, listed, to)
	want := w.m.reset(float64(got.now), rev, listed, level)
	w.wantChange("reset "+to, got, want)
}

func (w *walk) wantChange(what string, got changed, want string) {
	w.Helper()
	if got.result != want {
		w.Fatalf("%s: %s, want %s: %+v", what, got.result, want, got)
	}
	w.compare(got.now, what)
	if !maps.Equal(got.bucket, w.fields()) || !maps.Equal(got.limit, w.noted()) {
		w.Fatalf("%s tells %v and %v after it, stored are %v and %v", what, got.bucket, got.limit, w.fields(), w.noted())
	}
	if want == "ok" && !strings.HasPrefix(what, "reset") { // which leaves the record as it is
		w.compareRecordsLife(got.now, what)
	}
}

// compareRecordsLife: the record lives while anything it says is in force.
func (w *walk) compareRecordsLife(now int64, what string) {
	w.Helper()
	over, held := w.m.overridden(float64(now)), w.m.unreadableHold || w.m.hold.there && w.m.hold.v > float64(now)
	endless := over && !w.m.until.there || w.m.unreadableHold
	life := w.life(w.record)
	least := 0.0
	if over {
		least = w.m.until.or(0)
	}
	if held {
		least = max(least, w.m.hold.or(0))
	}
	if endless && life != -1 || life != -1 && float64(now+life)+float64(slack) < least {
		w.Fatalf("%s: the record lives %d µs from %d, model %+v", what, life, now, w.m)
	}
}

// compare holds what is stored against the model, and then takes the stored
// levels for the model's, so that rounding does not add up.
func (w *walk) compare(now int64, what string) {
	w.Helper()
	f, n := w.fields(), w.noted()
	if (len(f) > 0) != w.m.exists || (len(n) > 0) != w.m.noted {
		w.Fatalf("%s: stored are %v and %v, want %+v", what, f, n, w.m)
	}
	for name, c := range w.m.cells() {
		text, there := f[name]
		w.match(what, name, readStored(name, text, there), c)
	}
	for name, c := range w.m.recordCells() {
		text, there := n[name]
		w.match(what, "record "+name, readCell(text, there), c)
	}
	hold := n["hold"] != "" && !readCell(n["hold"], true).sound
	if _, there := n["hold"]; there && n["hold"] == "" {
		hold = true
	}
	if hold != w.m.unreadableHold {
		w.Fatalf("%s: hold is %q, want %+v", what, n["hold"], w.m)
	}
	if w.m.exp.sound && w.m.exp.v > 0 && w.m.exp.v < float64(now+36500*day) && len(f) > 0 {
		if life := w.life(w.bucket); math.Abs(float64(now+life)-w.m.exp.v) > float64(slack) {
			w.Fatalf("%s: the key lives %d µs more, exp says %v", what, life, w.m.exp.v-float64(now))
		}
	}
}

// readStored reads a field; ts into microseconds.
func readStored(name, text string, there bool) cell {
	c := readCell(text, there)
	if name == "ts" && c.sound {
		c.v = math.Round(c.v * 1e6)
	}
	return c
}

func (w *walk) match(what, name string, got cell, want *cell) {
	w.Helper()
	same := got.there == want.there && got.sound == want.sound
	if name == "first" { // none: 0, not there, or not readable
		got, *want = num(math.Max(0, got.or(0))), num(want.or(0))
		same = true
	}
	if name == "need" && !w.m.turn.there { // counts for nothing, and may be left there
		*want, same = got, true
	}
	if same && got.sound {
		same = near(got.v, want.v)
		if name == "granted" { // differences of levels, whose size decides what is lost
			same = math.Abs(got.v-want.v) <= 1e-9*(1+math.Abs(want.v)+math.Abs(w.m.tokens.or(0))+w.m.capacity.or(0))
		}
		if slices.Contains([]string{"ts", "blocked", "gen"}, name) {
			same = got.v == want.v
		}
		if name == "turn" { // far ahead, the rate decides what is lost
			same = math.Abs(got.v-want.v) <= 3+1e-9*math.Abs(want.v-w.m.ts.or(0))
		}
		if name == "need" { // of a set's reservation: what accrues in a difference of times
			same = math.Abs(got.v-want.v) <= 1e-9*math.Abs(want.v)+3e-6*math.Max(w.m.rate.or(0), w.m.overRate.or(0))
		}
		if name == "exp" {
			same = math.Abs(got.v-want.v) <= 1000+1e-9*want.v
		}
		if same {
			want.v = got.v
		}
	}
	if !same {
		w.Fatalf("%s: %s is %+v, want %+v; stored %v and %v", what, name, got, *want, w.fields(), w.noted())
	}
}

func (m *model) cells() map[string]*cell {
	return map[string]*cell{
		"tokens": &m.tokens, "ts": &m.ts, "granted": &m.granted, "blocked": &m.blocked, "exp": &m.exp,
		"capacity": &m.capacity, "rate": &m.rate, "per": &m.per, "gen": &m.gen, "turn": &m.turn, "need": &m.need, "first": &m.first,
	}
}

func (m *model) recordCells() map[string]*cell {
	return map[string]*cell{"capacity": &m.overCapacity, "rate": &m.overRate, "until": &m.until, "rev": &m.rev}
}

func (m *model) String() string { return fmt.Sprintf("%+v", *m) }
