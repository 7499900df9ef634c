package watch

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

// Bounds of the attention lines.
const (
	maxAlerts = 100
	nameMost  = 3 // so many workers in the same plight get a line each, more share one
)

// alerts are the attention lines, gravest first. Holds and overrides are an
// operator's will and have their rows only.
func (m *model) alerts(s *Snapshot, now time.Time) []Alert {
	all := bucketAlerts(s.Buckets)
	all = append(all, workerAlerts(s.Workers, now)...)
	slices.SortStableFunc(all, func(a, b Alert) int {
		return cmp.Compare(a.Code, b.Code)
	})
	all = append(all, m.serverAlerts(now)...)
	return all[:min(len(all), maxAlerts)]
}

// bucketAlerts are the lines about buckets, which come worst first.
func bucketAlerts(rows []Bucket) []Alert {
	var all []Alert
	for i := range rows {
		row := &rows[i]
		if row.Status.Code > alarmLevel || len(all) == maxAlerts {
			break
		}
		switch code := row.Status.Code; code {
		case Stuck, Corrupt:
			all = append(all, Alert{Code: code, Key: row.Key, Text: alertText(row.Status), Grave: true})
		case Cooldown, Drift:
			all = append(all, Alert{Code: code, Key: row.Key, Text: alertText(row.Status)})
		default: // the line is about the worker, or nobody needs one
		}
	}
	return all
}

// alertText is "STUCK 4m: ts is 9m ahead, no refill until 14:41 (R resets)".
func alertText(s Status) string {
	text := s.Code.Word()
	if s.Text != "" {
		text += " " + s.Text
	}
	if s.Code == Cooldown {
		text += " left" // beside lines that say how long something has lasted
	}
	if s.Cause != "" {
		text += ": " + s.Cause
	}
	if s.Remedy != "" {
		text += " (" + s.Remedy + ")"
	}
	return text
}

// workerAlerts are the lines about workers that are not heard of, or decide on
// their own.
func workerAlerts(workers []Worker, now time.Time) []Alert {
	var in [WorkerGone + 1][]*Worker
	for i := range workers {
		w := &workers[i]
		in[w.State] = append(in[w.State], w)
	}
	total := len(workers) - len(in[WorkerGone])
	all := crewAlerts(Silent, in[WorkerSilent], total, now)
	return append(all, crewAlerts(Fallback, in[WorkerFallback], total, now)...)
}

func localSince(rows []WorkerRow) (since time.Time, found bool) {
	f := facts{rows: rows}
	since = f.localSince()
	return since, !since.IsZero()
}

// crewAlerts makes a line for each worker, or one for all where they are many:
// an outage is one matter, not fifty. The workers come worst first.
func crewAlerts(code Code, all []*Worker, total int, now time.Time) []Alert {
	if len(all) > nameMost {
		return []Alert{{Code: code, Text: of(len(all), total) + " workers " + code.Word() + " " + age(longest(all), now) + ": " + manyText(code, all)}}
	}
	var alerts []Alert
	for _, w := range all {
		alerts = append(alerts, Alert{Code: code, Worker: w.Name, Text: code.Word() + " " + age(w.Since, now) + ": " + w.Why})
	}
	return alerts
}

// longest is since when the first of them is as they are.
func longest(all []*Worker) time.Time {
	first := all[0].Since
	for _, w := range all {
		if w.Since.Before(first) {
			first = w.Since
		}
	}
	return first
}

// manyText is what many workers are up to together, and what they may draw above
// the limits: of each bucket the sum.
func manyText(code Code, all []*Worker) string {
	byKey, reasons := map[string]*WorkerRow{}, map[string]int{}
	unbounded := 0
	for _, w := range all {
		open := false
		if worst := w.Worst(); worst != nil && worst.Reason != "" {
			reasons[worst.Reason]++
		}
		for _, row := range w.Rows {
			switch sum := byKey[row.Key]; {
			case math.IsInf(row.Over, 1):
				open = true
			case sum != nil:
				sum.Over += row.Over
			default:
				byKey[row.Key] = &row
			}
		}
		if open {
			unbounded++
		}
	}
	rows := make([]WorkerRow, 0, len(byKey))
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		rows = append(rows, *byKey[key])
	}
	text := "on their own" + overText(rows, true)
	if code == Silent {
		text = "down, or " + text
	}
	if unbounded > 0 {
		text += ", " + strconv.Itoa(unbounded) + " letting everybody through"
	}
	if why := commonest(reasons); why != "" && code == Fallback {
		text += ": " + why
	}
	return text
}

// commonest is the reason that most give, and how many those are where others
// give others.
func commonest(reasons map[string]int) string {
	best, all := "", 0
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		all += reasons[reason]
		if best == "" || reasons[reason] > reasons[best] {
			best = reason
		}
	}
	if n := reasons[best]; n < all {
		return strconv.Itoa(n) + " by " + best
	}
	return best
}

// serverAlerts are the lines about Redis itself. They stand last: nothing is
// lost yet where nothing else is reported. Their Code is OK.
func (m *model) serverAlerts(now time.Time) []Alert {
	var all []Alert
	add := func(text string) { all = append(all, Alert{Code: OK, Text: text}) }
	server := m.server.last
	if started := m.server.restart; !started.IsZero() && now.Sub(started) < restartNews {
		add("Redis restarted " + age(started, now) + " ago: what it had not saved begins anew")
	}
	if evictsBuckets(server) {
		text := "maxmemory-policy " + server.Eviction + " may evict buckets, which then start full"
		if !m.server.evicting.IsZero() {
			text += fmt.Sprintf("; %d keys evicted, the last %s ago", server.Evicted, age(m.server.evicting, now))
		} else if server.Evicted > 0 {
			text += fmt.Sprintf("; %d keys evicted since it started", server.Evicted)
		}
		add(text)
	}
	for _, what := range slices.Sorted(maps.Keys(m.refused)) {
		add("can't read " + what + ": " + m.refused[what])
	}
	return all
}
