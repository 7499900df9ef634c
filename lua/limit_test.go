package lua_test

import (
	"fmt"
	"maps"
	"testing"
	"time"
)

// wantNoted fails unless the record holds these fields besides who, when, why.
func (r *rig) wantNoted(what string, want map[string]string) {
	r.Helper()
	got := r.noted()
	for _, name := range []string{"rev", "by", "at", "reason", "hold_by", "hold_at", "hold_reason"} {
		delete(got, name)
	}
	if !maps.Equal(got, want) {
		r.Errorf("%s: the record says %v, want %v", what, got, want)
	}
}

func TestEditsKeepWhatTheyDoNotName(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 100, rate: 10}
	r.take(l, now1)
	const end = "8000000000000000"
	steps := []struct {
		edit edit
		want map[string]string
	}{
		{edit{capacity: "50", end: end}, map[string]string{"capacity": "50", "until": end}},
		{edit{rate: "2.5", per: "60000000"}, map[string]string{"capacity": "50", "rate": "2.5", "per": "60000000", "until": end}},
		{edit{end: "forever"}, map[string]string{"capacity": "50", "rate": "2.5", "per": "60000000"}},
		{edit{capacity: "declared", end: end}, map[string]string{"rate": "2.5", "per": "60000000", "until": end}},
		{edit{rate: "1e-05", per: "1000000"}, map[string]string{"rate": "1.0000000000000001e-05", "per": "1000000", "until": end}},
		{edit{capacity: "7", rate: "declared"}, map[string]string{"capacity": "7", "until": end}},
		{edit{capacity: "declared"}, map[string]string{}},
	}
	for i, s := range steps {
		r.wantResult(fmt.Sprint("step ", i), r.limit(anyRev, strange, s.edit), "ok")
		r.wantNoted(fmt.Sprint("step ", i), s.want)
	}
	r.wantResult("nothing left", r.limit(anyRev, strange, edit{capacity: "declared", rate: "declared"}), "nothing")
	r.wantResult("an end alone", r.limit(anyRev, strange, edit{end: end}), "nothing")
}

func TestEditsTellBeforeAndAfter(t *testing.T) {
	r := newRig(t)
	r.take(limits{capacity: 100, rate: 0.001}, ask{n: 20})
	first := r.limit(0, strange, edit{capacity: "50", end: "+60000000"})
	if first.bucket0["tokens"] != "80" || first.bucket["tokens"] != "50" || len(first.limit0) != 0 || first.kind != "hash" {
		t.Errorf("%+v", first)
	}
	want := map[string]string{
		"capacity": "50", "until": fmt.Sprint(first.now + minute), "rev": fmt.Sprint(first.now),
		"by": "anna", "at": fmt.Sprint(first.now), "reason": "why",
	}
	if !maps.Equal(first.limit, want) || !maps.Equal(r.noted(), want) {
		t.Errorf("record %v, stored %v, want %v", first.limit, r.noted(), want)
	}
	if !maps.Equal(first.bucket, r.fields()) || first.pttl <= 24*3600*1000 {
		t.Errorf("bucket %v and %d ms, stored %v", first.bucket, first.pttl, r.fields())
	}
	if second := r.limit(anyRev, strange, edit{rate: "2", per: "1"}); !maps.Equal(second.limit0, want) {
		t.Errorf("the second change was told %v before, want %v", second.limit0, want)
	}
}

// C23: a change that was decided on something else writes nothing.
func TestConflictsWriteNothing(t *testing.T) {
	r := newRig(t)
	r.take(plain, now1)
	r.wantConflicts("without a record", 1, 12345, r.now()+day)
	rev := number(r, r.limit(0, strange, edit{capacity: "5"}).limit["rev"])
	r.wantConflicts("with a record", 0, 1, int64(rev)-1, int64(rev)+1)
	r.note("rev", 777)
	r.wantResult("hold", r.hold(777, strange, "forever"), "ok")
	r.wantConflicts("after a hold", 0, 777)
	r.wantResult("reset", r.reset(int64(number(r, r.noted()["rev"])), strange, "full"), "ok")
}

// wantConflicts tries every change on each of these revisions.
func (r *rig) wantConflicts(when string, revs ...int64) {
	r.Helper()
	before := r.dump()
	for _, rev := range revs {
		for what, got := range map[string]changed{
			"limit":  r.limit(rev, strange, edit{capacity: "5"}),
			"hold":   r.hold(rev, strange, "forever"),
			"resume": r.hold(rev, strange, "resume"),
			"reset":  r.reset(rev, strange, "full"),
			"delete": r.reset(rev, strange, "delete"),
		} {
			r.wantResult(fmt.Sprintf("%s: %s on revision %d", when, what, rev), got, "conflict")
			if !maps.Equal(got.limit, r.noted()) || !maps.Equal(got.bucket, r.fields()) {
				r.Errorf("%s: %s: a conflict has to tell what is there now: %+v", when, what, got)
			}
		}
	}
	if after := r.dump(); after != before {
		r.Errorf("%s: conflicts changed\n%s to\n%s", when, before, after)
	}
}

// A revision never comes back: not by fast changes, not after the record has
// gone, not when the clock steps back.
func TestRevisionsNeverRepeat(t *testing.T) {
	r := newRig(t)
	r.take(plain, now1)
	last := int64(0)
	grew := func(what string, c changed) {
		t.Helper()
		rev := int64(number(r, c.limit["rev"]))
		if rev <= last {
			t.Errorf("%s: revision %d after %d", what, rev, last)
		}
		last = rev
	}
	for range 50 {
		grew("limit", r.limit(anyRev, strange, edit{capacity: "5"}))
		grew("hold", r.hold(anyRev, strange, "forever"))
		grew("resume", r.hold(anyRev, strange, "resume"))
		r.ok(r.c.Del(r.ctx, r.record).Err())
	}
	grew("before the clock steps back", r.limit(anyRev, strange, edit{capacity: "5"}))
	last = r.now() + day
	r.note("rev", last)
	for range 3 {
		grew("after the clock stepped back", r.limit(anyRev, strange, edit{capacity: "5"}))
	}
}

