package watch

import (
	"slices"
	"time"
)

// build makes the snapshot of everything at now. Link, Cost and Match are the caller's.
func (m *model) build(now time.Time) *Snapshot {
	s := &Snapshot{
		At:      now,
		Server:  m.server.last,
		Buckets: m.rows(now),
		Events:  m.events,
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

// addMarks puts the events of the last minute into the histories of the buckets
// they are about. A worker's event without a bucket is about all of its.
func (m *model) addMarks(rows []Bucket, now time.Time) {
	marks := map[string][]Mark{}
	byWorker := map[string][]Mark{}
	for _, event := range slices.Backward(m.events) {
		if now.Sub(event.At) > historyLen*time.Second {
			break
		}
		mark := Mark{At: event.At, Kind: event.Kind}
		if event.Key != "" {
			marks[event.Key] = append(marks[event.Key], mark)
		} else {
			name := m.nameOf(event.By)
			byWorker[name] = append(byWorker[name], mark)
		}
	}
	if len(marks)+len(byWorker) == 0 {
		return
	}
	for i := range rows {
		row := &rows[i]
		if len(row.History.Levels) > 0 {
			row.History.Marks = marksOf(row, marks, byWorker)
		}
	}
}

// nameOf is the name of the worker that signs events by its ID.
func (m *model) nameOf(by string) string {
	if r := m.workers[by]; r != nil {
		return r.name
	}
	return by
}

func marksOf(row *Bucket, marks, byWorker map[string][]Mark) []Mark {
	all := slices.Clone(marks[row.Key])
	for _, worker := range row.Workers {
		all = append(all, byWorker[worker.Name]...)
	}
	slices.SortFunc(all, func(a, b Mark) int { return a.At.Compare(b.At) })
	return all
}

// workerRows are the workers by name.
func (m *model) workerRows() []Worker {
	all := make([]Worker, 0, len(m.crew))
	for _, r := range m.crew {
		w := Worker{Worker: r.report, Name: r.name, Silent: r.silent, Rows: r.rows}
		if r.silent {
			w.Excess, w.Open = m.excessOf(r)
		}
		all = append(all, w)
	}
	return all
}

// excessOf is what a silent worker may draw above the limits of all its buckets.
func (m *model) excessOf(r *reporter) (rate float64, open bool) {
	for _, row := range r.rows {
		more, unbounded := excess(r.report.Fallback, row, m.peers(row.Key))
		rate, open = rate+more, open || unbounded
	}
	return rate, open
}

// peers is how many workers draw from the bucket.
func (m *model) peers(key string) int {
	if e := m.entries[key]; e != nil && e.detail != nil {
		return len(e.from)
	}
	return 1
}
