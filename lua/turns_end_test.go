package lua_test

import (
	"math"
	"testing"
	"time"
)

// The level at which a queue has gone: nobody took what accrued.
func TestUnclaimedTurnsLapse(t *testing.T) {
	r := newRig(t)
	tests := []struct {
		name   string
		need   float64
		n      float64
		ahead  int64
		lapses float64 // the level
	}{
		{"the one who asks wants more", 1, 4, horizon, 4.25},
		{"who asks wants less", 4, 1, horizon, 4.25},
		{"fractions", 0.5, 0.1, horizon, 0.75},
		{"far ahead", 1, 1, 3 * second, 4},
		{"without a horizon", 2, 1, 0, 2},
		{"the whole bucket", 10, 1, horizon, 10},
		{"beyond what the bucket holds", 1, 9.9, horizon, 10},
		{"larger than the bucket", 70, 1, horizon, 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := r.under(t)
			for _, level := range []float64{tt.lapses - 0.01, tt.lapses} {
				r.take(oneASecond)
				turn := r.now() + day
				ts := r.now() + second/2 // nothing accrues meanwhile
				r.set("tokens", exact(level), "ts", seconds(ts), "turn", turn, "need", exact(tt.need))
				got := r.takeAhead(oneASecond, tt.ahead, ask{n: tt.n})
				f := r.fields()
				switch {
				case level < tt.lapses && (got.outcomes[0].code != refusedNow || got.outcomes[0].wait < day-minute || r.field("turn") != float64(turn)):
					t.Errorf("at %v: %v, turn %q, want it behind the queue", level, got.outcomes[0], f["turn"])
				case level == tt.lapses && (got.outcomes[0].wait > second/2 || f["turn"] != "" || f["need"] != ""):
					t.Errorf("at %v: %v, turn %q, need %q, want no queue", level, got.outcomes[0], f["turn"], f["need"])
				}
			}
		})
	}
}

// Whoever finds that a long queue has gone is told so, in its own turn, too: it
// can wake those who sleep in it.
func TestWhoFindsALongQueueGoneIsTold(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		name  string
		ahead time.Duration // of the queue when it is found gone
		shown bool          // by one whose turn has come
		level float64
		want  int64
	}{
		{"by a newcomer", 10 * time.Second, false, 1.25, queueDropped},
		{"in its turn", 10 * time.Second, true, 1.25, queueDropped},
		{"a short one", 900 * time.Millisecond, true, 1.25, sound},
		{"it lives", 10 * time.Second, true, 1.2, sound},
		{"and values were corrupt", 10 * time.Second, true, math.NaN(), begunAgain},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := r.under(t)
			r.emptied(0)
			booked, ticket := r.book(1), int64(0)
			r.dwell(time.Second, &booked)
			if tt.shown {
				ticket = booked.ticket
			}
			r.set("tokens", exact(tt.level), "ts", seconds(r.now()+second/2), "turn", r.now()+tt.ahead.Microseconds())
			if got := r.takeWith(oneASecond, horizon, ticket, patient); got.mended != tt.want {
				t.Errorf("%+v, want mended %d", got, tt.want)
			}
		})
	}
}

// need is the largest head since the queue last ended.
func TestNeedIsTheLargestHead(t *testing.T) {
	r := newRig(t)
	r.emptied(0)
	for _, step := range []struct{ n, need float64 }{{2, 2}, {1, 2}, {5, 5}, {3, 5}} {
		if r.book(step.n); r.field("need") != step.need {
			t.Errorf("with a head of %v: need %v, want %v", step.n, r.field("need"), step.need)
		}
	}
	r.set("turn", r.now()-1, "tokens", "0", "ts", seconds(r.now()))
	if r.book(1); r.field("need") != 1 {
		t.Errorf("after all was paid: need %v, want 1", r.field("need"))
	}
}

