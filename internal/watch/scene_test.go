package watch

import (
	"math"
	"testing"

	"bucketop/bucketctl"
)

func TestABucketGetsStuckAndAResetShowsAtOnce(t *testing.T) {
	d := newDesk(t, Config{})
	granted := 0.0
	second := 0.0
	step := func(n int, rate float64) (s *Snapshot) {
		for range n {
			second++
			granted += rate
			d.now = at(second)
			d.state("k", full(granted))
			if int(second)%2 == 0 {
				d.redis.say(worker("geo-1", draws("k", granted, 3)))
			}
			s = d.look(second)
		}
		return s
	}
	code := func(s *Snapshot) Code { return d.row(s, "k").Status.Code }
	if s := step(8, 10); code(s) != FullUse || d.row(s, "k").Waiting != 3 || !same(d.row(s, "k").Granted, 10) {
		t.Fatalf("served: %+v", d.row(s, "k"))
	}
	// The last grant was at 8 s. Until 13 s it is no matter.
	if s := step(4, 0); code(s) == Stuck {
		t.Fatal("stuck after 4 s")
	}
	s := step(1, 0)
	row := d.row(s, "k")
	if row.Status.Code != Stuck || !row.Status.Since.Equal(at(8)) || row.Status.Text != "5s" {
		t.Fatalf("after 5 s: %+v", row.Status)
	}
	if len(s.Alerts) != 1 || s.Alerts[0].Text != "STUCK 5s (R resets)" || !s.Alerts[0].Grave || s.Alerts[0].Key != "k" {
		t.Errorf("alerts %+v", s.Alerts)
	}
	if s := step(60, 0); d.row(s, "k").Status.Text != "1m" {
		t.Errorf("a minute later: %+v", d.row(s, "k").Status)
	}
	d.redis.happen(bucketctl.EventReset, "k", "anna@ops1")
	if s := step(1, 10); code(s) == Stuck {
		t.Error("stuck right after the reset")
	}
}

func TestStuckEndsByItselfOnlyAfterFiveSeconds(t *testing.T) {
	d := newDesk(t, Config{})
	for second := range 40 {
		granted := float64(100 + max(0, second-20)*10)
		d.now = at(float64(second))
		d.state("k", full(granted))
		d.redis.say(worker("geo-1", draws("k", granted, 3)))
		s := d.look(float64(second))
		got, wantStuck := d.row(s, "k").Status.Code, second >= 5 && second < 26
		if (got == Stuck) != wantStuck {
			t.Fatalf("at %d s: %s", second, got.Word())
		}
	}
}

func TestAGrantAfterARestartOfTheCounterIsAGrant(t *testing.T) {
	d := newDesk(t, Config{})
	for second := range 20 {
		d.now = at(float64(second))
		granted := 100.0
		if second >= 4 {
			granted = 3 // the key was deleted, and begun anew
		}
		d.state("k", full(granted))
		d.redis.say(worker("geo-1", draws("k", 100, 3)))
		code := d.row(d.look(float64(second)), "k").Status.Code
		if want := second >= 9; (code == Stuck) != want {
			t.Fatalf("at %d s: %s", second, code.Word())
		}
	}
}

func TestABucketOutOfSightIsFoundStuckByItsReports(t *testing.T) {
	d := newDesk(t, Config{})
	d.redis.refuse["GetMany"] = bucketctl.ErrDenied // nothing but reports tells
	for second := range 12 {
		d.now = at(float64(second))
		if second%2 == 0 {
			d.redis.say(worker("geo-1", draws("k", 50, 3)))
		}
		s := d.look(float64(second))
		if got := d.row(s, "k").Status.Code; (got == Stuck) != (second >= 6) {
			t.Fatalf("at %d s: %s", second, got.Word())
		}
	}
}

func TestSlowReportsAreNoStandstill(t *testing.T) {
	d := newDesk(t, Config{})
	d.redis.refuse["GetMany"] = bucketctl.ErrDenied
	for second := range 100 {
		d.now = at(float64(second))
		if second%10 == 0 {
			w := worker("geo-1", draws("k", float64(second*10), 3))
			w.Interval = 10e9
			d.redis.say(w)
		}
		s := d.look(float64(second))
		if got := d.row(s, "k").Status.Code; got == Stuck {
			t.Fatalf("at %d s: stuck, though each report tells of grants", second)
		}
	}
}