func TestOverridesThatEndedAreNotKept(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 100, rate: 10}
	r.take(l, now1)
	r.limit(anyRev, strange, edit{capacity: "5", rate: "1", per: "60000000", end: "+60000000"})
	r.back(2 * time.Minute)
	if got := r.take(l); got.capacity != 100 || got.rate != 10 || got.overEnd != 0 {
		t.Errorf("%+v, want the declared limit", got)
	}
	r.wantResult("taking away what ended", r.limit(anyRev, strange, edit{capacity: "declared"}), "nothing")
	r.wantResult("setting", r.limit(anyRev, strange, edit{rate: "3", per: "1000000"}), "ok")
	r.wantNoted("after the end", map[string]string{"rate": "3", "per": "1000000"})
	if got := r.take(l); got.capacity != 100 || got.rate != 3 || got.overEnd != -1 {
		t.Errorf("%+v, want 3/s and the declared capacity, without end", got)
	}
}

// The record lives while anything it says is in force, and a week longer.
func TestLifeOfTheRecord(t *testing.T) {
	r := newRig(t)
	r.take(plain, now1)
	const week = 7 * day
	steps := []struct {
		name string
		do   func() changed
		life int64
	}{
		{"override with an end", func() changed { return r.limit(anyRev, strange, edit{rate: "5", end: "+3600000000"}) }, hour + week},
		{"without end", func() changed { return r.limit(anyRev, strange, edit{end: "forever"}) }, -1},
		{"a hold besides", func() changed { return r.hold(anyRev, strange, "+3600000000") }, -1},
		{"hold outlives override", func() changed { return r.limit(anyRev, strange, edit{end: "+60000000"}) }, hour + week},
		{"hold without end", func() changed { return r.hold(anyRev, strange, "forever") }, -1},
		{"override alone", func() changed { return r.hold(anyRev, strange, "resume") }, minute + week},
		{"nothing left", func() changed { return r.limit(anyRev, strange, edit{rate: "declared"}) }, week},
		{"hold again", func() changed { return r.hold(anyRev, strange, "+86400000000") }, day + week},
	}
	for _, s := range steps {
		r.wantResult(s.name, s.do(), "ok")
		life := r.life(r.record)
		if s.life == -1 && life != -1 || s.life != -1 && (life > s.life+second || life < s.life-slack) {
			t.Errorf("%s: the record lives %d s, want %d s", s.name, life/second, s.life/second)
		}
	}
}

func TestHoldAndResume(t *testing.T) {
	r := newRig(t)
	r.take(plain, now1)
	r.wantResult("resume what runs", r.hold(anyRev, strange, "resume"), "nothing")
	ends := func(c changed, want int64) {
		t.Helper()
		if got := int64(number(r, c.limit["hold"])); got != want {
			t.Errorf("hold ends at %d, want %d", got, want)
		}
	}
	first := r.hold(anyRev, strange, "+60000000")
	ends(first, first.now+minute)
	ends(r.hold(anyRev, strange, ""), first.now+minute) // keeps the end
	if c := r.hold(anyRev, strange, "forever"); c.limit["hold"] != "forever" || c.limit["hold_by"] != "anna" || c.limit["hold_reason"] != "why" {
		t.Errorf("%v", c.limit)
	}
	if c := r.hold(anyRev, strange, ""); c.limit["hold"] != "forever" {
		t.Errorf("keeping no end gave %v", c.limit)
	}
	at := r.now() + hour
	ends(r.hold(anyRev, strange, fmt.Sprint(at)), at)
	if c := r.hold(anyRev, strange, "resume"); c.limit["hold"] != "" || c.limit0["hold"] != fmt.Sprint(at) {
		t.Errorf("resume: %v, before %v", c.limit, c.limit0)
	}
	if got := r.take(plain, now1); got.stop != running || got.granted() != 1 {
		t.Errorf("after resume: %+v", got)
	}
	r.hold(anyRev, strange, "+60000000")
	r.back(2 * time.Minute)
	if got := r.take(plain, now1); got.stop != running {
		t.Errorf("after its end: %+v", got)
	}
	r.wantResult("resume what has ended", r.hold(anyRev, strange, "resume"), "nothing")
	if c := r.hold(anyRev, strange, ""); c.limit["hold"] != "forever" {
		t.Errorf("an end that has passed was kept: %v", c.limit)
	}
}

// The level moves on while a bucket is held; an override and a hold don't mix.
func TestHoldAndOverrideLeaveEachOtherAlone(t *testing.T) {
	r := newRig(t)
	r.take(plain, now1)
	r.limit(anyRev, strange, edit{capacity: "5", rate: "2", per: "60000000", end: "+3600000000"})
	over := r.noted()
	r.hold(anyRev, strange, "forever")
	r.limit(anyRev, strange, edit{capacity: "6"})
	f := r.noted()
	if f["hold"] != "forever" || f["hold_by"] != "anna" {
		t.Errorf("an edit touched the hold: %v", f)
	}
	r.hold(anyRev, strange, "resume")
	f = r.noted()
	if f["capacity"] != "6" || f["rate"] != "2" || f["until"] != over["until"] || f["per"] != "60000000" {
		t.Errorf("a resume touched the override: %v", f)
	}
}
