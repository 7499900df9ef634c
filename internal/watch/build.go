package watch

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// build makes the snapshot of everything at now. Link, Cost and Match are the caller's.
func (m *model) build(now time.Time) *Snapshot {
	s := &Snapshot{
		At:      now,
		Server:  m.server.last,
		Buckets: m.rows(now),
		Events:  m.events,
		First:   m.sweep.progress(),
		Sweep:   m.sweep.period(sweepRest),
		Round:   m.roundTime(),
	}
	s.Counts, s.Known = m.tally()
	s.Forced = m.forced
	if !m.since.IsZero() {
		s.Back = min(forgetWorker, now.Sub(m.since))
	}
	m.addMarks(s.Buckets, now)
	s.Workers = m.workerRows()
	s.Alerts = m.alerts(s, now)
	return s
}

// rows are the buckets worst first.
func (m *model) rows(now time.Time) []Bucket {
	patience := m.patience()
	listed := m.listing()
	rows := make([]Bucket, len(listed))
	for i, e := range listed {
		e.fill(&rows[i], now, patience)
	}
	return rows
}

// listing is what a snapshot lists: all that has details, and, as far as there
// is room, what was never looked at. What is preferred goes before what is quiet.
func (m *model) listing() []*entry {
	prefer := m.prefer
	if len(m.all) <= MaxRows {
		prefer = nil
	}
	list := make([]*entry, 0, min(len(m.all), MaxRows+len(m.active)))
	var later []*entry
	for _, e := range m.active {
		switch {
		case !e.listed():
		case prefer == nil || e.code <= alarmLevel || prefer(e.key):
			list = append(list, e)
		default:
			later = append(later, e)
		}
	}
	looked := len(list)
	for _, e := range m.all {
		room := MaxRows - len(list)
		if room <= 0 || prefer == nil && len(later) >= room {
			break
		}
		switch {
		case e.detail != nil || !e.listed():
		case prefer != nil && prefer(e.key):
			list = append(list, e)
		case len(later) < room:
			later = append(later, e)
		}
	}
	list = append(list, later[:min(len(later), max(0, MaxRows-len(list)))]...)
	if len(list) > looked {
		slices.SortFunc(list, compareEntries)
	}
	return list
}

// tally counts the known buckets by state, and all of them.
func (m *model) tally() (byCode map[Code]int, all int) {
	counts := m.counts
	for _, e := range m.active {
		if !e.listed() {
			counts[e.code]--
		}
	}
	byCode = map[Code]int{}
	for code, n := range counts {
		if n > 0 {
			byCode[Code(code)] = n
			all += n
		}
	}
	return byCode, all
}

// workerRows are the workers, worst first: of those apart who may exceed a limit
// by most, then who is so for longest, then by name; who is gone last.
func (m *model) workerRows() []Worker {
	all := make([]Worker, 0, len(m.crew)+len(m.gone))
	for _, r := range m.crew {
		all = append(all, view(r.report, r.name, r.silent, m.withOver(r)))
	}
	all = append(all, m.gone...)
	slices.SortStableFunc(all, func(a, b Worker) int {
		bySince := a.Since.Compare(b.Since)
		if a.State == WorkerGone {
			bySince = -bySince // the newest first
		}
		return cmp.Or(cmp.Compare(a.State, b.State), -cmp.Compare(overPart(&a), overPart(&b)), bySince, strings.Compare(a.Name, b.Name))
	})
	return all
}

// withOver are the rows of r with what the buckets know of them together.
func (m *model) withOver(r *reporter) []WorkerRow {
	rows, own := r.rows, false
	for i := range rows {
		e := m.entries[rows[i].Key]
		if !rows[i].apart() || e == nil || e.detail == nil {
			continue
		}
		at, found := slices.BinarySearchFunc(e.rows, r.name, func(row WorkerRow, name string) int { return strings.Compare(row.Name, name) })
		if !found {
			continue
		}
		if !own {
			rows, own = slices.Clone(r.rows), true
		}
		rows[i].Over = e.rows[at].Over
	}
	return rows
}
