package watch

import (
	"slices"
	"time"

	"bucketop/bucketctl"
)

// Marks that no event tells of.
const (
	MarkSilent bucketctl.EventKind = "silent"        // a worker was heard of last
	MarkCooled bucketctl.EventKind = "cooldown over" // a cooldown ended
)

// addMarks puts what happened in the last minute into the histories of the
// buckets that it is about. A worker's event without a bucket is about all of its.
func (m *model) addMarks(rows []Bucket, now time.Time) {
	byKey, byWorker := m.recentMarks(now)
	for i := range rows {
		if row := &rows[i]; len(row.History.Levels) > 0 {
			row.History.Marks = marksOf(row, byKey, byWorker, now)
		}
	}
}

// recentMarks are the marks of the last minute's events, by bucket, and by the
// worker where they name none.
func (m *model) recentMarks(now time.Time) (byKey, byWorker map[string][]Mark) {
	byKey, byWorker = map[string][]Mark{}, map[string][]Mark{}
	for _, event := range slices.Backward(m.events) {
		if now.Sub(event.At) > historyLen*time.Second {
			break
		}
		if event.Key != "" {
			byKey[event.Key] = append(byKey[event.Key], eventMarks(event, now)...)
		} else {
			name := m.nameOf(event.By)
			byWorker[name] = append(byWorker[name], eventMarks(event, now)...)
		}
	}
	return byKey, byWorker
}

// eventMarks are where an event stands in a chart. An outage is told of when it
// is over, and a cooldown when it begins.
func eventMarks(event bucketctl.Event, now time.Time) []Mark {
	marks := []Mark{{At: event.At, Kind: event.Kind}}
	if o, ok := OutageOf(&event); ok && event.Kind == bucketctl.EventFallback && o.Since.Before(event.At) {
		marks[0].At = o.Since
	}
	if until, ok := detailTime(&event, DetailUntil); ok && event.Kind == bucketctl.EventCooldown && !until.After(now) {
		marks = append(marks, Mark{At: until, Kind: MarkCooled})
	}
	return marks
}

// nameOf is the name of the worker that signs events by its ID.
func (m *model) nameOf(by string) string {
	if r := m.workers[by]; r != nil {
		return r.name
	}
	return by
}

// marksOf are the marks of a bucket, oldest first. Who is apart at this moment has
// not told of it yet; its row knows since when.
func marksOf(row *Bucket, byKey, byWorker map[string][]Mark, now time.Time) []Mark {
	all := slices.Clone(byKey[row.Key])
	for i := range row.Workers {
		w := &row.Workers[i]
		all = append(all, byWorker[w.Name]...)
		switch {
		case w.Silent:
			all = append(all, Mark{At: w.Seen, Kind: MarkSilent})
		case w.Mode.Local():
			all = append(all, Mark{At: w.Since, Kind: bucketctl.EventFallback})
		}
	}
	all = slices.DeleteFunc(all, func(mark Mark) bool {
		cooling := mark.Kind == MarkCooled && row.State.Cooldown.Until.After(now) // it was made longer
		return cooling || now.Sub(mark.At) > historyLen*time.Second
	})
	slices.SortFunc(all, func(a, b Mark) int { return a.At.Compare(b.At) })
	return all
}
