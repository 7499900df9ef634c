package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// workersScreen lists the processes that draw from the buckets: those that
// don't share them first.
type workersScreen struct {
	list  cursorList
	index map[string]int // name -> place in the snapshot
}

func newWorkersScreen(cursor string) *workersScreen {
	return &workersScreen{list: cursorList{cursor: cursor, window: 1}}
}

func (a *app) openWorkers() tea.Cmd {
	a.push(newWorkersScreen(""))
	return nil
}

func (w *workersScreen) place() place { return onWorkers }

func (w *workersScreen) move(_ *app, by int) { w.list.move(by) }
func (w *workersScreen) page(_ *app, by int) { w.list.page(by) }

func (w *workersScreen) take(a *app) {
	workers := a.snap.Workers
	w.index = make(map[string]int, len(workers))
	names := make([]string, len(workers))
	for i := range workers {
		w.index[workers[i].Name] = i
		names[i] = workers[i].Name
	}
	slices.SortStableFunc(names, func(x, y string) int {
		return trouble(&workers[w.index[x]]) - trouble(&workers[w.index[y]])
	})
	w.list.set(names, a.calm())
}

// trouble ranks workers: 0 is the worst.
func trouble(w *watch.Worker) int {
	row := worstRow(w)
	switch {
	case w.Closing:
		return 3
	case w.Silent:
		return 0
	case row != nil && row.Mode.Local():
		return 1
	}
	return 2
}

// worstRow is the bucket that a worker is off the longest: one that it does not
// share, else the one where most of its callers wait.
func worstRow(w *watch.Worker) *watch.WorkerRow {
	var worst *watch.WorkerRow
	for i := range w.Rows {
		row := &w.Rows[i]
		if worst == nil || row.Mode.Local() && !worst.Mode.Local() ||
			row.Mode.Local() == worst.Mode.Local() && row.Waiting > worst.Waiting {
			worst = row
		}
	}
	return worst
}

// selected is the worst bucket of the selected worker.
func (w *workersScreen) selected(a *app) (string, bool) {
	if i, ok := w.index[w.list.cursor]; ok {
		if row := worstRow(&a.snap.Workers[i]); row != nil {
			return row.Key, true
		}
	}
	return "", false
}

func workerColumns() []column {
	return []column{
		{title: "", least: 1},
		{title: "WORKER", flex: true, ends: true, least: 16},
		{title: "STATE", least: 12},
		{title: "WHY", flex: true, least: 20, keep: 7},
		{title: "WAITING", least: 7, right: true, keep: 8},
		{title: "GRANTED", least: 8, right: true, keep: 9},
		{title: "SHARE", least: 8, right: true, keep: 5},
		{title: "WAIT P99", least: 8, right: true, keep: 4},
		{title: "BUCKETS", least: 7, right: true, keep: 3},
		{title: "APP ON HOST", flex: true, keep: 2},
	}
}

func (w *workersScreen) view(a *app, width, height int) []string {
	about := 3
	if height < 12 {
		about = 0
	}
	lines := []string{" " + a.strong.text("WORKERS") + "  " + a.workersSummary()}
	if len(a.snap.Workers) == 0 {
		for _, line := range wrap("No worker has reported in the last 15 minutes. "+
			"Programs that embed bucketctl report by themselves; other programs are not seen here.", width-4) {
			lines = append(lines, "   "+line)
		}
		return lines
	}
	names := w.list.fit(height - 2 - about - min(1, about))
	rows := make([][]cell, len(names))
	for i, name := range names {
		rows[i] = a.workerCells(&a.snap.Workers[w.index[name]], name == w.list.cursor)
	}
	heading, drawn := a.table(workerColumns(), rows, width-2)
	lines = append(lines, " "+heading)
	for _, line := range drawn {
		lines = append(lines, " "+a.aged(line))
	}
	for len(lines) < height-about {
		lines = append(lines, "")
	}
	return append(lines, w.about(a, about, width)...)
}

// aged dims a line that may no longer be true.
func (a *app) aged(line string) string {
	if a.old() {
		return a.dim.text(plainText(line))
	}
	return line
}

