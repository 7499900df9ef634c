package lua_test

import (
	"testing"
	"time"
)

var ten = span{limit: 10, per: 10 * second}

// willWait is a request that waits for as long as it takes.
func willWait(n float64) ask { return ask{n: n, patience: endless} }

func (r *rig) wantOutcomes(what string, got taken, want ...outcome) {
	r.Helper()
	for i, o := range got.outcomes {
		if o != want[i] {
			r.Errorf("%s: request %d: %+v, want %+v", what, i, o, want[i])
		}
	}
}

func (r *rig) wantUsed(what string, want float64) {
	r.Helper()
	var sum float64
	for _, s := range r.starts() {
		sum += s.n
	}
	if used := r.field("used"); !near(used, want) || !near(sum, want) {
		r.Errorf("%s: used %v, %v in the log, want %v", what, used, sum, want)
	}
}

func TestAWindowGivesItsLimitAtOnceAndWaitsForTheOldest(t *testing.T) {
	r := newRig(t)
	first := r.takeSpan(ten, 0, 0, ask{n: 4})
	second := r.takeSpan(ten, 0, 0, ask{n: 6})
	if first.granted() != 1 || second.granted() != 1 || second.level != 0 || second.capacity != 10 || second.rate != 1 {
		t.Fatalf("the first ten: %+v, %+v", first, second)
	}
	before := r.dump()
	third := r.takeSpan(ten, 0, 0, now1)
	r.wantOutcomes("one more", third, outcome{refusedNow, first.now + ten.per - third.now})
	fifth := r.takeSpan(ten, 0, 0, ask{n: 5})
	r.wantOutcomes("five more", fifth, outcome{refusedNow, second.now + ten.per - fifth.now})
	big := r.takeSpan(ten, 0, 0, ask{n: 10.5})
	r.wantOutcomes("more than it holds", big, outcome{code: impossible})
	if after := r.dump(); after != before {
		t.Errorf("denials are recorded: %s, then %s", before, after)
	}
	r.backWindow(10*time.Second - time.Duration(r.now()-first.now)*time.Microsecond - 4*time.Second)
	soon := r.takeSpan(ten, 5e6, 0, ask{n: 4, patience: 5e6}, ask{n: 1, patience: 5e6})
	if soon.outcomes[0].code != charged || soon.outcomes[0].wait <= 0 || soon.outcomes[0].wait > 4e6 {
		t.Errorf("within the horizon of the first start's end: %+v", soon)
	}
	if late := soon.outcomes[1]; late.code != charged && late.code != refusedNow {
		t.Errorf("behind it: %+v", late)
	}
}

// Equal times and equal weights are as many starts as were charged.
func TestEqualTimesDoNotCollapse(t *testing.T) {
	r := newRig(t)
	got := r.takeSpan(ten, 0, 0, times(12, now1)...)
	if got.granted() != 10 {
		t.Errorf("%d of 12 at once, want 10", got.granted())
	}
	r.wantUsed("ten at one time", 10)
	if members := r.starts(); len(members) != 1 {
		t.Errorf("%d members for ten starts at one time", len(members))
	}
	r = r.under(t)
	r.takeSpan(ten, 0, 0, now1)
	for range 20 {
		r.set("ts", seconds(r.now()+5000)) // the next starts are logged then, both
		r.takeSpan(ten, 0, 0, now1)
	}
	r.wantUsed("at times that were made equal", 10)
}

func TestWeightsAndFractionsAreOneMember(t *testing.T) {
	r := newRig(t)
	got := r.takeSpan(ten, 0, 0, ask{n: 2.5}, ask{n: 0.1}, ask{n: 1e-6})
	if got.granted() != 3 || len(r.starts()) != 1 {
		t.Fatalf("%+v, log %v", got, r.starts())
	}
	r.wantUsed("fractions", 2.600001)
	for range 75 { // the last of them does not fit
		r.takeSpan(ten, 0, 0, ask{n: 0.1})
	}
	r.wantLevel("after 74 tenths", r.takeSpan(ten, 0, 0).level, 0.099999)
}

