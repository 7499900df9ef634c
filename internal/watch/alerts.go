package watch

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"bucketop/bucketctl"
)

// Bounds of the attention lines.
const (
	maxAlerts = 100
	nameMost  = 3 // so many workers in the same plight get a line each, more share one
)

// alerts are the attention lines, gravest first. Holds, cooldowns and overrides
// are somebody's will and have their rows only.
func (m *model) alerts(s *Snapshot, now time.Time) []Alert {
	all := bucketAlerts(s.Buckets)
	all = append(all, m.workerAlerts(s.Workers, now)...)
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
		case Drift:
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
func (m *model) workerAlerts(workers []Worker, now time.Time) []Alert {
	var silent, local []plight
	for i := range workers {
		w := &workers[i]
		if w.Silent {
			silent = append(silent, plight{w, w.Seen})
		} else if since, found := localSince(w.Rows); found {
			local = append(local, plight{w, since})
		}
	}
	all := crewAlerts(Silent, silent, len(workers), now, m.silentText)
	return append(all, crewAlerts(Fallback, local, len(workers), now, localText)...)
}

// plight is a worker and since when it is as it is.
type plight struct {
	worker *Worker
	since  time.Time
}

func localSince(rows []WorkerRow) (since time.Time, found bool) {
	f := facts{rows: rows}
	since = f.localSince()
	return since, !since.IsZero()
}

// crewAlerts makes a line for each worker, or one for all where they are many:
// an outage is one matter, not fifty.
func crewAlerts(code Code, all []plight, total int, now time.Time, text func(*Worker) string) []Alert {
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b plight) int { return a.since.Compare(b.since) })
	head := func(p plight) string { return code.Word() + " " + age(p.since, now) + ": " }
	if len(all) > nameMost {
		first := all[0]
		return []Alert{{
			Code: code,
			Text: fmt.Sprintf("%s workers %s%s; %s first", of(len(all), total), head(first), text(first.worker), first.worker.Name),
		}}
	}
	var alerts []Alert
	for _, p := range all {
		alerts = append(alerts, Alert{Code: code, Worker: p.worker.Name, Text: head(p) + text(p.worker)})
	}
	return alerts
}

// silentText is what a silent worker may be up to: nobody can know which.
func (m *model) silentText(w *Worker) string {
	if w.Fallback == bucketctl.FallbackClosed {
		return "down, or cut off and letting nobody through"
	}
	if w.Open {
		return "down, or cut off and letting everybody through"
	}
	row, rate := m.largestExcess(w)
	if rate == 0 {
		return "down, or on its own share"
	}
	above := "limit"
	if len(w.Rows) > 1 {
		above = "the limit of " + row.Key
		above += " and " + strconv.Itoa(len(w.Rows)-1) + " more"
	}
	return fmt.Sprintf("down, or on its own share, +%s above %s", rateText(rate, unitOf(row)), above)
}

// largestExcess is the bucket that the worker may overdraw most, measured by its
// limit, and by how many tokens per second.
func (m *model) largestExcess(w *Worker) (WorkerRow, float64) {
	var (
		worst WorkerRow
		rate  float64
		part  = math.Inf(-1)
	)
	for _, row := range w.Rows {
		more, _ := excess(w.Fallback, row, m.peers(row.Key))
		if share := more / max(row.Limit.Rate, row.Declared.Rate, 1e-9); share > part {
			worst, rate, part = row, more, share
		}
	}
	return worst, rate
}

func unitOf(row WorkerRow) time.Duration {
	if row.Limit.Per > 0 {
		return row.Limit.Per
	}
	return row.Declared.Per
}

// localText is why a worker decides on its own, and how.
func localText(w *Worker) string {
	for _, row := range w.Rows {
		if !row.Mode.Local() {
			continue
		}
		return strings.TrimPrefix(row.Reason+", ", ", ") + localHow(row)
	}
	return ""
}

func localHow(row WorkerRow) string {
	switch row.Mode {
	case bucketctl.ModeClosed:
		return "letting nobody through"
	case bucketctl.ModeOpen:
		return "letting everybody through"
	case bucketctl.ModeShare, bucketctl.ModeShared:
	}
	if row.Share <= 0 {
		return "on its own share"
	}
	return "on its own share of " + rateText(row.Share, unitOf(row))
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