// What ends a queue, and what leaves it.
func TestWhatEndsTheQueue(t *testing.T) {
	r := newRig(t)
	takes := func(r *rig) { r.take(oneASecond, now1) }
	tests := []struct {
		name   string
		do     func(*rig)
		stands bool
	}{
		{"a take", takes, true},
		{"a hold", func(r *rig) { r.hold(anyRev, strange, "forever"); takes(r); r.take(oneASecond, patient) }, true},
		{"a cooldown", func(r *rig) { r.set("blocked", r.now()+second); takes(r) }, true},
		{"a settlement", func(r *rig) { r.give(oneASecond, "settle", -5, 0) }, true},
		{"a debit", func(r *rig) { r.set("tokens", "1"); r.give(oneASecond, "debit", 1, 0) }, true},
		{"another capacity", func(r *rig) { r.limit(anyRev, strange, edit{capacity: "7", end: "forever"}) }, true},
		{"the same rate", func(r *rig) { r.limit(anyRev, strange, edit{rate: "1", end: "forever"}) }, true},
		{"another rate", func(r *rig) { r.limit(anyRev, strange, edit{rate: "2", end: "forever"}) }, false},
		{"the same generation", func(r *rig) { r.take(limits{10, 2, 0}, now1) }, true},
		{"a new generation of the same rate", func(r *rig) { r.take(limits{20, 1, 2}, now1) }, true},
		{"a new generation of another rate", func(r *rig) { r.take(limits{10, 2, 2}) }, false},
		{"a new generation in give", func(r *rig) { r.give(limits{10, 2, 2}, "settle", -1, 0) }, false},
		{"a reset", func(r *rig) { r.reset(anyRev, strange, "empty") }, false},
		{"corrupt values", func(r *rig) { r.set("tokens", "nan"); takes(r) }, false},
		{"a clock that stepped back", func(r *rig) { r.set("ts", seconds(r.now()+minute)); takes(r) }, false},
		{"a turn that can't be", func(r *rig) { r.set("turn", "nan", "tokens", "3"); takes(r) }, false},
		{"a turn below 0", func(r *rig) { r.set("turn", "-5", "tokens", "3"); takes(r) }, false},
		{"a need that can't be", func(r *rig) { r.set("need", "nan"); takes(r) }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := r.under(t)
			r.emptied(0)
			r.book(3)
			turn := r.fields()["turn"]
			tt.do(r)
			f := r.fields()
			if tt.stands && f["turn"] != turn || !tt.stands && (f["turn"] != "" || f["need"] != "") {
				t.Errorf("turn was %s, is %q, need %q, want it to stand: %t", turn, f["turn"], f["need"], tt.stands)
			}
		})
	}
}

// An override of another rate ends the queue that was booked under it.
func TestTheQueueEndsWithTheOverride(t *testing.T) {
	r := newRig(t)
	r.emptied(0)
	r.wantResult("edit", r.limit(anyRev, strange, edit{rate: "0.01", end: "+60000000"}), "ok")
	r.take(oneASecond, ask{n: 3, patience: endless})
	r.back(61 * time.Second)
	if got := r.take(oneASecond, now1); got.outcomes[0] != (outcome{charged, 0}) || r.fields()["turn"] != "" {
		t.Errorf("after the override: %v, turn %q", got.outcomes[0], r.fields()["turn"])
	}
}

// Whoever finds values that can't be, and waits, is the first of a new queue.
func TestAQueueBeginsAfterDamage(t *testing.T) {
	r := newRig(t)
	r.emptied(0)
	r.book(3)
	r.set("tokens", "nan")
	got := r.book(2)
	if turn := r.field("turn"); got.mended != 1 || turn != float64(got.now+2*second) || r.field("need") != 2 {
		t.Errorf("mended %d, turn %v at %d, need %v, want 2 s and 2", got.mended, turn, got.now, r.field("need"))
	}
}

