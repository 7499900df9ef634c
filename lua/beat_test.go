package lua_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

const (
	workersKey = "bucketctl:workers:{b}"
	beatEach   = 5 * second // what the package bucketctl asks for
)

// beaten is a decoded reply of beat.
type beaten struct{ now, live, next int64 }

func (r *rig) beat(worker string, interval int64) beaten {
	r.Helper()
	v, err := beatScript.Run(r.ctx, r.c, []string{workersKey}, worker, interval).Slice()
	r.ok(err)
	if len(v) != 3 {
		r.Fatalf("beat replied with %v, want 3 items", v)
	}
	return beaten{as[int64](r, v[0]), as[int64](r, v[1]), as[int64](r, v[2])}
}

func (r *rig) until(worker string) int64 {
	r.Helper()
	v, err := r.c.ZScore(r.ctx, workersKey, worker).Result()
	r.ok(err)
	return int64(v)
}

func TestBeatsCountWhoLives(t *testing.T) {
	r := newRig(t)
	for i, want := range []int64{1, 2, 3} {
		got := r.beat(fmt.Sprint("w", i), beatEach)
		if got.live != want || got.next != beatEach {
			t.Errorf("beat %d: %+v, want %d live", i, got, want)
		}
	}
	if got := r.beat("w0", beatEach); got.live != 3 || r.until("w0") != got.now+3*beatEach {
		t.Errorf("another beat: %+v, live until %d", got, r.until("w0"))
	}
	if got := r.beat("w1", 0); got.live != 2 || got.next != 0 {
		t.Errorf("leaving: %+v", got)
	}
	r.ok(r.c.ZAdd(r.ctx, workersKey, redis.Z{Score: float64(r.now() - 1), Member: "w2"}).Err())
	if got := r.beat("w0", beatEach); got.live != 1 {
		t.Errorf("after one's time was over: %+v", got)
	}
	if life := r.life(workersKey); life < 2*hour || life > 4*hour {
		t.Errorf("the registry lives %d s", life/second)
	}
}

// All beats of one bucket stay under 20 a second.
func TestBeatsSlowDownWithTheirNumber(t *testing.T) {
	r := newRig(t)
	far := r.now() + hour
	for _, tt := range []struct{ others, next int64 }{{9, beatEach}, {99, beatEach}, {399, 20 * second}, {3999, 200 * second}} {
		r.ok(r.c.Del(r.ctx, workersKey).Err())
		members := make([]redis.Z, tt.others)
		for i := range members {
			members[i] = redis.Z{Score: float64(far), Member: i}
		}
		r.ok(r.c.ZAdd(r.ctx, workersKey, members...).Err())
		got := r.beat("me", beatEach)
		if got.live != tt.others+1 || got.next != tt.next || r.until("me") != got.now+3*got.next {
			t.Errorf("with %d others: %+v, want an interval of %d", tt.others, got, tt.next)
		}
	}
}

// Entries from before a clock stepped back would count for as long as it did.
func TestBeatsTakeOutWhatCannotBe(t *testing.T) {
	r := newRig(t)
	r.ok(r.c.ZAdd(r.ctx, workersKey, redis.Z{Score: float64(r.now() + day), Member: "old"}, redis.Z{Score: float64(r.now() + day), Member: "me"}).Err())
	if got := r.beat("me", beatEach); got.live != 1 || r.until("me") != got.now+3*beatEach {
		t.Errorf("%+v, live until %d", got, r.until("me"))
	}
}

func TestBeatRefusals(t *testing.T) {
	r := newRig(t)
	run := func(args ...any) error { return beatScript.Run(r.ctx, r.c, []string{workersKey}, args...).Err() }
	refused := func(err error, word string) bool { return err != nil && strings.HasPrefix(err.Error(), word+" ") }
	for _, bad := range []string{"-1", "nan", "inf", "abc", "", "3600000001"} {
		if err := run("me", bad); !refused(err, "ERR") {
			t.Errorf("interval %q: %v", bad, err)
		}
	}
	if err := run("", beatEach); !refused(err, "ERR") {
		t.Errorf("no name: %v", err)
	}
	r.ok(r.c.Set(r.ctx, workersKey, "5", 0).Err())
	if err := run("me", beatEach); !refused(err, "WRONGTYPE") {
		t.Errorf("a string: %v", err)
	}
}
