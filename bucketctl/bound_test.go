package bucketctl

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// amount is so many tokens at one moment, server microseconds.
type amount struct {
	at int64
	n  float64
}

// inForce is a limit from one moment on, server microseconds.
type inForce struct {
	at    int64
	limit Limit
}

// history is all that the bound of a bucket is about.
type history struct {
	starts  []amount  // of callers
	given   []amount  // back, of charges whose start had come
	limits  []inForce // in order, the first from the very beginning
	horizon time.Duration
	unknown float64 // tokens that may have been given back at any time, since no answer came
}

// stretch is a part of a history, and by how many tokens it is beyond the
// bound.
type stretch struct {
	from, until int64
	beyond      float64
}

// worst finds, of all spans, the one that exceeds the bound most or falls short
// of it least: capacity + rate x span, net of what was given back, and rate x
// horizon for each limit replaced within. A start may have been charged a
// horizon before it comes, so a span looks that far back for what was given
// back, and for the limits in force: who was charged then keeps his start, and
// the level does not show it any more.
//
// It looks at every pair of starts, since no cleverness is worth a hole here.
func (h history) worst() stretch {
	byTime := func(a, b amount) int { return int(a.at - b.at) }
	slices.SortFunc(h.starts, byTime)
	slices.SortFunc(h.given, byTime)
	accrued, slack, given := make([]float64, len(h.starts)), make([]float64, len(h.starts)), make([]float64, len(h.starts))
	for i, s := range h.starts {
		accrued[i], slack[i], given[i] = h.accrued(s.at), h.slack(s.at), sumUntil(h.given, s.at)
	}
	worst := stretch{beyond: math.Inf(-1)}
	for i, first := range h.starts {
		back := first.at - h.horizon.Microseconds()
		slackBefore, givenBefore := h.slack(back), sumUntil(h.given, back-1)
		capacity, next := h.limitAt(back)
		var tokens float64
		for j := i; j < len(h.starts); j++ {
			last := h.starts[j]
			tokens += last.n
			for ; next < len(h.limits) && h.limits[next].at <= last.at; next++ {
				capacity = max(capacity, h.limits[next].limit.Capacity)
			}
			bound := capacity + accrued[j] - accrued[i] + given[j] - givenBefore + slack[j] - slackBefore
			if beyond := tokens - bound; beyond > worst.beyond {
				worst = stretch{first.at, last.at, beyond}
			}
		}
	}
	return worst
}

// limitAt is the capacity in force at a moment, and the index of the limit
// after it.
func (h history) limitAt(at int64) (capacity float64, next int) {
	next = 1
	for next < len(h.limits) && h.limits[next].at <= at {
		next++
	}
	return h.limits[next-1].limit.Capacity, next
}

// accrued is what the rates bring from the first change of the limit on.
func (h history) accrued(at int64) float64 {
	sum := 0.0
	for i, l := range h.limits {
		until := at
		if i+1 < len(h.limits) {
			until = min(at, h.limits[i+1].at)
		}
		if until > l.at {
			sum += l.limit.Rate * float64(until-l.at) / 1e6
		}
	}
	return sum
}

// slack is rate x horizon of every limit that was replaced until then.
func (h history) slack(at int64) float64 {
	sum := 0.0
	for i := 1; i < len(h.limits) && h.limits[i].at <= at; i++ {
		sum += h.limits[i-1].limit.Rate * h.horizon.Seconds()
	}
	return sum
}

// tolerance is what rounding allows: waits under 2 microseconds are none, and
// every time is whole microseconds.
func (h history) tolerance() float64 {
	var rate float64
	for _, l := range h.limits {
		rate = max(rate, l.limit.Rate)
	}
	return rate*5e-6 + 1e-6
}

func sumUntil(sorted []amount, at int64) float64 {
	sum := 0.0
	for _, a := range sorted {
		if a.at > at {
			break
		}
		sum += a.n
	}
	return sum
}

