package lua_test

import (
	"fmt"
	"testing"
)

// A world of its own for each seed: processes that wait, ask, give up, are
// born and killed, operators, cooldowns, clocks that step, and a network that
// takes its time. To see what led to a failure: -run 'TestWorld/seed=123$'.
func TestWorld(t *testing.T) {
	for seed := range uint64(80) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { stormy(t, seed) })
	}
}

// stormy holds what has to hold whatever happens.
func stormy(t *testing.T, seed uint64) {
	t.Helper()
	const (
		storm = 20 * second
		calm  = 15 * second
	)
	w := newWorld(seed, oneOf(seed, int64(100), 5000, 200000))
	l := limits{capacity: oneOf(w.Uint64(), 1.0, 5, 20, 100), rate: oneOf(w.Uint64(), 1.0, 5, 50, 200)}
	s := w.storms(l, storm)
	for range 1 + w.IntN(30) {
		s.settle(w.birth(l))
	}
	w.watchIdle(t)
	w.run(storm)
	s.calm()
	w.run(storm + calm)
	w.wantBound(t)
	w.wantOrder(t)
}

func oneOf[T any](seed uint64, from ...T) T { return from[seed%uint64(len(from))] }

func (w *world) fail(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Fatalf(format+", and before that:%s", append(args, w.trace.String())...)
}

func (w *world) wantBound(t *testing.T) {
	t.Helper()
	if err := w.server.overIssue(); err != nil {
		w.fail(t, "more starts than the bound allows: %v", err)
	}
}

// wantOrder: within a process, those with time to wait are served as they came.
func (w *world) wantOrder(t *testing.T) {
	t.Helper()
	for _, p := range w.processes {
		if p.overtaken > 0 {
			w.fail(t, "process %d served %d callers after ones who came later", p.id, p.overtaken)
		}
	}
}

// mostIdle is how long tokens may lie there while callers wait: until the next
// of these asks again, whatever happened to the others, and hears the answer.
const mostIdle = recheck + second

// watchIdle watches that no caller is stuck: when the bucket is full, somebody
// who waits must be about to take from it.
func (w *world) watchIdle(t *testing.T) {
	const every = second / 4
	since, granted := int64(-1), 0.0
	var look func()
	look = func() {
		before := granted
		granted = w.server.m.granted.or(0)
		switch {
		case !w.lying() || granted != before:
			since = -1
		case since < 0:
			since = w.now
		case w.now-since > mostIdle:
			w.fail(t, "tokens have been lying there for %d µs while callers wait", w.now-since)
		}
		w.after(every, look)
	}
	w.after(every, look)
}

// lying tells whether tokens lie there that the first callers of all queues
// could have.
func (w *world) lying() bool {
	now := float64(w.clock())
	if stop, _ := w.server.m.stopped(now); stop != running || !w.server.known() {
		return false
	}
	limit := w.server.m.flowAt(now)
	waiting := false
	for _, p := range w.alive() {
		for _, c := range p.queue {
			waiting = waiting || !c.sent && c.n <= limit.capacity
		}
	}
	return waiting && w.server.level() >= limit.capacity
}
