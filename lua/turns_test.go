package lua_test

import (
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// oneASecond is the limit of these tests: in whole seconds, a queue is easy to
// read. A bucket that holds 10 and is empty.
var oneASecond = limits{capacity: 10, rate: 1}

// patient waits for one token as long as it takes.
var patient = ask{n: 1, patience: endless}

// emptied begins the bucket anew, with a level and no queue.
func (r *rig) emptied(level float64) {
	r.Helper()
	r.take(oneASecond)
	r.leaveTheQueue()
	r.set("tokens", exact(level), "ts", seconds(r.now()))
}

// levelNow sets a level and its time in the server, so that hardly anything
// accrues between that and the take behind it.
var levelNow = redis.NewScript(`
local t = redis.call('TIME')
redis.call('HSET', KEYS[1], 'tokens', ARGV[1], 'ts', string.format('%d.%06d', t[1], t[2]))
return t[1] * 1000000 + t[2]`)

// takeFrom is a take from that level at once; ts is when the level was set.
func (r *rig) takeFrom(level float64, ahead, ticket int64, asks ...ask) (got taken, ts int64) {
	r.Helper()
	both := r.c.TxPipeline()
	set := levelNow.Eval(r.ctx, both, []string{r.bucket}, exact(level))
	take := takeScript.Eval(r.ctx, both, r.keys(), append(append(oneASecond.args(), ahead, ticket), requests(asks)...)...)
	_, err := both.Exec(r.ctx)
	r.ok(err)
	reply, err := take.Slice()
	r.ok(err)
	return r.decode(reply, oneASecond.args(), len(asks)), as[int64](r, set.Val())
}

// wait1 is the wait of the only request, in seconds.
func (t taken) wait1() float64 { return float64(t.outcomes[0].wait) / 1e6 }

// wantAbout compares seconds; what the test itself takes may lie between.
func (r *rig) wantAbout(what string, got, want float64) {
	r.Helper()
	if got > want+1e-4 || got < want-float64(slack)/1e6/20 {
		r.Errorf("%s: %.6f s, want %.6f", what, got, want)
	}
}

// book lets somebody new wait for n tokens, and returns when to come back.
func (r *rig) book(n float64) taken {
	r.Helper()
	got := r.take(oneASecond, ask{n: n, patience: endless})
	if got.outcomes[0].code != waits || got.ticket <= got.now || got.ask > got.ticket-got.now {
		r.Fatalf("booking %v: %+v, want it to wait until its ticket", n, got)
	}
	return got
}

// dwell lets d pass for the bucket and for tickets.
func (r *rig) dwell(d time.Duration, tickets ...*taken) {
	r.Helper()
	r.back(d)
	for _, t := range tickets {
		t.ticket -= d.Microseconds()
	}
}

func TestNobodyWaitsNobodyBooks(t *testing.T) {
	r := newRig(t)
	for name, asks := range map[string][]ask{
		"charged": {now1}, "ahead": {{n: 10, patience: endless}, {n: 0.2, patience: endless}}, "refused": {{n: 10}, now1}, "impossible": {{n: 11, patience: endless}},
	} {
		r := r.under(t)
		got := r.take(oneASecond, asks...)
		if f := r.fields(); got.ticket != 0 || f["turn"] != "" || f["need"] != "" {
			t.Errorf("%s: ticket %d, turn %q, need %q, want none", name, got.ticket, f["turn"], f["need"])
		}
	}
}

// What is booked: the first who waits, and as many behind it as one call may
// charge ahead.
func TestBooking(t *testing.T) {
	r := newRig(t)
	tests := []struct {
		name       string
		level      float64
		ahead      int64
		asks       []ask
		turn, need float64 // seconds from when the level was set, tokens
	}{
		{"one", 0, horizon, []ask{patient}, 1, 1},
		{"from what is there", 0.5, horizon, []ask{patient}, 0.5, 1},
		{"behind a debt", -3, horizon, []ask{patient}, 4, 1},
		{"a head larger than one call charges", 0, horizon, []ask{{5, endless}, patient, patient}, 5, 5},
		{"as much as one call charges", 0, 3 * second, []ask{{3.5, endless}, patient, patient, patient, patient}, 3.5, 3.5},
		{"what is left after charges", 0, 3 * second, []ask{{3, endless}, {0.5, endless}, {2, endless}}, 5.5, 0.5},
		{"many small ones", -3, 3 * second, times(8, patient), 6, 1},
		{"all there are", -3, 3 * second, times(2, patient), 5, 1},
		{"without a horizon", -3, 0, times(8, patient), 4, 1},
		{"not those who are refused", -3, 3 * second, []ask{now1, {11, endless}, patient, {1, second}}, 4, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := r.under(t)
			r.emptied(0)
			got, ts := r.takeFrom(tt.level, tt.ahead, 0, tt.asks...)
			turn, ticket := r.field("turn")-float64(ts), float64(got.ticket-ts)
			if math.Abs(turn-tt.turn*1e6) > 2 || r.field("need") != tt.need {
				t.Errorf("turn %v, need %v, want %v and %v", turn/1e6, r.field("need"), tt.turn, tt.need)
			}
			if want := turn - float64(tt.ahead); math.Abs(ticket-want) > 2 {
				t.Errorf("ticket %v µs, want %v", ticket, want)
			}
		})
	}
}

