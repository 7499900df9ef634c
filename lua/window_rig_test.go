package lua_test

import (
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// span is what a caller declared of a window: so many tokens in so many
// microseconds.
type span struct {
	limit float64
	per   int64
	gen   int64
}

func (s span) args() []any {
	gen := s.gen
	switch gen {
	case 0:
		gen = 1
	case genNow:
		gen = 0
	}
	return []any{exact(s.limit), exact(s.limit / float64(s.per) * 1e6), s.per, gen}
}

func (r *rig) takeSpan(s span, horizon, ticket int64, asks ...ask) taken {
	r.Helper()
	args := append(append(s.args(), horizon, ticket), requests(asks)...)
	return r.decode(r.run(windowTakeScript, args...), args, len(asks))
}

func (r *rig) giveSpan(s span, why string, tokens float64, start int64) given {
	r.Helper()
	v := r.run(windowGiveScript, append(s.args(), why, exact(tokens), start)...)
	if len(v) != 3 {
		r.Fatalf("window_give replied with %v, want 3 items", v)
	}
	return given{now: as[int64](r, v[0]), tokens: number(r, v[1]), level: number(r, v[2])}
}

// logged is one member of a window's log.
type logged struct {
	at int64
	n  float64
}

// starts are the members of the log, oldest first.
func (r *rig) starts() []logged {
	r.Helper()
	members, err := r.c.ZRangeWithScores(r.ctx, r.log, 0, -1).Result()
	r.ok(err)
	var out []logged
	for _, z := range members {
		member := as[string](r, z.Member)
		weight, at, _ := strings.Cut(member, ":")
		if at != strconv.FormatInt(int64(z.Score), 10) {
			r.Errorf("member %q has the score %v", member, z.Score)
		}
		out = append(out, logged{at: int64(z.Score), n: number(r, weight)})
	}
	return out
}

// backWindow lets d pass without waiting, for a window too.
func (r *rig) backWindow(d time.Duration) {
	r.Helper()
	r.back(d)
	r.shift(r.bucket, r.fields(), "paid", d.Microseconds())
	members := r.starts()
	life, err := r.c.PTTL(r.ctx, r.log).Result()
	r.ok(err)
	if len(members) == 0 {
		return
	}
	r.ok(r.c.Del(r.ctx, r.log).Err())
	for _, m := range members {
		at := m.at - d.Microseconds()
		weight := strconv.FormatFloat(m.n, 'f', -1, 64)
		r.ok(r.c.ZAdd(r.ctx, r.log, redis.Z{Score: float64(at), Member: weight + ":" + strconv.FormatInt(at, 10)}).Err())
	}
	r.ok(r.c.PExpire(r.ctx, r.log, life).Err())
}
