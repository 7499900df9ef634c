package lua_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"bucketop/lua"
)

var takeAllScript = redis.NewScript(lua.TakeAll())

// wanted is one request of take_all: tokens of each bucket.
type wanted struct {
	each     []float64
	patience int64
}

// member is one bucket of a set: where it lies, and what was declared.
type member struct {
	*rig
	limits
	ticket int64
}

// of is a bucket beside the rig's own, in its slot.
func (r *rig) of(key string, l limits) *member {
	other := *r
	other.bucket, other.record = key, "bucketctl:limit:="+key
	return &member{&other, l, 0}
}

// told is what take_all says of a request.
type told struct {
	outcome
	by int64
}

// taken by take_all: of each bucket as take says it, and of each request.
type takenAll struct {
	each []taken
	told []told
}

func takeAllArguments(members []*member, ahead int64, asks []wanted) (keys []string, args []any) {
	args = []any{ahead}
	for _, m := range members {
		keys = append(keys, m.bucket, m.record)
		args = append(append(args, m.args()...), m.ticket)
	}
	for _, a := range asks {
		var text strings.Builder
		for _, n := range a.each {
			text.WriteString(exact(n) + ":")
		}
		args = append(args, text.String()+strconv.FormatInt(a.patience, 10))
	}
	return keys, args
}

func takeAll(f failer, members []*member, asks ...wanted) takenAll {
	f.Helper()
	return takeAllAhead(f, members, horizon, asks...)
}

func takeAllAhead(f failer, members []*member, ahead int64, asks ...wanted) takenAll {
	f.Helper()
	keys, args := takeAllArguments(members, ahead, asks)
	v, err := takeAllScript.Run(members[0].ctx, members[0].c, keys, args...).Slice()
	if err != nil {
		f.Fatalf("take_all with %q %q: %v", keys, args, err)
	}
	head := 2 + 10*len(members)
	if len(v) == head {
		for range asks {
			v = append(v, int64(0), int64(0), int64(1))
		}
	}
	if len(v) != head+3*len(asks) {
		f.Fatalf("take_all replied with %d items for %d requests: %v", len(v), len(asks), v)
	}
	var out takenAll
	for b, m := range members {
		integer := func(i int) int64 { return as[int64](f, v[2+10*b+i]) }
		float := func(i int) float64 { return number(f, as[string](f, v[2+10*b+i])) }
		out.each = append(out.each, taken{
			now: as[int64](f, v[0]), ask: as[int64](f, v[1]), mended: integer(0), stop: integer(1), stopEnd: integer(2), ticket: integer(3),
			gen: integer(4), rev: integer(5), overEnd: integer(6), level: float(7), capacity: float(8), rate: float(9),
		})
		m.ticket = integer(3)
	}
	for i := range asks {
		at := head + 3*i
		out.told = append(out.told, told{outcome{as[int64](f, v[at]), as[int64](f, v[at+1])}, as[int64](f, v[at+2])})
	}
	return out
}

// The charge of a bucket whose tokens are there before the others' is exactly
// what it would be at the start: here 20 s after the levels were set.
func TestAChargeBeforeItsStartGainsNothing(t *testing.T) {
	r := newRig(t)
	full, slow := limits{capacity: 10, rate: 0.2}, limits{capacity: 10, rate: 0.05}
	for _, level := range []float64{10, 9, 7, 5} {
		r := r.under(t)
		a, b := r.of("{x}a", full), r.of("{x}b", slow)
		members := []*member{a, b}
		takeAll(t, members)
		now := seconds(r.now())
		a.set("tokens", exact(level), "ts", now)
		b.set("tokens", "0", "ts", now)
		got := takeAllAhead(t, members, 100*horizon, wanted{[]float64{4, 1}, endless})
		wait := float64(got.told[0].wait)
		if got.told[0].code != charged || got.told[0].by != 2 || wait < 10e6 || wait > 20e6 {
			t.Fatalf("level %v: %+v, want it charged with the second bucket's wait", level, got.told)
		}
		atStart := got.each[0].level + full.rate*wait/1e6
		want := math.Min(10, level+full.rate*20) - 4
		if math.Abs(atStart-want) > 1e-5 {
			t.Errorf("level %v: %v at the start, want %v", level, atStart, want)
		}
	}
}