// Behind a whole limit of others the wait is longer by a whole span.
func TestWaitsBehindOthersAreExact(t *testing.T) {
	r := newRig(t)
	first := r.takeSpan(ten, 0, 0, ask{n: 10})
	got := r.takeSpan(ten, 0, 0, willWait(6), willWait(4), willWait(10), willWait(1))
	end := first.now + ten.per - got.now
	for i, want := range []int64{end, end, end + ten.per, end + 2*ten.per} {
		if o := got.outcomes[i]; o.code != waits || o.wait != want {
			t.Errorf("request %d waits %+v, want %d", i, o, want)
		}
	}
	if got.ask != end || got.ticket != got.now+end {
		t.Errorf("asks again in %d with ticket %d, want %d", got.ask, got.ticket-got.now, end)
	}
}

func TestWhatIsGivenBackToAWindow(t *testing.T) {
	r := newRig(t)
	at := func(got taken) int64 { return got.now + got.outcomes[0].wait }
	a := r.takeSpan(ten, 0, 0, ask{n: 4})
	b := r.takeSpan(ten, 0, 0, ask{n: 6})
	r.wantLevel("a refund", r.giveSpan(ten, "refund", 4, at(a)).level, 4)
	r.wantLevel("a refund twice takes no other start's", r.giveSpan(ten, "refund", 4, at(a)).level, 8)
	if members := r.starts(); len(members) != 1 || members[0].n != 2 || members[0].at != at(b) {
		t.Errorf("left in the log: %v", members)
	}
	r.wantLevel("a settlement", r.giveSpan(ten, "settle", 1, at(b)).level, 9)
	r.wantLevel("a debt", r.giveSpan(ten, "settle", -100, at(b)).level, -10)
	r.wantLevel("a debt again", r.giveSpan(ten, "settle", -100, at(b)).level, -10)
	r.wantLevel("a debit where all is used", r.giveSpan(ten, "debit", 5, 0).level, -10)
	r.backWindow(11 * time.Second)
	r.wantLevel("a refund of what has left the span", r.giveSpan(ten, "refund", 6, at(b)-11*second).level, 10)
	r.wantLevel("a debit", r.giveSpan(ten, "debit", 50, 0).level, 0)
	r = r.under(t)
	r.wantLevel("a debit from a new window", r.giveSpan(ten, "debit", 3, 0).level, 7)
}

// Nothing is stuck, and nothing but one span is free, whatever is lost.
func TestALostLogOrHash(t *testing.T) {
	r := newRig(t)
	for name, lose := range map[string]func(*rig){
		"the log":           func(r *rig) { r.ok(r.c.Del(r.ctx, r.log).Err()) },
		"a part of the log": func(r *rig) { r.ok(r.c.ZRemRangeByRank(r.ctx, r.log, 0, 0).Err()) },
		"the sum":           func(r *rig) { r.set("used", "garbage") },
		"sum and log":       func(r *rig) { r.set("used", "-3"); r.ok(r.c.Del(r.ctx, r.log).Err()) },
		"the time":          func(r *rig) { r.set("ts", "x") },
		"the limit":         func(r *rig) { r.set("per", "1e99") },
		"a low sum":         func(r *rig) { r.set("used", 1); r.backWindow(5 * time.Second) },
		"the kind's fields": func(r *rig) { r.ok(r.c.HDel(r.ctx, r.bucket, "used", "ts").Err()) },
	} {
		t.Run(name, func(t *testing.T) {
			r := r.under(t)
			r.takeSpan(ten, 0, 0, ask{n: 4})
			r.takeSpan(ten, 0, 0, ask{n: 6})
			lose(r)
			got := r.takeSpan(ten, 0, 0, willWait(5))
			if got.outcomes[0].code != waits && name != "a low sum" {
				t.Errorf("charged for free: %+v", got)
			}
			r.backWindow(10*time.Second + time.Millisecond)
			r.leaveWindow()
			if got := r.takeSpan(ten, 0, 0, ask{n: 10}, now1); got.granted() != 1 {
				t.Errorf("a span later: %+v, %v, %v", got, r.fields(), r.starts())
			}
			if got := r.takeSpan(ten, 0, 0, now1); got.mended != 0 {
				t.Errorf("mended again: %+v", got)
			}
		})
	}
	r = r.under(t)
	r.takeSpan(ten, 0, 0, ask{n: 4})
	r.ok(r.c.Del(r.ctx, r.bucket).Err())
	got := r.takeSpan(ten, 0, 0, ask{n: 6}, now1)
	if got.granted() != 1 || got.mended != 0 {
		t.Errorf("without the hash the log counts: %+v", got)
	}
	r.wantUsed("without the hash", 10)
}

