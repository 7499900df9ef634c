package lua_test

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"
)

// What befalls a bucket besides the scripts: time, other hands, other clocks.

func (w *walk) pass() {
	w.elapse(pick(w, "pass", time.Second, 20*time.Second, time.Hour, 23*time.Hour, 40*24*time.Hour))
}

func (w *walk) passBriefly() {
	w.elapse(time.Duration(rapid.IntRange(1, 2000).Draw(w.t, "ms")) * time.Millisecond)
}

// elapse moves all that is stored back by d, and lets expire what would have.
func (w *walk) elapse(d time.Duration) {
	w.Helper()
	for _, key := range w.keys() {
		life, err := w.c.PTTL(w.ctx, key).Result()
		w.ok(err)
		switch {
		case life < 0: // none, or no key
		case life <= d:
			w.ok(w.c.Del(w.ctx, key).Err())
			w.m.forget(key == w.bucket)
		default:
			w.ok(w.c.PExpire(w.ctx, key, life-d).Err())
		}
	}
	w.move("ts", &w.m.ts, d)
	w.move("blocked", &w.m.blocked, d)
	w.move("exp", &w.m.exp, d)
	w.move("turn", &w.m.turn, d)
	if w.m.first.or(0) > 0 {
		w.move("first", &w.m.first, d)
	}
	w.ticket, w.stale = max(0, w.ticket-d.Microseconds()), max(0, w.stale-d.Microseconds())
	w.moveNote("until", &w.m.until, d)
	w.moveNote("hold", &w.m.hold, d)
}

// forget is what an expiry or a deletion of either key means.
func (m *model) forget(bucket bool) {
	if bucket {
		*m = model{
			noted: m.noted, overCapacity: m.overCapacity, overRate: m.overRate, until: m.until,
			hold: m.hold, rev: m.rev, unreadableHold: m.unreadableHold,
		}
		return
	}
	m.noted, m.unreadableHold = false, false
	m.overCapacity, m.overRate, m.until, m.hold, m.rev = cell{}, cell{}, cell{}, cell{}, cell{}
}

func (w *walk) move(field string, c *cell, d time.Duration) {
	w.Helper()
	if !c.sound {
		return
	}
	c.v -= float64(d.Microseconds())
	if field == "ts" {
		w.set(field, seconds(int64(c.v)))
		return
	}
	w.set(field, int64(c.v))
}

func (w *walk) moveNote(field string, c *cell, d time.Duration) {
	w.Helper()
	if c.sound {
		c.v -= float64(d.Microseconds())
		w.note(field, int64(c.v))
	}
}

// spoil writes what can't be into a field that is there.
func (w *walk) spoil() {
	value := pick(w, "value", garbage...)
	record := rapid.Bool().Draw(w.t, "record")
	if !record && !w.m.exists || record && !w.m.noted {
		return
	}
	if record {
		field := pick(w, "field", "capacity", "rate", "until", "rev", "hold")
		w.note(field, value)
		if field == "hold" {
			w.m.hold, w.m.unreadableHold = cell{}, true
			return
		}
		*w.m.recordCells()[field] = readCell(value, true)
		return
	}
	cells := w.m.cells()
	fields := slices.Sorted(maps.Keys(cells))
	fields = slices.DeleteFunc(fields, func(name string) bool { return name == "per" }) // the plain case does not look at it
	field := pick(w, "field", fields...)
	w.set(field, value)
	*cells[field] = readCell(value, true)
}

// clock steps the stored time against the server's, as a failover would.
func (w *walk) clock() {
	by := pick(w, "by", 300*time.Millisecond, 900*time.Millisecond, 1500*time.Millisecond, time.Hour, 400*24*time.Hour, -3*time.Second)
	if w.m.ts.sound {
		w.m.ts.v = float64(w.now() + by.Microseconds())
		w.set("ts", seconds(int64(w.m.ts.v)))
	}
}

// end moves the end of override and hold to about now.
func (w *walk) end() {
	by := pick(w, "by", -2*time.Second, -200*time.Millisecond, -time.Millisecond, 50*time.Millisecond, time.Second)
	at := w.now() + by.Microseconds()
	for field, c := range map[string]*cell{"until": &w.m.until, "hold": &w.m.hold} {
		if c.sound {
			c.v = float64(at)
			w.note(field, at)
		}
	}
}

// owe puts the bucket into debt, as a settlement would.
func (w *walk) owe() {
	if w.m.tokens.sound {
		w.m.tokens.v = pick(w, "owe", -0.3, -5.0, -60)
		w.set("tokens", exact(w.m.tokens.v))
	}
}

// block sets the end of a cooldown by hand, as far ahead as one may be, or further.
func (w *walk) block() {
	if !w.m.exists {
		return
	}
	until := w.now() + pick(w, "until", -second, second, 30*second, day-minute, day+hour-minute, day+hour+minute, 365*day)
	w.m.blocked = num(float64(until))
	w.set("blocked", strconv.FormatInt(until, 10))
}

// queue makes a queue of bookings, or ends it early.
func (w *walk) queue() {
	if !w.m.exists {
		return
	}
	at := w.now() + pick(w, "turn", -second, 200000, second, 3*second, minute, 365*day)
	w.m.turn, w.m.need = num(float64(at)), num(pick(w, "need", 1.0, 0.1, 5, 70))
	w.set("turn", at, "need", exact(w.m.need.v))
	if rapid.Bool().Draw(w.t, "late") {
		first := w.now() - pick(w, "first", 0, 300000, second, minute)
		w.m.first = num(float64(first))
		w.set("first", first)
	}
}

func (w *walk) remove() {
	bucket := rapid.Bool().Draw(w.t, "bucket")
	key := w.record
	if bucket {
		key = w.bucket
		w.m.exists = false
	}
	w.ok(w.c.Del(w.ctx, key).Err())
	w.m.forget(bucket)
}
