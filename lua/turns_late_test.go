package lua_test

import (
	"testing"
	"time"
)

// late is a queue whose every turn has come, and whose level is too low for the
// first of it: a small head, then one of five tokens that asked in vain, then a
// small one again.
func (r *rig) late() (before, large, after taken) {
	r.Helper()
	r.emptied(0)
	before, large, after = r.book(1), r.book(5), r.book(1)
	r.dwell(10*time.Second, &before, &large, &after)
	r.set("tokens", "1", "ts", seconds(r.now()), "turn", r.now()+second)
	large = r.takeWith(oneASecond, horizon, large.ticket, ask{n: 5, patience: endless})
	if got := large.outcomes[0]; got.code != waits || r.field("first") != float64(large.ticket) {
		r.Fatalf("the late one: %+v, first %v, want its ticket", large, r.field("first"))
	}
	return before, large, after
}

// Where everybody is late, small requests would take whatever a large one
// waits for: the oldest ticket that asked in vain comes first.
func TestLateHeadsAreServedInTheOrderOfTheirTickets(t *testing.T) {
	r := newRig(t)
	t.Run("later ones wait", func(t *testing.T) {
		r := r.under(t)
		_, large, after := r.late()
		got := r.takeWith(oneASecond, horizon, after.ticket, patient)
		if got.outcomes[0].code != waits || got.ticket != after.ticket {
			t.Errorf("%+v, want it to wait with its ticket", got)
		}
		r.wantAbout("ask", float64(got.ask)/1e6, 3.75+float64(after.ticket-large.ticket)/1e6) // until the large one is there, and those between
		r.dwell(4*time.Second, &large, &after)
		if got := r.takeWith(oneASecond, horizon, large.ticket, ask{n: 5, patience: endless}); got.outcomes[0].code != charged || r.fields()["first"] > "0" {
			t.Errorf("when its tokens are there: %+v, first %v", got, r.field("first"))
		}
		r.dwell(time.Second, &after)
		if got := r.takeWith(oneASecond, horizon, after.ticket, patient); got.outcomes[0].code != charged {
			t.Errorf("the later one, then: %+v", got)
		}
	})
	t.Run("earlier ones do not", func(t *testing.T) {
		r := r.under(t)
		before, large, _ := r.late()
		got := r.takeWith(oneASecond, horizon, before.ticket, patient)
		if got.outcomes[0].code != charged || r.field("first") != float64(large.ticket) {
			t.Errorf("%+v, first %v", got, r.field("first"))
		}
	})
	t.Run("newcomers wait", func(t *testing.T) {
		r := r.under(t)
		r.late()
		if got := r.take(oneASecond, now1); got.outcomes[0].code == charged {
			t.Errorf("%+v", got)
		}
	})
	t.Run("one that has gone keeps nobody", func(t *testing.T) {
		r := r.under(t)
		_, _, after := r.late()
		r.dwell(5*time.Second, &after)
		if got := r.takeWith(oneASecond, horizon, after.ticket, patient); got.outcomes[0].code != charged || r.fields()["first"] > "0" {
			t.Errorf("%+v, first %v", got, r.field("first"))
		}
	})
}

// A process that is booked far ahead of its turn looks once, when a queue that
// has gone would show.
func TestNewcomersFarBehindLookOnce(t *testing.T) {
	r := newRig(t)
	r.emptied(0)
	r.book(5)
	far := r.book(1)
	r.wantAbout("ask", float64(far.ask)/1e6, 5.25)
	if far.ask >= far.ticket-far.now {
		t.Errorf("%+v, want to be asked before its ticket", far)
	}
	r.dwell(time.Second, &far)
	r.set("tokens", "0", "ts", seconds(r.now()))
	again := r.takeWith(oneASecond, horizon, far.ticket, patient)
	if again.ticket != far.ticket || again.ask != far.ticket-again.now {
		t.Errorf("%+v, want to wait for its turn", again)
	}
	r.set("tokens", "5.2", "ts", seconds(r.now())) // no live queue leaves so much
	again = r.takeWith(oneASecond, horizon, far.ticket, patient)
	r.wantAbout("ask", float64(again.ask)/1e6, 0.05)
}

// A stop takes nobody's place.
func TestTicketsOutlastStops(t *testing.T) {
	r := newRig(t)
	r.emptied(-3)
	booked := r.book(1)
	for _, stop := range []func(){
		func() { r.set("blocked", r.now()+second) },
		func() { r.ok(r.c.HSet(r.ctx, r.record, "hold", "forever").Err()) },
	} {
		stop()
		if got := r.takeWith(oneASecond, horizon, booked.ticket, patient); got.stop == running || got.ticket != booked.ticket {
			t.Errorf("%+v, want ticket %d", got, booked.ticket)
		}
	}
}
