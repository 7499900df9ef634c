package watch

import (
	"time"

	"bucketop/bucketctl"
)

// Costs of one refresh, at most.
const (
	maxShown   = 200 // rows on screen
	maxDue     = 100 // buckets that a report or an event named
	maxWatched = 100 // of those where somebody waits or something is wrong
	perRound   = 100 // of the slow round over all others
	listCount  = 500 // a page of the registry
	firstCount = 1000
	firstPages = 5 // pages of the first sweep, so that the list is soon complete
	scanCount  = 1000

	sweepRest = 5 * time.Second  // between the end of a sweep of the registry and the next
	scanRest  = 30 * time.Second // between the end of a scan of the keyspace and the next
)

// sweep is a walk by pages over the registry, or over the keyspace.
type sweep struct {
	number  uint32 // of the walk under way or done last; the first is 1
	cursor  string
	walking bool
	started time.Time
	met     int // keys of the walk under way
	total   int // keys there are, as far as that is known
	ended   time.Time
	took    time.Duration // of the last complete walk
	whole   bool          // there was one
}

// due reports whether a page is to be read at now, and begins the walk if a new
// one is due.
func (s *sweep) due(now time.Time, rest time.Duration) bool {
	if s.walking {
		return true
	}
	if s.number > 0 && now.Sub(s.ended) < rest {
		return false
	}
	s.number++
	s.cursor, s.walking, s.started, s.met = "", true, now, 0
	return true
}

// page takes in the cursor behind a page read, and reports whether the walk is
// complete.
func (s *sweep) page(next string, now time.Time) bool {
	s.cursor = next
	if next != "" {
		return false
	}
	s.walking, s.whole, s.ended, s.took = false, true, now, now.Sub(s.started)
	return true
}

// period is the time from one walk to the next; 0 before the first is complete.
func (s *sweep) period(rest time.Duration) time.Duration {
	if !s.whole {
		return 0
	}
	return s.took + rest
}

// progress is how far the first complete walk is; zero once it is over, and while
// nobody knows how long it is.
func (s *sweep) progress() Progress {
	if s.whole || s.total == 0 {
		return Progress{}
	}
	return Progress{Read: min(s.met, s.total), Total: s.total} // a page may name a key again
}

// abandon ends a walk that can't go on, since its cursor is another server's, and
// lets the next begin at once.
func (s *sweep) abandon() {
	s.walking, s.ended = false, time.Time{}
}

// takeList takes in a page of the registry. After a complete walk the buckets it
// did not meet are no longer registered.
func (m *model) takeList(page bucketctl.Page, now time.Time) {
	for _, b := range page.Buckets {
		if e := m.meet(b.Key); e != nil {
			e.sweep = m.sweep.number
			e.saw(b.Seen)
		}
	}
	m.sweep.met += len(page.Buckets)
	m.sweep.total = page.Total
	if m.sweep.page(page.Next, now) {
		m.unlist(func(e *entry) bool { return e.sweep != 0 && e.sweep != m.sweep.number }, func(e *entry) { e.sweep = 0 })
	}
}

// takeScan takes in a step over the keyspace.
func (m *model) takeScan(page bucketctl.ScanPage, now time.Time) {
	for _, found := range page.Keys {
		if e := m.meet(found.Key); e != nil {
			e.scan = m.scan.number
		}
	}
	if m.scan.page(page.Next, now) {
		m.unlist(func(e *entry) bool { return e.scan != 0 && e.scan != m.scan.number }, func(e *entry) { e.scan = 0 })
	}
}

// unlist applies to all entries that a complete walk did not meet. A bucket that
// appeared during the walk is met by the next one; what is known of it by other
// ways keeps it in the list meanwhile.
func (m *model) unlist(missed func(*entry) bool, drop func(*entry)) {
	for i := len(m.all) - 1; i >= 0; i-- {
		e := m.all[i]
		if !missed(e) {
			continue
		}
		drop(e)
		if !e.listed() && e.detail == nil {
			m.forget(e)
		}
	}
}

// plan is which buckets to read in this refresh: those on screen, those that
// something named, some of those to watch, and, where extra, some of all others.
func (m *model) plan(shown []string, now time.Time, extra bool) []string {
	p := picker{now: now, picked: make(map[string]bool, maxShown+maxDue+maxWatched+perRound)}
	for _, key := range shown[:min(len(shown), maxShown)] {
		if e := m.detailed(key); e != nil {
			e.shownAt = now
			p.add(e)
		}
	}
	m.planDue(&p)
	if extra {
		m.planWatched(&p)
		m.planRound(&p)
	}
	return p.keys
}

type picker struct {
	now    time.Time
	keys   []string
	picked map[string]bool
}

// add picks the bucket once, and not soon after Redis refused to read it.
func (p *picker) add(e *entry) bool {
	if p.picked[e.key] || e.detail != nil && p.now.Before(e.retryAt) {
		return false
	}
	p.picked[e.key] = true
	p.keys = append(p.keys, e.key)
	return true
}

func (m *model) planDue(p *picker) {
	n := 0
	for key := range m.due {
		if n == maxDue {
			return // the rest stays due
		}
		delete(m.due, key)
		if e := m.meet(key); e != nil && p.add(e) {
			n++
		}
	}
}

// planWatched goes round the buckets where somebody waits, or whose state would
// be an alarm for longer than it is true.
func (m *model) planWatched(p *picker) {
	n := len(m.active)
	for i, picked := 0, 0; i < n && picked < maxWatched; i++ {
		m.rotate = (m.rotate + 1) % n
		if e := m.active[m.rotate]; e.watched() && p.add(e) {
			picked++
		}
	}
}

func (e *entry) watched() bool {
	return e.crowd.waiting > 0 || e.code == Stuck || e.code == Corrupt || e.code == Cooldown || e.code == Held
}

// planRound goes round all buckets, so that what is wrong out of sight is found.
func (m *model) planRound(p *picker) {
	n := len(m.all)
	for i, picked := 0, 0; i < n && i < 2*perRound && picked < perRound; i++ {
		m.round = (m.round + 1) % n
		if p.add(m.all[m.round]) {
			picked++
		}
	}
}

// roundTime is how long the slow round takes.
func (m *model) roundTime() time.Duration {
	refreshes := (len(m.all) + perRound - 1) / perRound
	return time.Duration(max(1, refreshes)) * extraEvery(m.refresh)
}

// extraEvery is how often something out of sight is read, with refreshes so far
// apart: a quick refresh is for what is on screen.
func extraEvery(refresh time.Duration) time.Duration { return max(refresh, time.Second) }
