package lua_test

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bucketop/internal/redistest"
)

// spanModel is what the scripts of windows promise, written down a second time:
// a list of starts that nobody ever adds up in advance.
type spanModel struct {
	starts  []logged
	limit   float64
	per     int64
	granted float64
}

// used is what has not left the span at t, wherever it starts.
func (m *spanModel) used(t int64) float64 {
	var sum float64
	for _, s := range m.starts {
		if s.at+m.per > t {
			sum += s.n
		}
	}
	return math.Round(sum*1e6) / 1e6
}

// earliest is the first moment from now on at which n tokens fit.
func (m *spanModel) earliest(now int64, n float64) int64 {
	moments := []int64{now}
	for _, s := range m.starts {
		moments = append(moments, s.at+m.per)
	}
	slices.Sort(moments)
	for _, t := range moments {
		if t >= now && math.Round((m.used(t)+n)*1e6)/1e6 <= m.limit {
			return t
		}
	}
	return math.MaxInt64
}

// enter logs a start: never before one that is logged.
func (m *spanModel) enter(at int64, n float64) {
	if last := len(m.starts) - 1; last >= 0 {
		at = max(at, m.starts[last].at)
		if m.starts[last].at == at {
			m.starts[last].n += n
			return
		}
	}
	m.starts = append(m.starts, logged{at: at, n: n})
}

// forget drops what has left the span, as each new start does. Until then the
// longer span of a changed limit brings it back.
func (m *spanModel) forget(now int64) {
	m.starts = slices.DeleteFunc(m.starts, func(s logged) bool { return s.at+m.per <= now })
}

// take decides on each request. Those behind one that waits wait too.
func (m *spanModel) take(now, horizon int64, asks []ask) (codes []int64, first int64) {
	waiting := false
	for _, a := range asks {
		switch {
		case a.n > m.limit:
			codes = append(codes, impossible)
		case waiting:
			codes = append(codes, -1) // by its patience, which the table of waits tests
		default:
			at := m.earliest(now, a.n)
			switch wait := at - now; {
			case wait > a.patience:
				codes = append(codes, refusedNow)
			case wait <= horizon:
				codes = append(codes, charged)
				m.enter(at, a.n)
				m.granted += a.n
			default:
				codes = append(codes, waits)
				waiting, first = true, wait
			}
		}
	}
	if slices.Contains(codes, charged) {
		m.forget(now)
	}
	return codes, first
}

// giveBack takes n out of the first start that is logged at or after at.
func (m *spanModel) giveBack(now, at int64, n float64) (given float64) {
	for i := range m.starts {
		if at+m.per <= now || m.starts[i].at < at {
			continue
		}
		given = math.Min(n, m.starts[i].n)
		m.starts[i].n -= given
		if m.starts[i].n < 5e-7 {
			m.starts = slices.Delete(m.starts, i, i+1)
		}
		return given
	}
	return 0
}

// spanWalk is one sequence of steps, taken by the scripts and by the model.
type spanWalk struct {
	*rig
	t        *rapid.T
	m        spanModel
	declared span
	charges  []logged // what was told to callers
}

func TestWindowsFollowTheirModel(t *testing.T) {
	c := redistest.Start(t).Client(t)
	rapid.Check(t, func(t *rapid.T) {
		w := &spanWalk{rig: &rig{failer: t, ctx: t.Context(), c: c, bucket: "b", record: "bucketctl:limit:{b}", log: "bucketctl:log:{b}"}, t: t}
		w.ok(c.FlushDB(w.ctx).Err())
		w.declared = span{
			limit: rapid.SampledFrom([]float64{1, 3, 10, 10.5, 100}).Draw(t, "limit"),
			per:   rapid.SampledFrom([]int64{second / 10, second, 10 * second, day}).Draw(t, "per"),
		}
		w.m.limit, w.m.per = w.declared.limit, w.declared.per
		w.takeSpan(w.declared, 0, 0)
		t.Repeat(map[string]func(*rapid.T){
			"take":       func(*rapid.T) { w.take() },
			"take again": func(*rapid.T) { w.take() },
			"give":       func(*rapid.T) { w.give() },
			"pass":       func(*rapid.T) { w.pass() },
			"limit":      func(*rapid.T) { w.limit() },
			"reset":      func(*rapid.T) { w.reset() },
		})
	})
}

func (w *spanWalk) take() {
	asks := make([]ask, rapid.IntRange(1, 5).Draw(w.t, "asks"))
	for i := range asks {
		asks[i] = ask{
			n:        rapid.SampledFrom([]float64{1, 1, 1, 0.1, 2.5, 1.0 / 3, 7}).Draw(w.t, "n"),
			patience: rapid.SampledFrom([]int64{0, 0, 200000, second, endless}).Draw(w.t, "patience"),
		}
	}
	ahead := rapid.SampledFrom([]int64{0, horizon, 2 * second}).Draw(w.t, "horizon")
	w.leaveWindow()
	got := w.takeSpan(w.declared, ahead, 0, asks...)
	for i := range asks {
		asks[i].n = math.Floor(asks[i].n*1e6+0.5) / 1e6
	}
	codes, first := w.m.take(got.now, ahead, asks)
	for i, code := range codes {
		o := got.outcomes[i]
		if code >= 0 && o.code != code || code < 0 && o.code == charged {
			w.Fatalf("request %d of %v: %+v, want code %d; %v, model %+v", i, asks, o, code, w.starts(), w.m)
		}
		if code == waits && o.wait != first {
			w.Fatalf("request %d of %v waits %d, want %d; %v, model %+v", i, asks, o.wait, first, w.starts(), w.m)
		}
		if code == charged {
			w.charges = append(w.charges, logged{at: got.now + o.wait, n: asks[i].n})
		}
	}
	w.compare("take", got.now, got.level)
}