func TestAForeignBucketWithoutRefillSaysSo(t *testing.T) {
	d := newDesk(t, Config{Match: "geo:*"})
	d.redis.foreign = []bucketctl.Foreign{{Key: "geo:py", Kind: bucketctl.KindForeign}}
	d.state("geo:py", bucketctl.State{
		Kind: bucketctl.KindForeign, Type: "hash", Level: 0,
		Problems: problem(bucketctl.ProblemAhead, "ts is 9m ahead, no refill until 14:41"),
	})
	var s *Snapshot
	for second := range 245 {
		s = d.look(float64(second))
	}
	if s.Match != "geo:*" {
		t.Errorf("match %q", s.Match)
	}
	row := d.row(s, "geo:py")
	if row.Status.Code != Stuck || row.Status.Text != "4m" || row.Waiting != -1 || !math.IsNaN(row.Granted) {
		t.Errorf("row %+v", row)
	}
	want := "STUCK 4m: ts is 9m ahead, no refill until 14:41 (R resets)"
	if len(s.Alerts) != 1 || s.Alerts[0].Text != want {
		t.Errorf("alerts %+v, want %q", s.Alerts, want)
	}
	d.state("geo:py", bucketctl.State{Kind: bucketctl.KindForeign, Type: "hash", Level: 0})
	d.redis.happen(bucketctl.EventReset, "geo:py", "anna")
	if got := d.row(d.look(246), "geo:py").Status.Code; got != Foreign {
		t.Errorf("after the reset: %s", got.Word())
	}
}

func TestAResumeShowsAtOnceAndAHoldsEndToo(t *testing.T) {
	d := newDesk(t, Config{})
	held := full(0)
	held.Hold = bucketctl.Hold{Active: true, By: "anna@ops1", At: at(-60)}
	d.state("k", held)
	d.look(0)
	if got := d.row(d.look(1), "k").Status; got.Code != Held || got.Text != "1m anna" {
		t.Fatalf("held: %+v", got)
	}
	d.state("k", full(0))
	d.redis.happen(bucketctl.EventResume, "k", "bob")
	if got := d.row(d.look(2), "k").Status.Code; got != Idle {
		t.Errorf("resumed: %s", got.Word())
	}
	held.Hold.Until = at(5)
	d.state("k", held)
	d.redis.happen(bucketctl.EventHold, "k", "anna")
	if got := d.row(d.look(3), "k").Status.Code; got != Held {
		t.Fatalf("held again: %s", got.Word())
	}
	d.redis.refuse["GetMany"] = bucketctl.ErrDenied // nobody need read it to know
	if got := d.row(d.look(20), "k").Status.Code; got != Idle {
		t.Errorf("after the end: %s", got.Word())
	}
}

func TestHistoryOfABucketOnScreenWithItsMarks(t *testing.T) {
	d := newDesk(t, Config{})
	d.w.Show([]string{"k"})
	for second := range 90 {
		d.now = at(float64(second))
		d.state("k", full(float64(second*7)))
		if second == 80 {
			d.redis.happen(bucketctl.EventLimit, "k", "anna")
			d.redis.happen(bucketctl.EventLimit, "other", "anna")
		}
		d.look(float64(second))
	}
	h := d.row(d.w.Snapshot(), "k").History
	if len(h.Levels) != historyLen || len(h.Granted) != historyLen || !h.End.Equal(at(89)) {
		t.Fatalf("%d points up to %v", len(h.Levels), h.End)
	}
	for i, rate := range h.Granted {
		if !same(rate, 7) {
			t.Fatalf("point %d: %v/s", i, rate)
		}
	}
	if len(h.Marks) != 1 || !h.Marks[0].At.Equal(at(80)) || h.Marks[0].Kind != bucketctl.EventLimit {
		t.Errorf("marks %+v", h.Marks)
	}
}