func (r *rig) leaveWindow() {
	r.Helper()
	r.ok(r.c.HDel(r.ctx, r.bucket, "turn", "need", "paid").Err())
}

func TestAWindowsClockStepsBack(t *testing.T) {
	r := newRig(t)
	r.takeSpan(ten, 0, 0, ask{n: 4})
	r.backWindow(-time.Hour) // as if it had been written an hour ahead
	if got := r.takeSpan(ten, 0, 0, willWait(7)); got.mended != 2 || got.outcomes[0].wait != ten.per {
		t.Errorf("at a step back of an hour: %+v %v", got, r.starts())
	}
	r.leaveWindow()
	got := r.takeSpan(ten, 0, 0, ask{n: 6}, now1)
	if got.granted() != 1 || got.outcomes[1].wait > ten.per {
		t.Errorf("after a step back of an hour: %+v %v", got, r.starts())
	}
	r.backWindow(10 * time.Second)
	r.leaveWindow()
	if got := r.takeSpan(ten, 0, 0, ask{n: 10}); got.granted() != 1 {
		t.Errorf("a span later: %+v %v", got, r.starts())
	}
}

// A log is bounded whatever the limit is: neighbours are merged at the time of
// the later one, so that nothing comes back early.
func TestALogIsBounded(t *testing.T) {
	r := newRig(t)
	million := span{limit: 1e6, per: hour}
	var told []logged
	for i := range 2500 {
		got := r.takeSpan(million, 0, 0, ask{n: []float64{390, 410, 1, 799}[i%4]})
		for _, o := range got.outcomes {
			if o.code == charged {
				told = append(told, logged{at: got.now + o.wait, n: []float64{390, 410, 1, 799}[i%4]})
			}
		}
	}
	members := r.starts()
	if len(members) > 2001 {
		t.Errorf("%d members for %d starts", len(members), len(told))
	}
	i, sum := 0, 0.0
	for _, m := range members {
		for sum += m.n; i < len(told) && sum > 0.5; i++ {
			if sum -= told[i].n; told[i].at > m.at {
				t.Fatalf("a start at %d is logged at %d", told[i].at, m.at)
			}
		}
	}
	if i != len(told) {
		t.Errorf("%d of %d starts are logged", i, len(told))
	}
	usage, err := r.c.MemoryUsage(r.ctx, r.log).Result()
	r.ok(err)
	t.Logf("%d members for %d starts, %d bytes", len(members), len(told), usage)
}

// A cooldown stops a window; what has started goes on leaving the span.
func TestAWindowCoolsDown(t *testing.T) {
	r := newRig(t)
	r.takeSpan(ten, 0, 0, ask{n: 4})
	cool := func(length int64) []any { return r.run(windowCoolScript, append(ten.args(), length, "w1")...) }
	first := cool(30 * second)
	again := cool(20 * second)
	if as[int64](r, again[1]) != 0 || as[int64](r, again[3]) != as[int64](r, first[3]) {
		t.Errorf("a shorter cooldown moved the end: %v, then %v", first, again)
	}
	got := r.takeSpan(ten, 0, 0, now1)
	if got.stop != coolingDown || got.granted() != 0 || r.fields()["blocked_by"] != "w1" {
		t.Errorf("in a cooldown: %+v %v", got, r.fields())
	}
	r.backWindow(31 * time.Second)
	if got := r.takeSpan(ten, 0, 0, ask{n: 10}); got.granted() != 1 {
		t.Errorf("after it: %+v", got)
	}
}

// A wait does not depend on what was looked up before it: 0.1 and 1/3 add up to
// a hair less than the sum that is looked for.
func TestWaitsDoNotDependOnTheRequestsBefore(t *testing.T) {
	r := newRig(t)
	five := span{limit: 5, per: 10 * second}
	r.takeSpan(five, 0, 0, ask{n: 0.1})
	second := r.takeSpan(five, 0, 0, ask{n: 0.333333})
	r.takeSpan(five, 0, 0, ask{n: 2})
	r.takeSpan(five, 0, 0, ask{n: 2})
	got := r.takeSpan(five, 0, 0, ask{n: 2.5}, now1)
	if o := got.outcomes[1]; o.wait != second.now+five.per-got.now {
		t.Errorf("one behind a refused one: %+v, want %d", o, second.now+five.per-got.now)
	}
}
