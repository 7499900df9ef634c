package bucketctl

import (
	"slices"
	"strings"
	"time"
)

// measured is what a scene came to.
type measured struct {
	shared, local int           // decisions
	alone         float64       // starts at the saturated bucket without Redis
	beyond        float64       // starts beyond capacity + rate x span, in the worst span
	spread        time.Duration // between the first worker and the last, at both edges together
	fell          time.Duration // from the fault until the last worker's first decision alone
	longest       time.Duration // of a call without a deadline
	overrun       time.Duration // of a call with one, beyond it
	p99           time.Duration // of decisions while the link was open
	back          time.Duration // from the fault's end until the last worker's last decision alone; of one that they return from early: from its begin
	idle          time.Duration // until the idle worker's link was closed
	late          time.Duration // of the machine itself
	reasons       []string
	told          int // outages, by all workers
	lines         int // the most that one worker logged
	began, ended  int // events
}

// awaitReturn waits until all workers of all scenes are back. Where Redis came and
// went, or a starved machine made it seem so, that takes up to slowestReturn.
func awaitReturn(scenes []*scene) {
	t := scenes[0].t
	t.Helper()
	deadline := time.Now().Add(2 * slowestReturn)
	for all := false; !all; time.Sleep(time.Millisecond) {
		all = true
		for _, s := range scenes {
			if s.idleBack.IsZero() && !isOpen(s.idle.client) {
				s.idleBack = time.Now()
			}
			if s.back() {
				continue
			}
			if all = false; time.Now().After(deadline) {
				t.Fatalf("%s: not all are back after %v", s.name, time.Since(s.ended))
			}
		}
	}
}

// measure reads what happened, after finish.
func (s *scene) measure() measured {
	s.t.Helper()
	m := measured{idle: s.idleBack.Sub(s.ended), late: s.late}
	h := history{limits: []inForce{{0, s.limit}}, horizon: DefaultHorizon}
	var took []time.Duration
	var fell, back []time.Time
	for _, a := range s.workers {
		a.mu.Lock()
		h.starts = append(h.starts, a.starts...)
		m.shared, m.local, m.alone = m.shared+a.shared, m.local+a.local, m.alone+float64(a.startsAlone)
		m.longest, m.overrun = max(m.longest, a.longest), max(m.overrun, a.overrun)
		if !a.firstAlone.IsZero() {
			fell, back = append(fell, a.firstAlone), append(back, a.lastAlone)
		}
		took = append(took, a.alone...)
		for reason := range a.reasons {
			m.reasons = append(m.reasons, reason)
		}
		a.mu.Unlock()
		for _, t := range a.told.list() {
			if t.Mode != ModeShared {
				m.told++
			}
		}
		if lines := a.log.lines(); lines[0] != "" {
			m.lines = max(m.lines, len(lines))
		}
	}
	slices.Sort(m.reasons)
	m.reasons = slices.Compact(m.reasons)
	m.beyond = h.worst().beyond
	if len(fell) > 0 {
		first, last := extremes(fell)
		m.fell, m.spread = last.Sub(s.began), last.Sub(first)
		first, last = extremes(back)
		m.back, m.spread = max(0, last.Sub(s.ended)), m.spread+last.Sub(first)
		if s.what == returnEarly {
			m.back = last.Sub(s.began)
		}
	}
	if slices.Sort(took); len(took) > 0 {
		m.p99 = took[len(took)*99/100]
	}
	m.began, m.ended = s.events()
	return m
}

func extremes(times []time.Time) (first, last time.Time) {
	return slices.MinFunc(times, time.Time.Compare), slices.MaxFunc(times, time.Time.Compare)
}

// events counts those of outages that began and ended.
func (s *scene) events() (began, ended int) {
	s.t.Helper()
	events, err := openAdmin(s.t, s.server).Events(s.t.Context(), EventQuery{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range events {
		switch {
		case e.Kind == EventFallback:
			began++
		case e.Kind == EventShared && e.Detail["lasted"] != "" && e.Detail["local"] != "" && e.Detail["since"] != "":
			ended++
		}
	}
	return began, ended
}

// most is how many starts beyond capacity + rate x span there may be: what Redis
// forgot, one share, and the shares of those who decided alone while others did
// not.
func (s *scene) most(m measured) float64 {
	apart := m.spread
	if s.what == comeAndGo || s.what == returnEarly || s.what == stayShared {
		apart = s.length
	}
	share := s.limit.Rate / float64(len(s.workers))
	return s.lost*s.limit.Capacity + share + s.limit.Rate*apart.Seconds()
}

// check holds what is true of each fault, also on a machine that does other
// things and lets answers come late.
func (s *scene) check(m measured) {
	s.t.Helper()
	s.t.Logf("%s: %+v", s.name, m)
	fail := func(format string, args ...any) {
		s.t.Helper()
		s.t.Errorf(s.name+": "+format, args...)
	}
	if most := s.most(m); m.beyond > most {
		fail("%.1f starts beyond capacity + rate x span, want at most %.1f", m.beyond, most)
	}
	if m.shared == 0 {
		fail("no decision by Redis")
	}
	lines := 9
	if s.what == comeAndGo {
		lines = 2 * 8 // of 8 outages, the most in a minute
	}
	if m.lines > lines {
		fail("%d lines by one worker", m.lines)
	}
	all := len(s.workers)
	switch s.what {
	case stayShared:
		if slow := []string{"Redis does not answer (timeout)"}; m.local > 0 && !slices.Equal(m.reasons, slow) {
			fail("decided alone because of %q", m.reasons)
		}
		return
	case decideAlone:
		if m.told < all || m.ended == 0 || m.began == 0 {
			fail("%d outages told by %d workers, %d events, %d events of their end", m.told, all, m.began, m.ended)
		}
		if least := 0.3 * s.limit.Rate * (s.length - callTimeout).Seconds(); m.alone < least {
			fail("%v granted alone, want at least %.1f", m.alone, least)
		}
	case endItself, comeAndGo, returnEarly:
	}
	if m.local == 0 {
		fail("no decision alone")
	}
	if !strings.Contains(strings.Join(m.reasons, "; "), s.reason) {
		fail("told as %q, want %q", m.reasons, s.reason)
	}
}
