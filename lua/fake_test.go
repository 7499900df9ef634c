package lua_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// The demo may have to run on miniredis, whose Lua is another one. Whatever it
// answers has to be what a real server answers, but for the time of day.
func TestScriptsBehaveOnMiniredisAsOnRedis(t *testing.T) {
	fake := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: fake.Addr(), MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = client.Close() })
	real := &recorder{rig: rigOn(t, redistest.Start(t).Client(t))}
	mini := &recorder{rig: rigOn(t, client)}
	for _, story := range []func(*recorder){windows, takesAndEdits, stops, beats, damage, wrongTypes} {
		for _, r := range []*recorder{real, mini} {
			r.under(t)
			story(r)
		}
	}
	if len(real.lines) < 60 {
		t.Fatalf("only %d lines to compare", len(real.lines))
	}
	cause := "nothing"
	for i, want := range real.lines {
		if strings.HasPrefix(want, "set") || strings.HasPrefix(want, "note") {
			cause = want
		}
		if got := mini.lines[i]; got != want {
			t.Errorf("line %d, after %s: miniredis says\n%s, redis\n%s", i, cause, got, want)
		}
	}
}

// recorder writes down what a server answers, with times made relative.
type recorder struct {
	*rig
	lines []string
}

// slow fills so slowly that the time between calls does not show.
var slow = limits{capacity: 10, rate: 1e-7}

// say records values; floats to six digits, moments relative to now.
func (r *recorder) say(now int64, what string, values ...any) {
	line := what
	for _, v := range values {
		line += " " + r.plain(now, v)
	}
	r.lines = append(r.lines, line)
}

func (r *recorder) plain(now int64, v any) string {
	switch v := v.(type) {
	case int64:
		if math.Abs(float64(v-now)) < float64(1000*day) {
			return fmt.Sprintf("now%+ds", int64(math.Round(float64(v-now)/float64(minute)))*60)
		}
		return strconv.FormatInt(v, 10)
	case float64:
		if v > 1e-6 {
			v = math.Round(v*1e6) / 1e6 // what accrues between two calls
		} else if v != slow.rate {
			v = 0
		}
		return strconv.FormatFloat(v, 'g', 6, 64)
	case map[string]string:
		line := "{"
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text := v[name]
			if x, err := strconv.ParseFloat(text, 64); err == nil && name != "hold" {
				if name == "ts" {
					x *= 1e6
				}
				if math.Abs(x-float64(now)) < float64(1000*day) {
					text = r.plain(now, int64(x))
				} else {
					text = r.plain(now, x)
				}
			} else if err == nil {
				text = r.plain(now, int64(x))
			}
			line += name + "=" + text + " "
		}
		return line + "}"
	}
	return fmt.Sprint(v)
}

func (r *recorder) takes(l limits, asks ...ask) {
	got := r.take(l, asks...)
	r.say(got.now, "take", got.mended, got.stop, got.stopEnd, got.ticket, got.gen, got.overEnd, got.level, got.capacity, got.rate)
	for _, o := range got.outcomes {
		r.say(got.now, "request", o.code, coarse(o.wait))
	}
	r.say(got.now, "stored", r.fields())
}

// coarse is a wait in seconds, a long one in whole minutes: the time between two
// calls must not show.
func coarse(wait int64) float64 {
	if unit := float64(minute); float64(wait) > 10*unit {
		return math.Round(float64(wait)/unit) * 60
	}
	return math.Round(float64(wait) / 1e6)
}

func (r *recorder) gives(why string, tokens float64) {
	got := r.give(slow, why, tokens, r.now())
	r.say(got.now, "give", got.tokens, got.level, r.fields())
}

func (r *recorder) changes(c changed) {
	ttl := "none"
	if c.pttl > 0 {
		ttl = time.Duration(c.pttl * 1e6).Round(time.Minute).String()
	}
	r.say(c.now, "change", c.result, c.kind, c.bucket0, c.limit0, c.bucket, c.limit, ttl)
}