// check fails the test where any span is beyond the bound.
func (h history) check(t *testing.T) {
	t.Helper()
	worst := h.worst()
	t.Logf("%d starts, %d times tokens back, %d limits: the worst span, of %v, is %.3f tokens within the bound",
		len(h.starts), len(h.given), len(h.limits), time.Duration(worst.until-worst.from)*time.Microsecond, -worst.beyond)
	if worst.beyond > h.tolerance()+h.unknown {
		t.Errorf("%.6f tokens more than the bound from %d to %d:%s", worst.beyond, worst.from, worst.until, h.excerpt(worst))
	}
}

// excerpt is what happened in and around a stretch, for whoever has to find
// out why.
func (h history) excerpt(s stretch) string {
	type event struct {
		at   int64
		text string
	}
	var events []event
	add := func(at int64, format string, args ...any) {
		if at >= s.from-1_000_000 && at <= s.until+10_000 {
			events = append(events, event{at, fmt.Sprintf(format, args...)})
		}
	}
	for _, a := range h.starts {
		add(a.at, "start %g", a.n)
	}
	for _, a := range h.given {
		add(a.at, "given back %g", a.n)
	}
	for _, l := range h.limits {
		add(l.at, "limit %v", l.limit)
	}
	slices.SortStableFunc(events, func(a, b event) int { return int(a.at - b.at) })
	var out strings.Builder
	for _, e := range events {
		fmt.Fprintf(&out, "\n%11.6f %s", float64(e.at-s.from)/1e6, e.text)
	}
	return out.String()
}

// The test of the test: starts made by hand, as many as may be and one more.
func TestCheckOfTheBoundSeesOverIssue(t *testing.T) {
	const second = 1_000_000
	ten := PerSecond(10).Burst(5)
	every := func(from, step int64, n int) []amount {
		out := make([]amount, n)
		for i := range out {
			out[i] = amount{from + int64(i)*step, 1}
		}
		return out
	}
	burst := every(0, 0, 5)
	steady := slices.Concat(burst, every(second/10, second/10, 50))
	slower := []inForce{{0, ten}, {3 * second, PerSecond(1).Burst(2)}}
	for name, c := range map[string]struct {
		h    history
		want float64
	}{
		"a full bucket":                    {history{starts: burst}, 0},
		"a full bucket and what accrues":   {history{starts: steady}, 0},
		"one more in the midst":            {history{starts: append(slices.Clone(steady), amount{2 * second, 1})}, 1},
		"half a token more":                {history{starts: append(slices.Clone(steady), amount{2*second + 1, 0.5})}, 0.5},
		"a bucket filled twice in 100 ms":  {history{starts: slices.Concat(burst, every(second/10, 0, 5))}, 4},
		"given back and used again":        {history{starts: append(slices.Clone(steady), amount{2 * second, 1}), given: []amount{{2 * second, 1}}}, 0},
		"used before it is given back":     {history{starts: append(slices.Clone(burst), amount{1, 1}), given: []amount{{second, 1}}}, 1},
		"given back before the span":       {history{starts: slices.Concat(every(second, 0, 6)), given: []amount{{second - second/4 - 1, 1}}}, 1},
		"given back while it was charged":  {history{starts: slices.Concat(every(second, 0, 6)), given: []amount{{second - second/4, 1}}}, 0},
		"charged before the limit changed": {history{starts: every(3*second+second/10, 0, 4), limits: slower}, 4 - 5 - 2.5},
		"the old rate under the new limit": {history{starts: every(4*second, second/10, 20), limits: slower}, 20 - 2 - 1.9},
	} {
		t.Run(name, func(t *testing.T) {
			if c.h.limits == nil {
				c.h.limits = []inForce{{0, ten}}
			}
			c.h.horizon = DefaultHorizon
			if got := c.h.worst(); math.Abs(got.beyond-c.want) > 1e-4 {
				t.Errorf("%+v is the worst, want %v tokens beyond the bound", got, c.want)
			}
		})
	}
}