// Who comes while others wait takes nothing of what is there, and is told a
// wait behind them; what it can't wait for it books not.
func TestNobodyBargesIn(t *testing.T) {
	r := newRig(t)
	r.emptied(3)
	r.book(8) // 5 s until it is paid
	before := r.dump()
	got := r.take(oneASecond, now1, ask{n: 1, patience: 5 * second}, ask{n: 2, patience: 6 * second}, ask{n: 11, patience: endless})
	if r.dump() != before || got.ticket != 0 {
		t.Errorf("those who can't wait changed %s to %s, ticket %d", before, r.dump(), got.ticket)
	}
	for i, want := range []outcome{{refusedNow, 6 * second}, {refusedNow, 6 * second}, {refusedNow, 7 * second}, {impossible, 0}} {
		o := got.outcomes[i]
		o.wait = (o.wait + second - 1) / second * second // what the test takes
		if o != want {
			t.Errorf("request %d: %v, want %v", i, got.outcomes[i], want)
		}
	}
	got = r.take(oneASecond, patient, patient, now1)
	if got.outcomes[0].code != waits || got.outcomes[1].code != waits || got.outcomes[2].code != refusedNow {
		t.Errorf("%+v, want two to wait", got.outcomes)
	}
	r.wantAbout("wait of the first", float64(got.outcomes[0].wait)/1e6, 6)
	r.wantAbout("wait of the second", float64(got.outcomes[1].wait)/1e6, 7)
	r.wantAbout("ask", float64(got.ask)/1e6, 5.75)
	r.dwell(6 * time.Second)
	if got := r.take(oneASecond, now1); got.outcomes[0] != (outcome{charged, 0}) {
		t.Errorf("when all that is booked is paid: %v, want it charged", got.outcomes[0])
	}
}