// A refund brings the end of the queue nearer, not before now.
func TestARefundMovesTheQueue(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		name              string
		level, book, back float64
		moves             float64 // seconds
	}{
		{"all of it", 0, 5, 2, 2},
		{"what fits into the bucket", 9, 10, 2, 1},
		{"not before now", -1, 1, 8, 2},
	} {
		r := r.under(t)
		r.emptied(tt.level)
		r.book(tt.book)
		before := r.field("turn")
		got := r.give(oneASecond, "refund", tt.back, r.now()+hour)
		want := math.Max(before-got.tokens*1e6, float64(got.now))
		if math.Abs(r.field("turn")-want) > 2 {
			t.Errorf("%s: turn %v µs from now, want %v", tt.name, r.field("turn")-float64(got.now), want-float64(got.now))
		}
		r.wantAbout(tt.name, (before-r.field("turn"))/1e6, tt.moves)
	}
}

// Bookings that nobody claims keep a newcomer no longer than the level takes to
// rise to where they lapse, however many there are.
func TestADeadQueueKeepsNobodyForLong(t *testing.T) {
	r := newRig(t)
	for name, tt := range map[string]struct{ dead, n, most float64 }{
		"small ones": {1, 1, 1.25}, "a large newcomer": {1, 5, 5.25}, "large ones": {5, 1, 5.25}, "as large as can be": {10, 1, 10},
	} {
		t.Run(name, func(t *testing.T) {
			r := r.under(t)
			r.emptied(0)
			for range 100 {
				r.book(tt.dead)
			}
			const step = 50 * time.Millisecond
			newcomer, passed := taken{}, 0.0
			for {
				newcomer = r.takeWith(oneASecond, horizon, newcomer.ticket, ask{n: tt.n, patience: endless})
				if newcomer.outcomes[0].code == charged {
					break
				}
				if passed += step.Seconds(); passed > tt.most+0.1 {
					t.Fatalf("not served after %.2f s: %+v", passed, newcomer)
				}
				r.dwell(step, &newcomer)
			}
		})
	}
}

// customer is a process that always has one caller waiting.
type customer struct {
	n      float64
	due    time.Duration // of its next call
	ticket taken
	served int
}

// Who wants five among those who want one gets its turn, nothing of what
// accrues is lost, and who never waits gets nothing while others do.
func TestALargeRequestGetsItsTurn(t *testing.T) {
	r := newRig(t)
	r.emptied(0)
	customers := make([]*customer, 11)
	for i := range customers {
		customers[i] = &customer{n: 1}
	}
	large := customers[10]
	large.n = 5
	const span = 150 * time.Second // ten rounds of 15 tokens
	total, calls := 0.0, 0
	for passed := time.Duration(0); passed < span; {
		next := earliest(customers)
		if wait := next.due - passed; wait > 0 {
			r.back(wait)
			for _, c := range customers {
				c.ticket.ticket = max(0, c.ticket.ticket-wait.Microseconds())
			}
			passed = next.due
		}
		next.ticket = r.takeWith(oneASecond, horizon, next.ticket.ticket, ask{n: next.n, patience: endless})
		calls++
		next.due = passed + time.Duration(max(1, next.ticket.ask))*time.Microsecond
		if next.ticket.outcomes[0].code == charged {
			next.served++
			total += next.n
		}
		if got := r.take(oneASecond, now1); got.outcomes[0].code == charged && r.field("turn") > float64(got.now) {
			t.Fatalf("after %v one who does not wait was served", passed)
		}
	}
	for i, c := range customers {
		if c.served < 8 || c.served > 12 {
			t.Errorf("customer %d of %v tokens was served %d times in ten rounds", i, c.n, c.served)
		}
	}
	if total < 0.97*span.Seconds() || float64(calls) > 3*total {
		t.Errorf("%v tokens in %v by %d calls, want nearly all that accrued, by few", total, span, calls)
	}
}

func earliest(customers []*customer) *customer {
	first := customers[0]
	for _, c := range customers {
		if c.due < first.due {
			first = c
		}
	}
	return first
}