func takesAndEdits(r *recorder) {
	r.takes(slow, now1, ask{n: 3}, ask{n: 1e-5}, ask{n: 20}, ask{n: 6.5}, ask{n: 1, patience: endless}, now1)
	r.gives("refund", 2)
	r.gives("settle", -5)
	r.gives("debit", 1)
	r.changes(r.limit(0, strange, edit{capacity: "4", rate: "1e-7", per: "60000000", end: "+3600000000"}))
	r.changes(r.limit(0, strange, edit{capacity: "5"}))
	r.takes(slow, now1, ask{n: 5})
	r.changes(r.reset(anyRev, strange, "full"))
	r.takes(slow, times(5, now1)...)
	r.back(2 * time.Hour)
	r.takes(slow, now1)
	r.changes(r.limit(anyRev, strange, edit{capacity: "declared"}))
	r.changes(r.reset(anyRev, strange, "delete"))
	r.changes(r.reset(anyRev, strange, "delete"))
}

func stops(r *recorder) {
	r.changes(r.hold(anyRev, strange, "forever"))
	r.takes(slow, now1)
	r.changes(r.hold(anyRev, strange, "+60000000"))
	r.takes(slow, now1, ask{n: 1, patience: endless})
	r.changes(r.hold(anyRev, strange, "resume"))
	r.changes(r.hold(anyRev, strange, "resume"))
	for _, length := range []int64{hour, hour / 2, 2 * day} {
		got := r.cool(slow, length)
		r.say(got.now, "cool", got.moved/second, got.blocked, got.level, r.fields())
		r.takes(slow, now1, ask{n: 1, patience: endless})
	}
}

func beats(r *recorder) {
	for _, worker := range []string{"w1", "w2", "w1"} {
		got := r.beat(worker, beatEach)
		r.say(got.now, "beat", got.live, got.next, r.until(worker))
	}
	r.say(0, "leave", r.beat("w1", 0).live)
	r.ok(r.c.Set(r.ctx, workersKey, "5", 0).Err())
	r.say(0, "beat", beatScript.Run(r.ctx, r.c, []string{workersKey}, "w1", beatEach).Err())
}

func damage(r *recorder) {
	for _, field := range numbered {
		values := append([]string{"1e16", "infinity", "nan(1)", "1e-05"}, garbage...)
		if field != "rate" { // 5 a second would show the time between calls
			values = append(values, " 5", "5.", "+5", "05", "5e0")
		}
		for _, value := range values {
			r.ok(r.c.FlushDB(r.ctx).Err())
			r.takes(slow, ask{n: 4})
			r.say(0, "set", field, strconv.Quote(value))
			r.set(field, value)
			r.takes(slow, now1)
			r.takes(slow, now1)
		}
	}
	r.set("ts", seconds(r.now()+hour))
	r.takes(slow, now1)
	for _, value := range append([]string{"1e-05"}, garbage...) {
		r.set("tokens", "5")
		for _, field := range []string{"capacity", "rate", "until", "hold", "rev"} {
			r.ok(r.c.Del(r.ctx, r.record).Err())
			r.say(0, "note", field, strconv.Quote(value))
			r.note("capacity", "7", field, value)
			r.takes(slow, now1)
		}
	}
}

func wrongTypes(r *recorder) {
	for _, name := range slices.Sorted(maps.Keys(otherTypes(r.rig))) {
		r.ok(r.c.FlushDB(r.ctx).Err())
		if name == "kind" {
			continue // its line breaks are escaped by the real one alone
		}
		r.ok(otherTypes(r.rig)[name]())
		err := takeScript.Run(r.ctx, r.c, r.keys(), append(plain.args(), horizon, 0, "1:0")...).Err()
		r.say(0, name, err)
		err = takeScript.Run(r.ctx, r.c, r.keys(), append(plain.args(), horizon, 0, "x")...).Err()
		r.say(0, name, err)
	}
}

func windows(r *recorder) {
	hourly := span{limit: 10, per: hour}
	takes := func(asks ...ask) {
		got := r.takeSpan(hourly, 0, 0, asks...)
		r.say(got.now, "window", got.mended, got.stop, got.level, got.capacity, got.overEnd)
		for _, o := range got.outcomes {
			r.say(got.now, "request", o.code, math.Round(float64(o.wait)/1e6))
		}
	}
	takes(now1, ask{n: 2.5}, ask{n: 11}, now1)
	got := r.giveSpan(hourly, "settle", -3, r.now())
	r.say(got.now, "give", got.tokens, got.level)
	r.changes(r.limit(anyRev, listed, edit{capacity: "8"}))
	takes(now1, now1)
	r.ok(r.c.Del(r.ctx, r.log).Err())
	takes(now1)
	r.changes(r.reset(anyRev, listed, "2.5"))
	takes(now1, now1, now1)
}