// What becomes of a ticket, 1 s after three processes booked one token each.
func TestTickets(t *testing.T) {
	r := newRig(t)
	tests := []struct {
		name   string
		level  float64 // when they ask again
		ticket func(first, second taken, turn int64) int64
		code   int64
		wait   float64 // seconds
		stands bool    // the ticket is the same, and nothing is booked
		late   bool    // it stands, and later ones wait for it
		ask    float64
	}{
		{"none", 0.2, func(taken, taken, int64) int64 { return 0 }, waits, 3, false, false, 2.75},
		{"its turn", 1, func(a, _ taken, _ int64) int64 { return a.ticket }, charged, 0, false, false, 0},
		{"its turn, ahead", 0.8, func(a, _ taken, _ int64) int64 { return a.ticket }, charged, 0.2, false, false, 0},
		{"its turn, late, and nothing is there", -2, func(a, _ taken, _ int64) int64 { return a.ticket }, waits, 3, true, true, 2.75},
		{"early", 1, func(_, b taken, _ int64) int64 { return b.ticket }, waits, 1, true, false, 0.75},
		{"early, and in debt", -4, func(_, b taken, _ int64) int64 { return b.ticket }, waits, 5, true, false, 0.75},
		{"the end of the queue", 0.2, func(_, _ taken, turn int64) int64 { return turn }, waits, 2.25, true, false, 2},
		{"beyond it", 0.2, func(_, _ taken, turn int64) int64 { return turn + 1 }, waits, 3, false, false, 2.75},
		{"far beyond it", 0.2, func(taken, taken, int64) int64 { return endless }, waits, 3, false, false, 2.75},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := r.under(t)
			r.emptied(0)
			a, b := r.book(1), r.book(1)
			r.book(1)
			r.dwell(time.Second, &a, &b)
			turn, ticket := r.field("turn"), tt.ticket(a, b, int64(r.field("turn")))
			got, _ := r.takeFrom(tt.level, horizon, ticket, patient)
			if got.outcomes[0].code != tt.code {
				t.Fatalf("%+v, want code %d", got, tt.code)
			}
			r.wantAbout("wait", got.wait1(), tt.wait)
			r.wantAbout("ask", float64(got.ask)/1e6, tt.ask)
			booked := r.field("turn") - turn
			switch {
			case tt.late && (got.ticket != ticket || r.field("first") != float64(ticket)):
				t.Errorf("ticket %d, want %d; first %v", got.ticket, ticket, r.field("first"))
			case tt.late: // later ones wait, at most until the queue has gone
				r.wantAbout("turn", (r.field("turn")-float64(got.now))/1e6, (1+0.25-tt.level)/1)
			case tt.stands && (got.ticket != ticket || booked != 0):
				t.Errorf("ticket %d, want %d; booked %v µs more", got.ticket, ticket, booked)
			case tt.code == charged && (got.ticket != 0 || booked != 0):
				t.Errorf("ticket %d and %v µs more booked, want none", got.ticket, booked)
			case tt.code == waits && !tt.stands && (got.ticket != got.now+got.ask || booked != 1e6):
				t.Errorf("ticket %d at %d, booked %v µs, want a second", got.ticket, got.now, booked)
			}
		})
	}
}

// Who is charged and has more to wait for goes to the end of the queue.
func TestWhoeverWasServedBooksBehind(t *testing.T) {
	r := newRig(t)
	r.emptied(0)
	a := r.book(1)
	r.book(1)
	r.dwell(time.Second, &a)
	got := r.takeWith(oneASecond, horizon, a.ticket, patient, patient)
	if got.outcomes[0].code != charged || got.outcomes[1].code != waits {
		t.Fatalf("%+v, want the first charged", got.outcomes)
	}
	r.wantAbout("ask", float64(got.ask)/1e6, 1.75) // 1 s for the other, 1 s for this one
}

// Those who book behind a ticket do not lengthen its wait: a caller that asks
// early must not be refused because others came later.
func TestBookingsBehindATicketDoNotOutlastItsPatience(t *testing.T) {
	r := newRig(t)
	tests := []struct {
		name  string
		asks  []ask
		ahead int64
	}{
		{"one", []ask{{1, 2 * second}}, horizon},
		{"large", []ask{{5, 6 * second}, {1, 7 * second}}, horizon},
		{"many in one call", []ask{{1, 2 * second}, {1, 3 * second}, {1, 4 * second}}, 1500000},
		{"without a horizon", []ask{{1, 2 * second}}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := r.under(t)
			r.emptied(-1)
			got := r.takeAhead(oneASecond, tt.ahead, tt.asks...)
			for range 5 {
				r.book(3)
			}
			again := r.takeWith(oneASecond, tt.ahead, got.ticket, tt.asks...)
			for i, o := range again.outcomes {
				if o.code != waits || o.wait > got.outcomes[i].wait {
					t.Errorf("request %d: %v, then %v", i, got.outcomes[i], o)
				}
			}
			if again.ticket != got.ticket {
				t.Errorf("ticket %d, then %d", got.ticket, again.ticket)
			}
		})
	}
}

// Out of every range, a booking stays a time that can be read back.
func TestBookingsOutOfRange(t *testing.T) {
	r := newRig(t)
	for _, l := range []limits{{capacity: 100, rate: 1e-9}, {capacity: 9e15, rate: 5e-324}} {
		r := r.under(t)
		r.take(l, ask{n: l.capacity})
		for range 3 {
			got := r.take(l, ask{n: 70, patience: endless})
			if got.outcomes[0] != (outcome{waits, endless}) || got.ticket != endless || r.field("turn") != 9e15 {
				t.Errorf("at %v/s: %+v, turn %v", l.rate, got, r.field("turn"))
			}
		}
	}
}
