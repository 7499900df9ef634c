package bucketctl

import (
	"time"
)

// decideAlone answers by the fallback policies of all buckets: all let a request
// through, or none. What is stopped, closed or too small in one of them is so
// for the whole.
func (s *set) decideAlone(batch []*request, verdicts []verdict, reason string, since time.Time) []verdict {
	all := &together{each: make([]*circumstances, len(s.members))}
	stop, stopWait := int64(stopNone), time.Duration(0)
	for i, l := range s.members {
		c, wait := l.alone(reason, since)
		all.each[i] = c
		if c.stop != stopNone && (stop == stopNone || c.stop == stopHeld && stop != stopHeld || c.stop == stop && wait > stopWait) {
			stop, all.which = c.stop, i
		}
		stopWait = max(stopWait, wait)
	}
	var head time.Duration
	var blocking int
	for _, r := range batch {
		v := verdict{wait: stopWait, of: &together{which: all.which, each: all.each}}
		patience := micros(r.patience(time.Now()))
		small, closed := s.tooSmall(r, all.each), s.closed(all.each)
		switch {
		case stop != stopNone:
			v.code = waitsOrRefused(r, v.wait, patience, stop)
		case small >= 0:
			v.code, v.of.which = codeImpossible, small
		case closed >= 0:
			v.code, v.wait, v.of.which = codeRefused, recheck, closed
		case head > 0:
			v.wait, v.of.which = head, blocking
			v.code = waitsOrRefused(r, v.wait, patience, stopNone)
		default:
			s.decideShares(&v, r, patience)
		}
		v.circumstances = all.each[v.of.which]
		if v.code == codeWaits && head == 0 {
			head, blocking = v.wait, v.of.which
			for _, c := range all.each {
				c.ask = max(time.Microsecond, v.wait-s.client.config.Horizon)
				if stop != stopNone {
					c.ask = stopWait
				}
			}
		}
		if v.code == codeCharged {
			s.spend(&v, r)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// tooSmall is a bucket that can never hold what the request wants of it; -1:
// none.
func (s *set) tooSmall(r *request, each []*circumstances) int {
	for i, c := range each {
		if r.each[i] > c.limit.Capacity {
			return i
		}
	}
	return -1
}

// closed is a bucket that lets nobody through without Redis; -1: none.
func (s *set) closed(each []*circumstances) int {
	for i, c := range each {
		if c.localMode == ModeClosed {
			return i
		}
	}
	return -1
}

// decideShares answers by this worker's shares of the limits. A request starts
// when the last of them lets it.
func (s *set) decideShares(v *verdict, r *request, patience time.Duration) {
	now, longest := time.Now(), min(s.client.config.Horizon, patience)
	v.code, v.wait = codeCharged, 0
	held := make([]reservation, 0, len(s.members))
	for i, l := range s.members {
		c := v.of.each[i]
		if c.localMode != ModeShare {
			continue // open: as much as anybody wants
		}
		h := l.share.hold(now, partOf(c.limit, l.workers()), r.each[i], longest)
		held = append(held, h)
		if h.wait >= v.wait {
			v.wait, v.of.which = h.wait, i
		}
	}
	if v.wait <= longest {
		for _, h := range held {
			h.keepUntil(now, v.wait)
		}
		return
	}
	for _, h := range held {
		h.release(now)
	}
	v.code = waitsOrRefused(r, v.wait, patience, stopNone)
}

// spend counts what was granted alone in each of the buckets.
func (s *set) spend(v *verdict, r *request) {
	now := time.Now()
	v.due = now.Add(v.wait)
	for i, l := range s.members {
		limit := v.of.each[i].limit
		l.share.spend(now, r.each[i], seconds(limit.Capacity/limit.Rate))
	}
}
