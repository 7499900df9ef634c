package lua_test

import (
	"fmt"
	"testing"
)

// fleet is so many processes with so many callers each, who want 1 again and
// again.
type fleet struct {
	processes, callers int
	limit              limits
}

func (f fleet) String() string {
	return fmt.Sprintf("%d x %d at %v per s", f.processes, f.callers, f.limit.rate)
}

// world lets a fleet begin as it does on a machine: the processes one after the
// other, the callers of some one by one, and each process is woken once, when
// it has subscribed. Timers are late. It takes that for the figures to be those
// of the real thing.
func (f fleet) world(seed uint64) *world {
	w := newWorld(seed, 0)
	w.delay = func() int64 { return 60 + w.Int64N(350) }
	w.late = func() int64 { return 200 + w.Int64N(1400) }
	for range f.processes {
		p := w.birth(f.limit)
		w.after(w.Int64N(second/4), func() {
			between := []int64{1, 1, second / 100}[w.IntN(3)]
			for range f.callers {
				w.after(w.Int64N(between), func() { p.crowd(1, habit{n: constant(1)}) })
			}
			w.after(5000+w.Int64N(10000), p.wake)
		})
	}
	return w
}

var (
	ample  = limits{capacity: 5, rate: 50}
	meagre = limits{capacity: 5, rate: 5}
)

// What waiting costs the server, and how fair it is, over half a minute.
func TestWorldOfFleets(t *testing.T) {
	tests := []struct {
		fleet
		calls, jain float64
	}{
		{fleet{1, 1000, ample}, 0.1, 1},
		{fleet{20, 50, ample}, 0.15, 0.98},
		{fleet{100, 10, ample}, 0.67, 0.85}, // 0.69 where those who were just served look whether the queue lives
		{fleet{300, 1, ample}, 3.5, 0.95},   // 4.2
		{fleet{20, 50, meagre}, 1.1, 0.85},
	}
	for _, tt := range tests {
		t.Run(tt.String(), func(t *testing.T) {
			const seeds, span = 5, 30
			var calls, granted, fair float64
			for seed := range uint64(seeds) {
				w := tt.world(seed)
				w.run(span * second)
				w.wantBound(t)
				sum, squares := 0.0, 0.0
				for _, p := range w.processes {
					calls += float64(p.calls)
					sum += p.tokens
					squares += p.tokens * p.tokens
				}
				granted += sum
				fair += sum * sum / squares / float64(tt.processes) / seeds
			}
			used := granted / seeds / (tt.limit.capacity + tt.limit.rate*span)
			if got := calls / granted; got > tt.calls || used < 0.99 || fair < tt.jain-1e-9 {
				t.Errorf("%.3f calls per grant, %.3f used, Jain %.3f; want at most %v, 0.99 and %v at least", got, used, fair, tt.calls, tt.jain)
			}
		})
	}
}

// Nine of ten processes die together. How fast the rest is back depends on
// which of them is the next to ask. Where one that finds the queue gone in its
// own turn wakes nobody, newcomers wait for 0.2 to 0.3 s longer.
func TestWorldAfterMostHaveDied(t *testing.T) {
	tests := []struct {
		fleet
		mean, most float64 // seconds of the rate that are lost
		newcomer   float64 // mean seconds that one who comes right then waits
	}{
		{fleet{100, 10, ample}, 0.5, 2, 0.75},
		{fleet{40, 25, ample}, 0.8, 3, 0.75},
		{fleet{20, 50, ample}, 1, 5, 0.6},
		{fleet{20, 50, meagre}, 1, 4.5, 1.1},
	}
	for _, tt := range tests {
		t.Run(tt.String(), func(t *testing.T) {
			const seeds = 20
			var lost, most, waited float64
			for seed := range uint64(seeds) {
				l, n := tt.decimated(t, seed)
				lost += l / seeds
				most = max(most, l)
				waited += n / seeds
			}
			if lost > tt.mean || most > tt.most || waited > tt.newcomer {
				t.Errorf("lost were %.2f s of the rate, at most %.2f s, and a newcomer waited %.2f s; want at most %v, %v and %v",
					lost, most, waited, tt.mean, tt.most, tt.newcomer)
			}
		})
	}
}

// decimated kills nine of ten at some time, and watches for ten seconds what
// the rest does. One more comes with one caller as they die.
func (f fleet) decimated(t *testing.T, seed uint64) (lost, waited float64) {
	t.Helper()
	const watched = 10
	w := f.world(seed)
	w.run(15*second + w.Int64N(5*second))
	for _, i := range w.Perm(f.processes)[f.processes/10:] {
		w.processes[i].kill()
	}
	died := w.now
	waited = watched
	newcomer := w.birth(f.limit)
	newcomer.come(&caller{n: 1, then: func(int64) { waited = float64(w.now-died) / 1e6 }})
	w.run(died + watched*second)
	w.wantBound(t)
	started := 0.0
	for _, s := range w.server.starts {
		if s.at > epoch+died {
			started += s.n
		}
	}
	return watched - started/f.limit.rate, waited
}

// Allow is for what the others leave: nothing while they wait, and all of it,
// at once, when nobody does.
func TestWorldAllowsWhatIsLeft(t *testing.T) {
	for seed := range uint64(6) {
		w := newWorld(seed, 5000)
		l := limits{capacity: 5, rate: 20}
		for range 1 + w.IntN(5) {
			w.birth(l).crowd(10, habit{n: constant(1)})
		}
		w.run(5 * second)
		polls := w.birth(l)
		polls.crowd(1, habit{n: constant(1), allow: true, pause: 1000})
		w.run(25 * second)
		if polls.tokens > 0 {
			w.fail(t, "seed %d: Allow was given %v tokens while others waited", seed, polls.tokens)
		}
		for _, p := range w.processes {
			p.closed = true
		}
		polls.closed = false
		w.run(30 * second) // those who still waited have been served
		before := polls.tokens
		w.run(50 * second)
		if got, all := polls.tokens-before, 20*l.rate; got < 0.98*all {
			w.fail(t, "seed %d: Allow was given %v of %v tokens when nobody waited", seed, got, all)
		}
		w.wantBound(t)
	}
}
