package lua_test

import (
	"fmt"
	"maps"
	"testing"
)

// A bucket that nobody knows can't be changed, only by a slip of the pen.
func TestUnknownBuckets(t *testing.T) {
	r := newRig(t)
	for what, got := range map[string]changed{
		"limit":       r.limit(anyRev, strange, edit{capacity: "5"}),
		"hold":        r.hold(anyRev, strange, "forever"),
		"resume":      r.hold(anyRev, strange, "resume"),
		"reset full":  r.reset(anyRev, strange, "full"),
		"reset empty": r.reset(anyRev, strange, "empty"),
		"reset 3":     r.reset(anyRev, strange, "3"),
		"delete":      r.reset(anyRev, strange, "delete"),
	} {
		r.wantResult(what, got, "unknown")
		if got.kind != "none" || len(got.bucket)+len(got.limit) != 0 {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if n := r.c.DBSize(r.ctx).Val(); n != 0 {
		t.Errorf("%d keys were written", n)
	}
}

// A registered bucket without state can be prepared: its override, its hold
// and its level wait for the first worker.
func TestListedBucketsWithoutState(t *testing.T) {
	r := newRig(t)
	t.Run("override", func(t *testing.T) {
		r := r.under(t)
		r.wantResult("limit", r.limit(0, listed, edit{capacity: "3", end: "forever"}), "ok")
		if got := r.take(limits{capacity: 10, rate: 0.001}, times(9, now1)...); got.granted() != 3 {
			t.Errorf("granted %d, want the override's 3", got.granted())
		}
	})
	t.Run("hold", func(t *testing.T) {
		r := r.under(t)
		r.wantResult("hold", r.hold(0, listed, "forever"), "ok")
		if got := r.take(plain, now1); got.stop != heldUp {
			t.Errorf("%+v", got)
		}
	})
	t.Run("level", func(t *testing.T) {
		r := r.under(t)
		r.wantResult("reset full", r.reset(0, listed, "full"), "foreign")
		r.wantResult("reset", r.reset(0, listed, "4"), "ok")
		if life := r.life(r.bucket); life < day-slack {
			t.Errorf("lives %d s", life/second)
		}
		if got := r.take(limits{capacity: 10, rate: 0.001}, times(9, now1)...); got.granted() != 4 || got.mended != 0 {
			t.Errorf("granted %d, mended %d, want the 4 of the reset", got.granted(), got.mended)
		}
	})
	t.Run("delete", func(t *testing.T) { // its caller takes it out of the registry
		r := r.under(t)
		r.limit(0, listed, edit{capacity: "3", end: "forever"})
		before := r.dump()
		if got := r.reset(1, listed, "delete"); got.result != "conflict" {
			t.Errorf("deleted over a newer record: %+v", got)
		}
		got := r.reset(anyRev, listed, "delete")
		r.wantResult("delete", got, "ok")
		if after := r.dump(); got.kind != "none" || len(got.bucket) != 0 || after != before {
			t.Errorf("%+v, and Redis holds %s, before %s", got, after, before)
		}
	})
	t.Run("a record alone makes it known", func(t *testing.T) {
		r := r.under(t)
		r.limit(0, listed, edit{capacity: "3", rate: "1", end: "forever"})
		r.wantResult("hold", r.hold(anyRev, strange, "forever"), "ok")
		r.wantResult("reset", r.reset(anyRev, strange, "full"), "ok")
		r.wantLevel("full is the override's", r.field("tokens"), 3)
		r.wantResult("limit", r.limit(anyRev, strange, edit{capacity: "declared", rate: "declared"}), "ok")
	})
}

// Deleting the state by hand is harmless: the override stays in force.
func TestDeletedStateBeginsAgain(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 0.001}
	r.take(l, ask{n: 10})
	r.limit(anyRev, strange, edit{capacity: "4", end: "forever"})
	for _, how := range []func(){
		func() { r.ok(r.c.Del(r.ctx, r.bucket).Err()) },
		func() { r.wantResult("delete", r.reset(anyRev, strange, "delete"), "ok") },
	} {
		how()
		if got := r.take(l, times(9, now1)...); got.granted() != 4 || got.mended != 0 || r.field("granted") != 4 {
			t.Errorf("granted %d, want the override's 4", got.granted())
		}
	}
}

// A bucket that some other program writes has a level and a time, no more. Its
// workers read no record, so that there is nothing to set but its level.
func TestForeignBuckets(t *testing.T) {
	r := newRig(t)
	foreign := func(r *rig) {
		r.set("tokens", "2.5", "ts", seconds(r.now()))
	}
	t.Run("no override, no hold, not full", func(t *testing.T) {
		r := r.under(t)
		foreign(r)
		before := r.dump()
		r.wantResult("limit", r.limit(anyRev, strange, edit{capacity: "5"}), "foreign")
		r.wantResult("hold", r.hold(anyRev, strange, "forever"), "foreign")
		r.wantResult("resume", r.hold(anyRev, strange, "resume"), "foreign")
		r.wantResult("full", r.reset(anyRev, strange, "full"), "foreign")
		if after := r.dump(); after != before {
			t.Errorf("changed to %s", after)
		}
	})
	for to, want := range map[string]string{"empty": "0", "7": "7", "0.5": "0.5"} {
		t.Run("reset to "+to, func(t *testing.T) {
			r := r.under(t)
			foreign(r)
			r.set("ts", seconds(r.now()+day))
			got := r.reset(anyRev, strange, to)
			r.wantResult("reset", got, "ok")
			if !maps.Equal(got.bucket, map[string]string{"tokens": want, "ts": seconds(got.now)}) {
				t.Errorf("the bucket is %v", got.bucket)
			}
			if life := r.life(r.bucket); life != -1 {
				t.Errorf("its expiry was set to %d, which is its writer's", life)
			}
		})
	}
	t.Run("values that can't be", func(t *testing.T) {
		r := r.under(t)
		r.set("tokens", "nan", "ts", seconds(r.now()))
		r.wantResult("limit", r.limit(anyRev, strange, edit{capacity: "5"}), "foreign")
		r.wantResult("reset", r.reset(anyRev, strange, "2"), "ok")
		if f := r.fields(); f["tokens"] != "2" || len(f) != 2 {
			t.Errorf("the bucket is %v", f)
		}
	})
	t.Run("delete", func(t *testing.T) {
		r := r.under(t)
		foreign(r)
		r.wantResult("delete", r.reset(anyRev, strange, "delete"), "ok")
	})
}

// A worker of ours adopts such a bucket: same level, its own limit.
func TestForeignBucketsAreAdopted(t *testing.T) {
	r := newRig(t)
	now := r.now()
	// Doubles as the first writers print them, and a time without a fraction.
	for _, ts := range []string{fmt.Sprintf("%.17g", float64(now)/1e6), fmt.Sprint(now / second), seconds(now)} {
		r := r.under(t)
		r.set("tokens", "2.5000000000000004", "ts", ts)
		got := r.take(limits{capacity: 10, rate: 0.001, gen: genNow}, times(5, now1)...)
		if got.granted() != 2 || got.mended != 0 || got.capacity != 10 {
			t.Errorf("ts %s: granted %d, mended %d", ts, got.granted(), got.mended)
		}
		if f := r.fields(); f["capacity"] != "10" || f["gen"] == "" || r.life(r.bucket) < day {
			t.Errorf("ts %s: stored %v", ts, f)
		}
	}
}

// The highest generation wins, whoever asks last; equal: the stored one stays.
func TestGenerations(t *testing.T) {
	r := newRig(t)
	steps := []struct {
		gen      int64
		capacity float64
		want     float64
	}{
		{5, 10, 10}, {4, 20, 10}, {5, 20, 10}, {6, 30, 30}, {5, 10, 30}, {genNow, 40, 40}, {7, 50, 40},
	}
	for i, s := range steps {
		got := r.take(limits{capacity: s.capacity, rate: 1, gen: s.gen}, now1)
		if got.capacity != s.want || r.field("capacity") != s.want {
			t.Errorf("step %d: capacity %v, stored %v, want %v", i, got.capacity, r.field("capacity"), s.want)
		}
		if want := s.gen; want != genNow && got.gen != want || want == genNow && got.gen != got.now {
			t.Errorf("step %d: generation %d, want %d", i, got.gen, want)
		}
	}
}
