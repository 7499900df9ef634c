package lua_test

import (
	"container/heap"
	"math/rand/v2"
)

// epoch is where the server's clock begins, so that times are as large as they
// are on a server, and rounding as coarse.
const epoch = int64(1755859200) * second

// world is a bucket, the processes that draw from it, and a clock of its own:
// what waits costs no time. The bucket is the model of the scripts, so that a
// world needs no server, and a seed always makes the same world.
type world struct {
	*rand.Rand
	now       int64 // µs since the world began
	offset    int64 // of the server's clock, after steps
	events    events
	made      int
	delay     func() int64 // of a request or a reply
	late      func() int64 // how much later than they wanted sleepers are awake
	server    *bucketServer
	processes []*process
	trace     trace
}

// newWorld makes a world whose requests and replies take up to so many
// microseconds each.
func newWorld(seed uint64, slowest int64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 1)), late: func() int64 { return 0 }}
	w.delay = func() int64 { return w.Int64N(slowest + 1) }
	w.server = &bucketServer{world: w}
	return w
}

// event is something that happens at a time; those of one time happen in the
// order in which they were made.
type event struct {
	at   int64
	made int
	do   func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].made < e[j].made
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any) {
	next, _ := x.(event) // the world makes nothing else
	*e = append(*e, next)
}
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = event{}
	*e = (*e)[:last]
	return x
}

// after lets something happen so many microseconds from now.
func (w *world) after(wait int64, do func()) {
	w.made++
	heap.Push(&w.events, event{w.now + max(0, wait), w.made, do})
}

// run lets time pass until the world is so old.
func (w *world) run(until int64) {
	for len(w.events) > 0 && w.events[0].at <= until {
		e, _ := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
	}
	w.now = until
}

// clock is the server's.
func (w *world) clock() int64 { return epoch + w.now + w.offset }