func (a *app) workersSummary() string {
	var n [4]int
	for i := range a.snap.Workers {
		n[trouble(&a.snap.Workers[i])]++
	}
	parts := []string{strconv.Itoa(n[2]) + " shared"}
	for i, what := range []string{"silent", "in fallback"} {
		if n[i] > 0 {
			parts = append(parts, a.warn.text(strconv.Itoa(n[i])+" "+what))
		}
	}
	if n[3] > 0 {
		parts = append(parts, strconv.Itoa(n[3])+" gone")
	}
	return a.join(parts...)
}

func (a *app) workerCells(w *watch.Worker, selected bool) []cell {
	state, why, mood := a.workerState(w)
	waiting, granted, p99 := 0, 0.0, time.Duration(0)
	for i := range w.Rows {
		waiting += max(0, w.Rows[i].Waiting)
		granted += w.Rows[i].Rate
		p99 = max(p99, w.Rows[i].WaitP99)
	}
	share := ""
	if row := worstRow(w); row != nil && row.Share > 0 {
		share = rateText(row.Share, row.Limit, 4)
	}
	cursor, bold := " ", paint{}
	if selected {
		cursor, bold = a.cursor, a.strong
	}
	return []cell{
		{cursor, a.strong}, {a.name(w.Name, 40), bold}, {state, mood}, plainCell(why),
		plainCell(short(float64(waiting), 4)), plainCell(short(granted, 4) + "/s"), plainCell(share),
		plainCell(latency(p99)), plainCell(strconv.Itoa(len(w.Rows))),
		plainCell(a.esc(w.App) + " on " + a.esc(w.Host)),
	}
}

// workerState is how a worker decides, and why; of one that is silent nobody
// can know, so both possibilities are said.
func (a *app) workerState(w *watch.Worker) (state, why string, mood paint) {
	now := a.dataNow()
	row := worstRow(w)
	switch {
	case w.Closing:
		return "gone " + rough(now.Sub(w.Seen)), "shut down in order", a.dim
	case w.Silent:
		why = "down, or on its own share"
		switch {
		case w.Open:
			why = "down, or cut off and letting everybody through"
		case w.Fallback == bucketctl.FallbackClosed:
			why = "down, or cut off and letting nobody through"
		case w.Excess > 0 && row != nil:
			why += ": up to +" + rateText(w.Excess, row.Limit, 4) + " above the limit"
		}
		return "SILENT " + rough(now.Sub(w.Seen)), why, a.warn
	case row != nil && row.Mode.Local():
		why = a.esc(row.Reason)
		if others := localRows(w) - 1; others > 0 {
			why += ", and " + count(others, "more bucket")
		}
		return "FALLBACK " + rough(now.Sub(row.Since)), a.esc(string(row.Mode)) + ": " + why, a.warn
	}
	return "shared", "", paint{}
}

func localRows(w *watch.Worker) int {
	n := 0
	for i := range w.Rows {
		if w.Rows[i].Mode.Local() {
			n++
		}
	}
	return n
}

// about says who the selected worker is and what it draws from.
func (w *workersScreen) about(a *app, most, width int) []string {
	i, ok := w.index[w.list.cursor]
	if most == 0 || !ok {
		return nil
	}
	worker := &a.snap.Workers[i]
	who := a.join(a.strong.text(a.name(worker.Name, 30))+"  "+a.esc(worker.App)+" on "+a.esc(worker.Host),
		"pid "+strconv.Itoa(worker.PID), "bucketctl "+a.esc(worker.Version), "up "+rough(a.dataNow().Sub(worker.Start)),
		"reports every "+rough(worker.Interval), "without Redis: "+a.esc(string(worker.Fallback)))
	var keys []string
	for j := range worker.Rows {
		row := &worker.Rows[j]
		keys = append(keys, a.name(row.Key, 24)+" "+a.esc(string(row.Mode)))
	}
	lines := []string{who, "draws from " + strings.Join(keys, ", ")}
	if state, why, mood := a.workerState(worker); why != "" {
		lines = append([]string{mood.text(state) + " " + why}, lines...)
	}
	for i := range lines {
		lines[i] = " " + a.cut(lines[i], width-2)
	}
	return lines[:min(most, len(lines))]
}
