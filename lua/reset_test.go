package lua_test

import (
	"testing"
	"time"
)

// garbage are values that can't be.
var garbage = []string{"nan", "-nan", "inf", "-inf", "abc", "", "1e400", "0x10", "0x1p4", " 0X10", "-0x1", "1 2", "5,5", "0b1", "--5", "1e", "5\x00", "5\x00x"}

// numbered are the fields of a bucket that have to hold a number.
var numbered = []string{"tokens", "ts", "granted", "capacity", "rate", "per", "gen", "blocked"}

// Whatever stands in a field, a reset heals it, and the next take goes by it.
func TestResetHealsValuesThatCannotBe(t *testing.T) {
	r := newRig(t)
	for _, field := range append(numbered, "turn", "need", "exp") {
		for _, value := range garbage {
			t.Run(field+" "+value, func(t *testing.T) {
				r := r.under(t)
				r.take(plain, now1)
				r.set(field, value)
				r.wantResult("reset", r.reset(anyRev, strange, "7"), "ok")
				got := r.take(plain, now1)
				if got.mended != 0 || got.outcomes[0].code != charged {
					t.Errorf("mended %d, code %d: the reset left something to mend", got.mended, got.outcomes[0].code)
				}
				if got.level < 6 || got.level > 6+2 {
					t.Errorf("level %v after a reset to 7 and a take of 1, want 6", got.level)
				}
			})
		}
	}
}

// All at once, with no limit that could be read.
func TestResetHealsABucketThatIsWrongThroughout(t *testing.T) {
	r := newRig(t)
	r.take(plain, now1)
	for _, field := range append(numbered, "exp") {
		r.set(field, "nan")
	}
	r.wantResult("full without a limit", r.reset(anyRev, listed, "full"), "foreign")
	r.wantResult("reset", r.reset(anyRev, listed, "7"), "ok")
	if got := r.take(plain, now1); got.mended != 0 || got.granted() != 1 || got.level > 8 || got.level < 6 {
		t.Errorf("the next take: %+v, want a level of 6 and nothing to mend", got)
	}
}

// A hash of some other program is no bucket, and has to stay as it is.
func TestResetLeavesHashesThatAreNoBucket(t *testing.T) {
	r := newRig(t)
	r.set("name", "anna", "mail", "anna@example.org")
	before := r.dump()
	for _, to := range []string{"full", "empty", "3"} {
		r.wantResult("reset to "+to, r.reset(anyRev, strange, to), "wrongtype")
	}
	if after := r.dump(); after != before {
		t.Errorf("the hash was %s, and is %s", before, after)
	}
}

func TestResetHealsStuckBuckets(t *testing.T) {
	r := newRig(t)
	slow := limits{capacity: 10, rate: 0.001}
	causes := map[string]func(r *rig){
		"drained":          func(r *rig) { r.take(slow, ask{n: 10}) },
		"ts a day ahead":   func(r *rig) { r.set("ts", seconds(r.now()+day)) },
		"ts a year ahead":  func(r *rig) { r.set("ts", seconds(r.now()+365*day)) },
		"a heavy debt":     func(r *rig) { r.set("tokens", "-1e9") },
		"blocked too far":  func(r *rig) { r.set("blocked", r.now()+365*day) },
		"turn and need":    func(r *rig) { r.set("turn", r.now()+365*day, "need", "1e9"); r.take(slow, ask{n: 10}) },
		"expiry forgotten": func(r *rig) { r.ok(r.c.Persist(r.ctx, r.bucket).Err()); r.set("tokens", "0") },
	}
	for name, spoil := range causes {
		for _, to := range []string{"full", "empty", "4"} {
			t.Run(name+" to "+to, func(t *testing.T) {
				r := r.under(t)
				r.take(slow, now1)
				spoil(r)
				got := r.reset(anyRev, strange, to)
				r.wantResult("reset", got, "ok")
				want := map[string]float64{"full": 10, "empty": 0, "4": 4}[to]
				r.wantLevel("reply", number(r, got.bucket["tokens"]), want)
				if _, there := got.bucket["turn"]; there {
					t.Errorf("turn is still there: %v", got.bucket)
				}
				if after := r.take(slow, times(12, now1)...); after.granted() != int(want) || after.mended != 0 {
					t.Errorf("granted %d, mended %d after a reset to %s", after.granted(), after.mended, to)
				}
				if life := r.life(r.bucket); life < day {
					t.Errorf("lives %v hours", life/hour)
				}
			})
		}
	}
}

func TestResetTouchesNeitherHoldNorOverrideNorCooldown(t *testing.T) {
	r := newRig(t)
	r.take(plain, now1)
	r.limit(anyRev, strange, edit{capacity: "5", rate: "2", per: "60000000", end: "+3600000000"})
	r.hold(anyRev, strange, "+60000000")
	until := r.now() + 30*second
	r.set("blocked", until, "blocked_by", "w1")
	record := r.noted()
	for _, to := range []string{"full", "empty", "3", "99"} {
		got := r.reset(anyRev, strange, to)
		r.wantResult("reset to "+to, got, "ok")
		if len(got.limit) != len(record) || len(r.noted()) != len(record) || got.limit["rev"] != record["rev"] {
			t.Errorf("reset to %s changed the record from %v to %v", to, record, r.noted())
		}
		if r.field("blocked") != float64(until) || r.fields()["blocked_by"] != "w1" {
			t.Errorf("reset to %s touched the cooldown: %v", to, r.fields())
		}
	}
	r.wantLevel("99 of 5", r.field("tokens"), 5)
	r.back(20 * time.Second)
	if got := r.take(plain, now1); got.stop != heldUp {
		t.Errorf("stop %d after resets, want it held", got.stop)
	}
}
