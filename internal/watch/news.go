package watch

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/schema"
)

// takeReports takes in reports, oldest first or one of each worker.
func (m *model) takeReports(reports []bucketctl.Worker) {
	for _, w := range reports {
		if m.since.IsZero() || w.Seen.Before(m.since) {
			m.since = w.Seen
		}
		m.takeReport(w)
	}
}

func (m *model) takeReport(w bucketctl.Worker) {
	r := m.workers[w.ID]
	switch {
	case r == nil && w.Closing:
		m.partFrom(w, "shut down in order")
		return
	case r == nil && len(m.workers) >= maxWorkers:
		return
	case r != nil && w.Closing:
		m.dismiss(r)
		m.partFrom(w, "shut down in order")
		return
	case r == nil:
		r = &reporter{name: w.App}
		m.workers[w.ID] = r
		m.crew = append(m.crew, r)
	case !w.Seen.After(r.report.Seen):
		return
	}
	r.take(w,
		func(at int, before *WorkerRow) { m.join(r, at, before) },
		func(key string) { m.leave(r, key) })
}

// partFrom keeps a worker that is gone, to be told of for a while.
func (m *model) partFrom(w bucketctl.Worker, why string) {
	if slices.ContainsFunc(m.gone, func(g Worker) bool { return g.ID == w.ID }) {
		return
	}
	v := view(w, w.ID, false, rowsOf(w.ID, &w))
	v.State, v.Since, v.Why = WorkerGone, w.Seen, why
	m.gone = append(m.gone, v)
	m.gone = slices.Clone(m.gone[max(0, len(m.gone)-maxGone):])
}

// dismiss forgets a worker that shut down in order, or was not heard of for very
// long.
func (m *model) dismiss(r *reporter) {
	delete(m.workers, r.report.ID)
	m.crew = slices.DeleteFunc(m.crew, func(other *reporter) bool { return other == r })
	for _, row := range r.rows {
		m.leave(r, row.Key)
	}
	r.rows = nil
}

// leave takes r off a bucket that it no longer reports.
func (m *model) leave(r *reporter, key string) {
	if e := m.entries[key]; e != nil && e.detail != nil {
		e.from = slices.DeleteFunc(e.from, func(other member) bool { return other.reporter == r })
		e.stale = true
	}
}

// join takes in one row of a report; before is the same of the report before.
func (m *model) join(r *reporter, at int, before *WorkerRow) {
	row := &r.rows[at]
	e := m.detailed(row.Key)
	if e == nil {
		return
	}
	i := slices.IndexFunc(e.from, func(other member) bool { return other.reporter == r })
	if i < 0 {
		i = len(e.from)
		e.from = append(e.from, member{reporter: r})
	}
	e.from[i].at = at
	e.stale = true
	e.saw(row.Seen)
	if !math.IsNaN(row.Rate) && row.Granted > before.Granted {
		e.sawGrant(row.Seen)
	}
	if row.Waiting > 0 || before != nil && before.Waiting > 0 {
		m.due[row.Key] = true
	}
}

func (d *detail) sawGrant(at time.Time) {
	if at.After(d.lastGrant) {
		d.lastGrant = at
	}
}

// muster renews which workers are heard of, and under which names, and gathers
// the rows of the buckets that this or a report changed.
func (m *model) muster(now time.Time) {
	if !m.reportsAt.IsZero() && m.reportsAt.Before(now) {
		now = m.reportsAt // who is not heard of since may only not be listened to
	}
	for _, r := range slices.Clone(m.crew) {
		if now.Sub(r.report.Seen) > forgetWorker {
			m.dismiss(r)
		}
	}
	for _, r := range replaced(m.crew, now) {
		m.dismiss(r)
		m.partFrom(r.report, "its process was started anew")
	}
	m.gone = slices.DeleteFunc(m.gone, func(w Worker) bool { return now.Sub(w.Seen) > forgetWorker })
	names := namesOf(m.crew)
	for i, r := range m.crew {
		if !r.mark(names[i], r.report.SilentAt(now)) {
			continue
		}
		for _, row := range r.rows {
			if e := m.entries[row.Key]; e != nil && e.detail != nil {
				e.stale = true
			}
		}
	}
	slices.SortFunc(m.crew, func(a, b *reporter) int { return strings.Compare(a.name, b.name) })
	for _, e := range m.active {
		if e.stale {
			e.gather()
		}
	}
}

