package lua_test

import (
	"fmt"
	"testing"
)

// crowds is a world without trouble: always more callers than tokens.
type crowds struct {
	*world
	limit limits
	round float64 // seconds until everybody had its turn
	least float64 // part of what accrues that is used
}

func constant(n float64) func() float64 { return func() float64 { return n } }

// crowded makes such a world. What they want is 1 each, anything up to the
// capacity, or 1 and sometimes the whole bucket.
func crowded(seed uint64) *crowds {
	slowest := oneOf(seed, int64(100), 5000, 200000)
	w := newWorld(seed, slowest)
	c := &crowds{world: w, least: 0.99, limit: limits{capacity: oneOf(w.Uint64(), 1.0, 5, 20, 100), rate: oneOf(w.Uint64(), 1.0, 5, 50, 200)}}
	capacity, kind := c.limit.capacity, w.IntN(3)
	processes := 1 + w.IntN(60)
	if slowest > horizon/2 { // one alone can't charge ahead as far as its calls take
		processes = max(processes, 8)
		c.least = 0.93 // who wants the whole bucket comes late for a part of it
	}
	for range processes {
		n, most := constant(1), 1.0
		switch {
		case kind == 1:
			n, most = func() float64 { return capacity * (0.01 + 0.99*w.Float64()) }, capacity
		case kind == 2 && w.IntN(4) == 0:
			n, most = constant(capacity), capacity
		}
		c.round += max(most/c.limit.rate, float64(horizon)/1e6)
		w.birth(c.limit).crowd(3+w.IntN(20)+int(2*c.limit.rate)/processes, habit{n: n})
	}
	return c
}

// kept is what has accrued so far and was not lost at the brim.
func (s *bucketServer) kept() float64 { return s.m.granted.or(0) + s.level() }

// Nearly all that accrues is used, and whoever waits is served within two
// rounds and a second, whatever it and the others want.
func TestWorldIsFair(t *testing.T) {
	for seed := range uint64(45) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { fairly(t, seed) })
	}
}

func fairly(t *testing.T, seed uint64) {
	t.Helper()
	w := crowded(seed)
	begin := 10 * second
	w.run(begin)
	before := w.server.kept()
	span := int64(max(20, 3*w.round) * 1e6)
	w.run(begin + span)
	w.wantBound(t)
	w.wantOrder(t)
	if used := (w.server.kept() - before) / (w.limit.rate * float64(span) / 1e6); used < w.least {
		w.fail(t, "%.3f of what accrued was used", used)
	}
	for _, p := range w.processes {
		waited := float64(max(p.longest, w.now-p.since)) / 1e6
		if waited > 2*(w.round+w.limit.capacity/w.limit.rate)+1 { // a second for calls that come late
			w.fail(t, "process %d waited %.1f s, a round takes %.1f s", p.id, waited, w.round)
		}
	}
}
