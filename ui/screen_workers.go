package ui

import (
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/internal/watch"
)

// workersScreen lists the processes that draw from the buckets, or from one of
// them: those that don't share first.
type workersScreen struct {
	key     string // of one bucket; empty: of all
	list    cursorList
	workers map[string]*watch.Worker // by name, as they are on key
}

func newWorkersScreen(cursor string) *workersScreen {
	return &workersScreen{list: cursorList{cursor: cursor, window: 1}}
}

// openWorkers shows who draws from the bucket that is open, else everybody.
func (a *app) openWorkers() tea.Cmd {
	w := newWorkersScreen("")
	if d, ok := a.screen().(*detailScreen); ok {
		w.key = d.key
	}
	a.push(w)
	return nil
}

// widenWorkers shows everybody where only those of a bucket are shown.
func (a *app) widenWorkers() tea.Cmd {
	if w, ok := a.screen().(*workersScreen); ok && w.key != "" {
		w.key = ""
		w.take(a)
	}
	return nil
}

func (w *workersScreen) place() place { return onWorkers }

func (w *workersScreen) move(_ *app, by int) { w.list.move(by) }
func (w *workersScreen) page(_ *app, by int) { w.list.page(by) }

func (w *workersScreen) take(a *app) {
	workers := a.snap.Workers
	w.workers = make(map[string]*watch.Worker, len(workers))
	names := make([]string, 0, len(workers))
	for i := range workers {
		worker := &workers[i]
		if w.key != "" {
			on, draws := worker.On(w.key)
			if !draws {
				continue
			}
			worker = &on
		}
		w.workers[worker.Name] = worker
		names = append(names, worker.Name)
	}
	// On one bucket somebody may do better than on all.
	slices.SortStableFunc(names, func(x, y string) int { return int(w.workers[x].State) - int(w.workers[y].State) })
	w.list.set(names, a.calm())
}

// selected is the worst bucket of the selected worker.
func (w *workersScreen) selected(*app) (string, bool) {
	if worker := w.workers[w.list.cursor]; worker != nil {
		if row := worker.Worst(); row != nil {
			return row.Key, true
		}
	}
	return "", false
}

func (w *workersScreen) view(a *app, width, height int) []string {
	lines := []string{" " + a.strong.text("WORKERS") + "  " + w.summary(a)}
	if len(w.list.names) == 0 {
		return append(lines, w.nobody(a, width)...)
	}
	about := w.about(a, width, aboutRoom(height))
	names := w.list.fit(height - 2 - len(about) - min(1, len(about)))
	rows := make([][]cell, len(names))
	for i, name := range names {
		rows[i] = a.workerCells(w.workers[name], name == w.list.cursor)
	}
	heading, drawn := a.table(workerColumns(), rows, width-2)
	lines = append(lines, " "+heading)
	for _, line := range drawn {
		lines = append(lines, " "+a.aged(line))
	}
	for len(lines) < height-len(about) {
		lines = append(lines, "")
	}
	return append(lines, about...)
}

// aboutRoom is how many lines may be about the selected worker: why it is as it
// is stands there in full, so some stay on the smallest screens.
func aboutRoom(height int) int {
	switch {
	case height < 7:
		return 0
	case height < 12:
		return 2
	case height < 20:
		return 4
	}
	return 6
}

// nobody says why there is nobody to show.
func (w *workersScreen) nobody(a *app, width int) []string {
	text := "No worker has reported in the last 15 minutes. " +
		"Programs that embed bucketctl report by themselves; other programs are not seen here."
	if w.key != "" && len(a.snap.Workers) > 0 {
		text = "No worker that has reported in the last 15 minutes draws from this bucket. w shows all workers."
	}
	var lines []string
	for _, line := range wrap(text, width-4) {
		lines = append(lines, "   "+line)
	}
	return lines
}

// summary is how many workers are in each state, the gravest first.
func (w *workersScreen) summary(a *app) string {
	var n [watch.WorkerGone + 1]int
	for _, worker := range w.workers {
		n[worker.State]++
	}
	var parts []string
	if w.key != "" {
		parts = append(parts, "of "+a.name(w.key, 40)+", w shows all")
	}
	for state, what := range []string{"silent", "in fallback", "shared", "gone"} {
		switch mood := a.workerMood(watch.WorkerState(state)); {
		case n[state] > 0:
			parts = append(parts, mood.text(strconv.Itoa(n[state])+" "+what))
		case watch.WorkerState(state) == watch.WorkerShared && len(w.workers) > 0:
			parts = append(parts, "none shared")
		}
	}
	return a.join(parts...)
}

// aged dims a line that may no longer be true.
func (a *app) aged(line string) string {
	if a.old() {
		return a.dim.text(plainText(line))
	}
	return line
}

// workerMood is the colour of a worker's state.
func (st *styles) workerMood(state watch.WorkerState) paint {
	switch state {
	case watch.WorkerSilent, watch.WorkerFallback:
		return st.warn
	case watch.WorkerGone:
		return st.dim
	case watch.WorkerShared:
	}
	return paint{}
}