// gather makes the bucket's rows anew.
func (e *entry) gather() {
	d := e.detail
	d.stale = false
	d.rows = make([]WorkerRow, 0, len(d.from))
	for _, r := range d.from {
		d.rows = append(d.rows, r.rows[r.at])
	}
	slices.SortFunc(d.rows, func(a, b WorkerRow) int { return strings.Compare(a.Name, b.Name) })
	d.crowd = together(d.rows)
	markOver(d.rows, inForce(&d.state, d.rows))
}

// takeEvents takes in events, oldest first, and the buckets they name are read
// in this refresh. What was there when the console started is told, but asks for
// nothing.
func (m *model) takeEvents(events []bucketctl.Event, now time.Time) {
	if !m.following {
		m.following, m.events = true, nil
		m.keepEvents(events)
		return
	}
	m.keepEvents(events)
	for _, event := range events {
		if event.Key == "" {
			continue
		}
		e := m.detailed(event.Key)
		if e == nil {
			continue
		}
		m.due[event.Key] = true
		e.named = now
		if byOperator(event.Kind) {
			e.prompt, e.stopped = now.Add(promptFor), laterOf(e.stopped, event.At)
		}
	}
}

func (m *model) keepEvents(events []bucketctl.Event) {
	if len(events) == 0 {
		return
	}
	m.eventID = events[len(events)-1].ID
	all := slices.Concat(m.events, events)
	m.events = all[max(0, len(all)-maxEvents):]
}

// byOperator reports whether the event is an operator's own change, whose effect
// is shown at once.
func byOperator(kind bucketctl.EventKind) bool {
	switch kind {
	case bucketctl.EventLimit, bucketctl.EventUnset, bucketctl.EventHold, bucketctl.EventResume,
		bucketctl.EventUndo, bucketctl.EventReset, bucketctl.EventDelete:
		return true
	case bucketctl.EventFallback, bucketctl.EventShared, bucketctl.EventCooldown, bucketctl.EventMended:
	}
	return false
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// takeStates takes in what was read of buckets. Fields as stored are kept for
// what is on screen only.
func (m *model) takeStates(states []bucketctl.State, now time.Time) {
	for _, state := range states {
		e := m.detailed(state.Key)
		if e == nil {
			continue
		}
		e.retryAt = time.Time{}
		lookedAt := now.Sub(e.shownAt) <= shownFor
		e.guessUse(state)
		if !lookedAt {
			state.Raw, state.RawLimit = nil, nil
		}
		e.take(state)
		if lookedAt {
			e.remember(state, m.gap())
		}
	}
}

func (d *detail) take(state bucketctl.State) {
	before := d.state.Granted
	d.state, d.read = state, true
	if !counts(&state) {
		return
	}
	first := d.counter.n == 0
	grown := d.counter.add(state.At, state.Granted)
	restarted := !first && state.Granted < before && state.Granted > 0
	if grown > 0 || restarted {
		d.sawGrant(state.At)
	}
}

// remember adds a point to the last minute.
func (d *detail) remember(state bucketctl.State, gap time.Duration) {
	if d.history == nil {
		d.history = &history{}
	}
	granted := state.Granted
	if !counts(&state) {
		granted = math.NaN()
	}
	d.history.add(state.At, state.Level, granted, gap)
}

// guessUse takes the stored time of the level for the last use, until a grant is
// seen: it moves when somebody asks, and nothing else tells of the time before
// the console was started.
func (d *detail) guessUse(state bucketctl.State) {
	ts, err := strconv.ParseFloat(state.Raw[schema.FieldTs], 64)
	if err != nil || !(ts > 0 && ts < float64(state.At.Unix()+1)) {
		return
	}
	d.lastUse = time.UnixMicro(int64(ts * 1e6)).UTC()
}

// counts reports whether the bucket counts what it grants. A window need not.
func counts(state *bucketctl.State) bool {
	return state.Kind == bucketctl.KindBucket || state.Kind == bucketctl.KindWindow && state.Granted > 0
}
