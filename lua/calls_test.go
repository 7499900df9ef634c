package lua_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Codes of a request, and of what stops a bucket, as take replies them.
const (
	charged, refusedNow, waits, impossible = 0, 1, 2, 3
	running, heldUp, coolingDown           = 0, 1, 2
)

// endless is the patience of a caller without a deadline, microseconds.
const endless = int64(9e15)

// limits is what a caller was configured with. Left alone, every caller is of
// the same generation, so that a test sees only the writes it means to see.
type limits struct {
	capacity, rate float64
	gen            int64
}

// genNow is the generation of a caller that has none yet.
const genNow = -1

func (l limits) args() []any {
	gen := l.gen
	switch gen {
	case 0:
		gen = 1
	case genNow:
		gen = 0
	}
	return []any{exact(l.capacity), exact(l.rate), second, gen}
}

// exact prints a float without loss.
func exact(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// ask is one request of a take.
type ask struct {
	n        float64
	patience int64
}

// outcome is what one request was told.
type outcome struct{ code, wait int64 }

// taken is a decoded reply of take.
type taken struct {
	now, mended, stop, stopEnd, ask, ticket, gen, rev, overEnd int64
	level, capacity, rate                                      float64
	outcomes                                                   []outcome
}

// horizon is how far ahead the calls of these tests let a start be charged,
// unless they say otherwise: the default of the package bucketctl.
const horizon = 250000

func (r *rig) take(l limits, asks ...ask) taken { r.Helper(); return r.takeAhead(l, horizon, asks...) }

// now1 is a request for one token that waits for nothing.
var now1 = ask{n: 1}

// times repeats a request.
func times(n int, a ask) []ask {
	out := make([]ask, n)
	for i := range out {
		out[i] = a
	}
	return out
}

func (r *rig) takeAhead(l limits, horizon int64, asks ...ask) taken {
	r.Helper()
	return r.takeWith(l, horizon, 0, asks...)
}

// takeWith is a take that shows a ticket.
func (r *rig) takeWith(l limits, horizon, ticket int64, asks ...ask) taken {
	r.Helper()
	return r.decode(r.run(takeScript, append(l.args(), append([]any{horizon, ticket}, requests(asks)...)...)...), l.args(), len(asks))
}

// requests are the arguments for these: three and more of a kind as one.
func requests(asks []ask) (args []any) {
	for i := 0; i < len(asks); {
		same := 1
		for i+same < len(asks) && asks[i+same] == asks[i] {
			same++
		}
		one := exact(asks[i].n) + ":" + strconv.FormatInt(asks[i].patience, 10)
		if same > 2 {
			args = append(args, one+":"+strconv.Itoa(same))
		} else {
			args = append(args, slices.Repeat([]any{one}, same)...)
		}
		i += same
	}
	return args
}

func (r *rig) decode(v []any, declared []any, asks int) taken {
	r.Helper()
	const head = 12
	if len(v) == 3 { // the plain case
		var zero any = int64(0)
		v = []any{v[0], zero, zero, zero, zero, zero, int64(number(r, fmt.Sprint(declared[3]))), v[1], zero, v[2], declared[0], declared[1]}
	}
	if len(v) == head {
		v = append(v, make([]any, 2*asks)...) // all are charged, and start at once
		for i := range 2 * asks {
			v[head+i] = int64(0)
		}
	}
	if len(v) != head+2*asks {
		r.Fatalf("take replied with %d items for %d requests: %v", len(v), asks, v)
	}
	integer := func(i int) int64 { return as[int64](r, v[i]) }
	float := func(i int) float64 { return number(r, as[string](r, v[i])) }
	out := taken{
		now: integer(0), mended: integer(1), stop: integer(2), stopEnd: integer(3), ask: integer(4), ticket: integer(5),
		gen: integer(6), rev: integer(7), overEnd: integer(8), level: float(9), capacity: float(10), rate: float(11),
	}
	for i := range asks {
		out.outcomes = append(out.outcomes, outcome{code: integer(head + 2*i), wait: integer(head + 2*i + 1)})
	}
	return out
}

// granted counts the requests that may start at once.
func (t taken) granted() int {
	n := 0
	for _, o := range t.outcomes {
		if o == (outcome{code: charged}) {
			n++
		}
	}
	return n
}

// as is an item of a reply, which has to be of this type.
func as[T any](f failer, item any) T {
	f.Helper()
	v, ok := item.(T)
	if !ok {
		f.Fatalf("an item of the reply is %#v, want a %T", item, v)
	}
	return v
}

// given is a decoded reply of give.
type given struct {
	now           int64
	tokens, level float64
}

func (r *rig) give(l limits, why string, tokens float64, start int64) given {
	r.Helper()
	v := r.run(giveScript, append(l.args(), why, exact(tokens), start)...)
	if len(v) != 3 {
		r.Fatalf("give replied with %v, want 3 items", v)
	}
	return given{now: as[int64](r, v[0]), tokens: number(r, v[1]), level: number(r, v[2])}
}

// changed is a decoded reply of limit, hold or reset.
type changed struct {
	result                         string
	now                            int64
	kind                           string
	bucket0, limit0, bucket, limit map[string]string
	pttl                           int64
	used0, used                    string
}

func (r *rig) change(v []any) changed {
	r.Helper()
	if len(v) != 10 {
		r.Fatalf("a change replied with %d items, want 10: %v", len(v), v)
	}
	flat := func(i int) map[string]string {
		list := as[[]any](r, v[i])
		out := map[string]string{}
		for j := 0; j < len(list); j += 2 {
			out[as[string](r, list[j])] = as[string](r, list[j+1])
		}
		return out
	}
	return changed{
		result: as[string](r, v[0]), now: as[int64](r, v[1]), kind: as[string](r, v[2]),
		bucket0: flat(3), limit0: flat(4), bucket: flat(5), limit: flat(6), pttl: as[int64](r, v[7]),
		used0: as[string](r, v[8]), used: as[string](r, v[9]),
	}
}

// edit are the arguments of limit; the zero value keeps everything.
type edit struct {
	capacity, rate, per, end string
}

// Any revision, and whether the registry knows the bucket.
const (
	anyRev          = int64(-1)
	strange, listed = 0, 1
)

func (r *rig) limit(rev int64, known int, e edit) changed {
	r.Helper()
	return r.change(r.run(limitScript, rev, known, e.capacity, e.rate, e.per, e.end, "anna", "why"))
}

func (r *rig) hold(rev int64, known int, end string) changed {
	r.Helper()
	return r.change(r.run(holdScript, rev, known, end, "anna", "why"))
}

func (r *rig) reset(rev int64, known int, to string) changed {
	r.Helper()
	return r.change(r.run(resetScript, rev, known, to))
}

// near compares two levels: rounding is all that may lie between them.
func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

func (r *rig) wantLevel(what string, got, want float64) {
	r.Helper()
	if !near(got, want) {
		r.Errorf("%s: level %.12g, want %.12g", what, got, want)
	}
}

func (r *rig) wantResult(what string, c changed, want string) {
	r.Helper()
	if c.result != want {
		r.Errorf("%s: result %s, want %s", what, c.result, want)
	}
}
