package ui

import (
	"math"
	"strconv"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// workerColumns are the columns of the workers screen. Where the window is narrow
// the name and the state stay, then what tells how bad it is.
func workerColumns() []column {
	return []column{
		{title: "", least: 1},
		{title: "WORKER", flex: true, name: true, most: 40, least: 14},
		{title: "STATE", least: 12},
		{title: "MAY EXCEED", least: 10, right: true, maybe: true, keep: 10},
		{title: "GRANTED", least: 8, right: true, keep: 9},
		{title: "WAITING", least: 7, right: true, keep: 8},
		{title: "WAIT P99", least: 8, right: true, keep: 6},
		{title: "SHARE", least: 8, right: true, keep: 7},
		{title: "REV SEEN", least: 8, right: true, keep: 4},
		{title: "BUCKETS", least: 7, right: true, keep: 3},
		{title: "WHY", flex: true, maybe: true, least: 20, keep: 5},
		{title: "APP ON HOST", flex: true, keep: 2},
	}
}

func (a *app) workerCells(w *watch.Worker, selected bool) []cell {
	rate, waiting, p99 := w.Totals()
	cursor, bold := " ", paint{}
	if selected {
		cursor, bold = a.cursor, a.strong
	}
	return []cell{
		{cursor, a.strong}, {a.esc(w.Name), bold}, a.plightCell(w.State, w.Since),
		overCell(a, w.Worst()), plainCell(grantsCell(w, rate)), plainCell(waitingOf(w, waiting)), plainCell(latencyCell(w, p99)),
		plainCell(shareCell(w)), a.revsCell(w), plainCell(strconv.Itoa(len(w.Rows))),
		plainCell(a.esc(w.Brief())), plainCell(a.esc(w.App) + " on " + a.esc(w.Host)),
	}
}

// plightCell is how a worker decides and for how long: "SILENT 42s".
func (a *app) plightCell(state watch.WorkerState, since time.Time) cell {
	text := state.Word()
	if !since.IsZero() {
		text += " " + rough(a.dataNow().Sub(since))
	}
	return cell{text, a.workerMood(state)}
}

// overCell is what a worker may draw on top of a bucket's limit, in that limit's
// own unit.
func overCell(a *app, row *watch.WorkerRow) cell {
	switch {
	case row == nil || !(row.Over > 0):
		return cell{}
	case math.IsInf(row.Over, 1):
		return cell{"no bound", a.warn}
	}
	return cell{"+" + rateText(row.Over, unitOf(row), 4), a.warn}
}

// unitOf is the limit in whose unit a worker's rates are shown.
func unitOf(row *watch.WorkerRow) bucketctl.Limit {
	if row.Limit.IsZero() {
		return row.Declared
	}
	return row.Limit
}

// grantsCell is what a worker grants, in the limit's unit where there is one.
func grantsCell(w *watch.Worker, rate float64) string {
	switch {
	case w.State == watch.WorkerGone:
		return "-"
	case math.IsNaN(rate):
		return unknown
	case len(w.Rows) == 1:
		return rateText(rate, unitOf(&w.Rows[0]), 4)
	}
	return short(rate, 4) + "/s"
}

func waitingOf(w *watch.Worker, waiting int) string {
	switch {
	case w.State == watch.WorkerGone:
		return "-"
	case waiting < 0:
		return unknown
	}
	return short(float64(waiting), 4)
}

func latencyCell(w *watch.Worker, p99 time.Duration) string {
	if w.State == watch.WorkerSilent {
		return unknown
	}
	return latency(p99)
}

// shareCell is what the worker may use alone: of its only bucket, or of the one
// where it is worst off; shares of several buckets make no sum.
func shareCell(w *watch.Worker) string {
	row := w.Worst()
	if row == nil || row.Share <= 0 || w.State == watch.WorkerGone {
		return "-"
	}
	text := shareText(row, unitOf(row))
	if more := len(w.Rows) - 1; more > 0 {
		text += " +" + strconv.Itoa(more)
	}
	return text
}

// shareText is what a worker may use alone: its share, or what its policy says.
func shareText(row *watch.WorkerRow, limit bucketctl.Limit) string {
	switch row.Fallback {
	case bucketctl.FallbackClosed, bucketctl.FallbackOpen:
		return string(row.Fallback)
	case bucketctl.FallbackShare:
	}
	return rateText(row.Share, limit, 4)
}

// revsCell is whether the worker has seen what operators changed: the rev on one
// bucket; on how many of several it is behind.
func (a *app) revsCell(w *watch.Worker) cell {
	if w.State == watch.WorkerGone {
		return plainCell("-")
	}
	if len(w.Rows) == 1 {
		b, _ := a.bucket(w.Rows[0].Key)
		return a.revCell(&b.State, &w.Rows[0])
	}
	behind := 0
	for i := range w.Rows {
		if b, known := a.bucket(w.Rows[i].Key); known && w.Rows[i].Rev < b.State.Rev {
			behind++
		}
	}
	if behind > 0 {
		return cell{strconv.Itoa(behind) + " old", a.warn}
	}
	return plainCell("all")
}

// revCell is the rev that a worker saw last of a bucket.
func (a *app) revCell(s *bucketctl.State, row *watch.WorkerRow) cell {
	switch {
	case row.Rev > 0 && row.Rev < s.Rev:
		return cell{a.rev(row.Rev) + " old", a.warn}
	case row.Rev > 0:
		return plainCell(a.rev(row.Rev))
	case s.Rev > 0:
		return cell{"none yet", a.warn}
	}
	return plainCell("-")
}

// about says in at most so many lines why the selected worker is as it is, who it
// is, and what it draws from.
func (w *workersScreen) about(a *app, width, most int) []string {
	worker := w.workers[w.list.cursor]
	if worker == nil || most == 0 {
		return nil
	}
	var lines []string
	for _, text := range a.aboutWorker(worker) {
		for i, line := range wrap(text, width-2) {
			switch {
			case len(lines) < most:
				lines = append(lines, " "+line)
			case i == 0:
				return lines
			default: // this text is cut, not left out
				lines[most-1] = a.cut(lines[most-1]+" "+a.ellipsis, width-1)
				return lines
			}
		}
	}
	return lines
}

// aboutWorker are texts about a worker, the most urgent first.
func (a *app) aboutWorker(w *watch.Worker) []string {
	var texts []string
	if state := a.plightCell(w.State, w.Since); w.Why != "" {
		texts = append(texts, state.mood.text(state.text)+": "+a.esc(w.Why))
	}
	who := a.strong.text(a.name(w.Name, 30)) + "  " + a.esc(w.App) + " on " + a.esc(w.Host)
	texts = append(texts,
		a.join(who, "pid "+strconv.Itoa(w.PID), "bucketctl "+a.esc(w.Version), a.uptime(w),
			"reports every "+rough(w.Interval), "without Redis: "+a.esc(string(w.Fallback))),
		"draws from "+a.drawsFrom(w))
	if o := w.Outage; !o.Since.IsZero() {
		texts = append(texts, "last without Redis "+clockTime(o.Since, a.serverNow())+" for "+rough(o.Lasted)+", "+
			plain(o.Local)+" granted alone: "+a.quoted(o.Reason))
	}
	return texts
}

// uptime is how long a worker runs, by its own clock, which may be wrong.
func (a *app) uptime(w *watch.Worker) string {
	up := a.dataNow().Sub(w.Start)
	switch {
	case w.Start.IsZero():
		return ""
	case up < -time.Minute:
		return "its clock is wrong: started " + w.Start.UTC().Format("2006-01-02 15:04:05")
	}
	return "up " + rough(up)
}

// drawsFrom are some of a worker's buckets.
func (a *app) drawsFrom(w *watch.Worker) string {
	const most = 8
	if len(w.Rows) == 0 {
		return "no bucket yet"
	}
	text := ""
	for i := range w.Rows[:min(most, len(w.Rows))] {
		row := &w.Rows[i]
		if i > 0 {
			text += ", "
		}
		text += a.name(row.Key, 24) + " " + a.esc(string(row.Mode))
	}
	if more := len(w.Rows) - most; more > 0 {
		text += ", " + strconv.Itoa(more) + " more"
	}
	return text
}