func (w *spanWalk) give() {
	tokens := rapid.SampledFrom([]float64{0.5, 1, 7}).Draw(w.t, "tokens")
	why := rapid.SampledFrom([]string{"refund", "settle", "settle more", "debit"}).Draw(w.t, "why")
	c := logged{at: w.now() - second}
	if len(w.charges) > 0 {
		c = rapid.SampledFrom(w.charges).Draw(w.t, "of")
		tokens = math.Min(tokens, c.n)
	}
	var got given
	if why == "settle more" {
		got = w.giveSpan(w.declared, "settle", -tokens, c.at)
	} else {
		got = w.giveSpan(w.declared, why, tokens, c.at)
	}
	used := w.m.used(got.now)
	switch why {
	case "refund", "settle":
		w.m.giveBack(got.now, c.at, tokens)
	case "settle more":
		if tokens = math.Min(tokens, math.Max(0, 2*w.m.limit-used)); tokens > 0 {
			w.m.enter(got.now, tokens)
			w.m.forget(got.now)
			w.m.granted += tokens
		}
	case "debit":
		if tokens = math.Min(tokens, math.Max(0, w.m.limit-used)); tokens > 5e-7 {
			w.m.enter(got.now, tokens)
			w.m.forget(got.now)
			w.m.granted += tokens
		}
	}
	w.compare(why, got.now, got.level)
}

func (w *spanWalk) pass() {
	part := rapid.SampledFrom([]float64{0.001, 0.1, 0.5, 1, 2}).Draw(w.t, "part")
	d := time.Duration(part*float64(w.m.per)) * time.Microsecond
	w.backWindow(d)
	for i := range w.m.starts {
		w.m.starts[i].at -= d.Microseconds()
	}
	for i := range w.charges {
		w.charges[i].at -= d.Microseconds()
	}
}

func (w *spanWalk) limit() {
	rate := rapid.SampledFrom([]string{"", "declared", "2", "0.5"}).Draw(w.t, "rate")
	capacity := rapid.SampledFrom([]string{"", "declared", "5", "20"}).Draw(w.t, "capacity")
	per := int64(0)
	e := edit{capacity: capacity, rate: rate}
	if rate != "" && rate != "declared" {
		per = rapid.SampledFrom([]int64{2 * second, 30 * second}).Draw(w.t, "per")
		e.per = strconv.FormatInt(per, 10)
	}
	got := w.rig.limit(anyRev, listed, e)
	if got.result != "ok" {
		return
	}
	over := w.noted()
	w.m.limit, w.m.per = w.declared.limit, w.declared.per
	if over["rate"] != "" {
		w.m.per = int64(number(w, over["per"]))
		w.m.limit = math.Round(number(w, over["rate"])*float64(w.m.per)) / 1e6
	}
	if c := over["capacity"]; c != "" && (over["rate"] == "" || number(w, c) < w.m.limit) {
		w.m.limit = number(w, c)
	}
	if used := number(w, got.used); !near(used, w.m.used(got.now)) {
		w.Fatalf("limit: used %v, want %v", used, w.m.used(got.now))
	}
}

func (w *spanWalk) reset() {
	to := rapid.SampledFrom([]string{"full", "empty", "2.5"}).Draw(w.t, "to")
	got := w.rig.reset(anyRev, listed, to)
	w.wantResult("reset", got, "ok")
	level := map[string]float64{"full": w.m.limit, "empty": 0, "2.5": 2.5}[to]
	w.m.starts, w.charges = nil, nil
	if level < w.m.limit {
		w.m.enter(got.now, w.m.limit-level)
	}
}

func (w *spanWalk) compare(what string, now int64, level float64) {
	w.Helper()
	if want := w.m.limit - w.m.used(now); math.Abs(level-want) > 1e-6 {
		w.Fatalf("%s: level %v, want %v; %v, %v, model %+v", what, level, want, w.fields(), w.starts(), w.m)
	}
	if granted := w.field("granted"); math.Abs(granted-w.m.granted) > 1e-6 {
		w.Fatalf("%s: granted %v, want %v", what, granted, w.m.granted)
	}
	for _, key := range []string{w.bucket, w.log} {
		if life := w.life(key); life != -2 && (life < day-slack || life < w.m.per) {
			w.Fatalf("%s: %s lives %d s", what, key, life/second)
		}
	}
}
