package lua_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// The bound: over any span of the server's time, what starts is at most the
// capacity and what accrues in the span, and rate x horizon of each limit that
// was replaced within it; net of refunds. Two checks make it exact. What was
// charged under one limit keeps to that limit, in any span. And spans across
// changes keep to the sum, where what was charged before a change and starts
// after it counts at the change.

// item is a start, or a put, on the way along the server's time.
type item struct {
	at     int64
	order  int // at one time: starts from before a change, puts, starts
	start  float64
	put    *put
	silent bool // moved to a change, which the sum then allows for
}

// overIssue is the first excess over the bound, nil if there is none.
func (s *bucketServer) overIssue() error {
	eras := s.eras()
	for i, e := range eras {
		if err := e.check(e.alone()); err != nil {
			return fmt.Errorf("under limit %d of %d: %w", i, len(eras), err)
		}
	}
	for first := 0; first < len(eras); {
		last := first + 1
		for last < len(eras) && eras[last].begins.kind == putChange {
			last++
		}
		if err := eras[first].check(together(eras[first:last])); err != nil {
			return fmt.Errorf("across limits %d to %d: %w", first, last-1, err)
		}
		first = last
	}
	return nil
}

// era is what happened between two changes.
type era struct {
	begins  put
	starts  []started
	refunds []put
}

func (s *bucketServer) eras() []era {
	var eras []era
	of := make([]int, len(s.puts)+1) // which era a number of puts belongs to
	for i, p := range s.puts {
		if p.kind == putRefund {
			last := &eras[len(eras)-1]
			last.refunds = append(last.refunds, p)
		} else {
			eras = append(eras, era{begins: p})
		}
		of[i+1] = len(eras) - 1
	}
	for _, st := range s.starts {
		e := &eras[of[st.decided]]
		e.starts = append(e.starts, st)
	}
	return eras
}

func (e *era) alone() []item {
	items := make([]item, 0, len(e.starts)+len(e.refunds))
	for _, st := range e.starts {
		items = append(items, item{at: st.at, order: 2, start: st.n})
	}
	for i := range e.refunds {
		items = append(items, item{at: e.refunds[i].at, order: 1, put: &e.refunds[i]})
	}
	return items
}

func together(eras []era) []item {
	var items []item
	for i := range eras {
		ends := int64(math.MaxInt64)
		if i+1 < len(eras) {
			ends = eras[i+1].begins.at
		}
		for _, it := range eras[i].alone() {
			if it.at >= ends && it.put == nil {
				it.at, it.order, it.silent = ends, 0, true
			}
			items = append(items, it)
		}
		if i > 0 {
			items = append(items, item{at: eras[i].begins.at, order: 1, put: &eras[i].begins})
		}
	}
	return items
}

// sums are what has started, and what the limit and puts have let start, from
// the first item on.
type sums struct {
	started, accrued float64
	put              float64 // by all puts so far
	putBefore        float64 // by those that do not help a span that begins here
	recent           []put   // refunds of the last horizon, which do
}

// opening is the best moment for a span to begin in one era.
type opening struct {
	at       int64
	before   float64 // had started beyond what was let
	capacity float64 // the largest since
}

// check walks along the items. What starts beyond what was let, since whichever
// moment makes it most, must fit the capacity.
func (e *era) check(items []item) error {
	slices.SortStableFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
	})
	var s sums
	limit := e.begins.limit
	openings := []opening{{before: math.Inf(1), capacity: limit.capacity}}
	last := e.begins.at
	for _, it := range items {
		s.accrued += float64(it.at-last) * limit.speed
		last = it.at
		s.forget(it.at - 2*horizon)
		switch {
		case it.put == nil:
		case it.put.kind == putRefund:
			s.put += it.put.tokens
			s.recent = append(s.recent, *it.put)
			continue
		default:
			s.put += it.put.tokens
			s.putBefore += it.put.tokens
			limit = it.put.limit
			openings = append(openings, opening{before: math.Inf(1)})
			for i := range openings {
				openings[i].capacity = max(openings[i].capacity, limit.capacity)
			}
			continue
		}
		if !it.silent {
			if o := &openings[len(openings)-1]; s.started-s.accrued-s.putBefore < o.before {
				o.at, o.before = it.at, s.started-s.accrued-s.putBefore
			}
		}
		s.started += it.start
		if !it.silent {
			if err := s.exceed(openings, it.at, limit.speed); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget lets go of refunds so old that no span which begins now can be
// crowded by them: tokens that come back while charges are ahead are taken
// again among these, at most one horizon later.
func (s *sums) forget(until int64) {
	for len(s.recent) > 0 && s.recent[0].at < until {
		s.putBefore += s.recent[0].tokens
		s.recent = s.recent[1:]
	}
}

func (s *sums) exceed(openings []opening, at int64, speed float64) error {
	for _, o := range openings {
		beyond := s.started - s.accrued - s.put - o.before
		rounding := 1e-6 + 4*speed + 1e-9*s.started // a start may be early by two microseconds, and times are rounded
		if beyond > o.capacity+rounding {
			return fmt.Errorf("from %s to %s %.6f tokens beyond what accrued may start, %.6f would fit",
				sinceEpoch(o.at), sinceEpoch(at), beyond, o.capacity)
		}
	}
	return nil
}

func sinceEpoch(at int64) string { return fmt.Sprintf("%.6f s", float64(at-epoch)/1e6) }