// What one bucket refuses is charged and booked nowhere, and the reply names it.
func TestRefusalsOfOneBucketTouchNone(t *testing.T) {
	r := newRig(t)
	a, b := r.of("{x}a", limits{capacity: 10, rate: 1}), r.of("{x}b", limits{capacity: 5, rate: 1e-3})
	members := []*member{a, b}
	takeAll(t, members, wanted{[]float64{1, 4}, 0})
	before := a.dump() + b.dump()
	got := takeAll(t, members, wanted{[]float64{1, 3}, 0}, wanted{[]float64{11, 1}, endless}, wanted{[]float64{1, 6}, endless}, wanted{[]float64{1, 3}, second})
	for i, want := range []told{{outcome{refusedNow, 0}, 2}, {outcome{impossible, 0}, 1}, {outcome{impossible, 0}, 2}, {outcome{refusedNow, 0}, 2}} {
		if got.told[i].code != want.code || got.told[i].by != want.by {
			t.Errorf("request %d: %+v, want code %d by bucket %d", i, got.told[i], want.code, want.by)
		}
	}
	if after := a.dump() + b.dump(); after != before {
		t.Errorf("refusals changed\n%s to\n%s", before, after)
	}
}

func TestArgumentsOfTakeAllOutOfRangeAreRefused(t *testing.T) {
	r := newRig(t)
	a, b := r.of("{x}a", plain), r.of("{x}b", plain)
	members := []*member{a, b}
	takeAll(t, members, wanted{[]float64{1, 1}, 0})
	before := a.dump() + b.dump()
	keys, good := takeAllArguments(members, horizon, nil)
	refused := func(word, what string, keys []string, args ...any) {
		err := takeAllScript.Run(r.ctx, r.c, keys, args...).Err()
		if err == nil || !strings.HasPrefix(err.Error(), word+" ") || strings.Contains(err.Error(), "script:") {
			t.Errorf("%s: %v, want %s", what, err, word)
		}
	}
	for _, text := range []string{"", "1", "1:1", "1:1:1:1", "0:1:5", "1:-1:5", "1:nan:5", "1:0x10:5", "1:1:1.5", "1:1:-1", ":1:1:1", "1::1:1", "1:1:", "1e3:1:0", "1:9.1e15:0"} {
		refused("ERR", text, keys, append(good[:len(good):len(good)], text)...)
	}
	for i := range good {
		for _, bad := range []string{"-1", "nan", "inf", "abc", "", "0x10", "1e400"} {
			if i%5 == 4 || i%5 == 3 { // gen and per may be below 0, as take's
				if bad == "-1" {
					continue
				}
			}
			args := append([]any(nil), good...)
			args[i] = bad
			refused("ERR", strconv.Itoa(i)+" is "+bad, keys, args...)
		}
	}
	refused("ERR", "a key too few", keys[:3], good...)
	r.ok(r.c.Set(r.ctx, "{x}c", "5", 0).Err())
	refused("WRONGTYPE", "a text", []string{keys[0], keys[1], "{x}c", keys[3]}, append(good, "1:1:0")...)
	if after := a.dump() + b.dump(); after != before {
		t.Errorf("what was refused changed\n%s to\n%s", before, after)
	}
}

// The demo may have to run on miniredis.
func TestTakeAllOnMiniredis(t *testing.T) {
	fake := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: fake.Addr(), MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = client.Close() })
	real := newRig(t)
	for _, asks := range [][]wanted{
		{{[]float64{1, 2}, 0}}, {{[]float64{9, 1}, 0}, {[]float64{1, 4}, 0}}, {{[]float64{4, 1}, endless}, {[]float64{1, 1}, 0}}, {{[]float64{1, 11}, 0}},
	} {
		var replies [2]takenAll
		for i, r := range []*rig{real, rigOn(t, client)} {
			members := []*member{r.of("{x}a", slow), r.of("{x}b", slow)}
			replies[i] = takeAll(t, members, asks...)
		}
		for i := range asks {
			a, b := replies[0].told[i], replies[1].told[i]
			if a.code != b.code || a.by != b.by || math.Abs(float64(a.wait-b.wait)) > 1e6+1e-6*float64(a.wait) {
				t.Errorf("%v: redis %+v, miniredis %+v", asks[i], a, b)
			}
		}
		for b := range 2 {
			if x, y := replies[0].each[b].level, replies[1].each[b].level; math.Abs(x-y) > 1e-3 {
				t.Errorf("%v: level %v on redis, %v on miniredis", asks, x, y)
			}
		}
	}
}
