package ui

import (
	"cmp"
	"slices"

	"bucketop/bucketctl"
	"bucketop/internal/textsafe"
	"bucketop/internal/watch"
)

// drawerColumns are the columns of a bucket's workers. Where they declare different
// limits, which declares what is what one looks for.
func drawerColumns(differ bool) []column {
	declares := 3
	if differ {
		declares = 9
	}
	return []column{
		{title: "WORKER", flex: true, name: true, most: 40, least: 14},
		{title: "STATE", least: 12},
		{title: "MAY EXCEED", least: 10, right: true, maybe: true, keep: 9},
		{title: "GRANTED", least: 8, right: true, keep: 8},
		{title: "WAITING", least: 7, right: true, keep: 6},
		{title: "WAIT P99", least: 8, right: true, keep: 4},
		{title: "SHARE", least: 8, right: true, keep: 5},
		{title: "DECLARES", least: 10, keep: declares},
		{title: "REV SEEN", least: 8, keep: 7},
		{title: "WHY", flex: true, maybe: true, least: 20, keep: 2},
	}
}

// drawerMost is how many workers of a bucket its detail screen shows: of a large
// fleet those who are worst off, for the workers screen has them all.
const drawerMost = 12

// workerSection is who draws from the bucket, how, and what rev each has seen.
func (a *app) workerSection(b *watch.Bucket, width int) []string {
	if len(b.Workers) == 0 {
		return []string{" " + a.dim.text("WORKERS") + "  none reports this bucket"}
	}
	order := make([]*watch.WorkerRow, len(b.Workers))
	for i := range b.Workers {
		order[i] = &b.Workers[i]
	}
	slices.SortStableFunc(order, func(x, y *watch.WorkerRow) int {
		one, other := x.Plight(), y.Plight()
		return cmp.Or(cmp.Compare(one.State, other.State), -cmp.Compare(x.Over, y.Over), one.Since.Compare(other.Since))
	})
	differ := slices.ContainsFunc(order, func(w *watch.WorkerRow) bool { return declaresOther(b, w) })
	rows := make([][]cell, min(drawerMost, len(order)))
	for i := range rows {
		rows[i] = a.drawerCells(b, order[i])
	}
	heading, lines := a.table(drawerColumns(differ), rows, width-2)
	out := indent(heading, lines)
	if more := len(order) - drawerMost; more > 0 {
		out = append(out, " "+a.dim.text(count(more, "more worker")+": w"))
	}
	return out
}

func (a *app) drawerCells(b *watch.Bucket, w *watch.WorkerRow) []cell {
	plight := w.Plight()
	declares := plainCell(declaredCell(w))
	if declaresOther(b, w) {
		declares.mood = a.warn
	}
	limit := b.State.Effective
	granted, waiting, p99 := rateText(w.Rate, limit, 4), short(float64(w.Waiting), 4), latency(w.WaitP99)
	switch {
	case w.Silent:
		granted, waiting, p99 = unknown, unknown, unknown
	case w.Waiting > 0 && w.HeadWait > 0 && (w.Mode.Local() || w.Rev >= b.State.Rev):
		waiting += " " + textsafe.PadLeft(span(w.HeadWait), 4)
	}
	return []cell{
		plainCell(a.esc(w.Name)), a.plightCell(plight.State, plight.Since), overCell(a, w), plainCell(granted), plainCell(waiting),
		plainCell(p99), plainCell(shareText(w, limit)), declares, a.revCell(&b.State, w), plainCell(a.esc(plight.Brief())),
	}
}

// declaresOther reports whether a worker declares another limit than the one that
// counts.
func declaresOther(b *watch.Bucket, w *watch.WorkerRow) bool {
	declared := b.State.Declared
	return !declared.IsZero() && (w.Declared.Rate != declared.Rate || w.Declared.Capacity != declared.Capacity)
}

// declaredCell is the limit that a worker was configured with, in short.
func declaredCell(w *watch.WorkerRow) string {
	switch {
	case w.Declared.IsZero():
		return unknown
	case w.Window:
		return watch.LimitText(w.Declared, true)
	}
	return rateCell(w.Declared) + " cap " + plain(w.Declared.Capacity)
}

// eventMost is how many events of a bucket its detail screen shows.
const eventMost = 12

// eventSection is what happened to this bucket, newest first; what its workers
// tell of themselves belongs to it too.
func (a *app) eventSection(b *watch.Bucket, width int) []string {
	drawers := a.drawers(b.Key)
	mine := told(a.snap.Events, func(e *bucketctl.Event) bool { return e.Key == b.Key || e.Key == "" && drawers[e.By] })
	if len(mine) == 0 {
		return []string{" " + a.dim.text("EVENTS") + "  none of this bucket as far back as they are kept"}
	}
	out := []string{" " + a.dim.text("EVENTS")}
	for _, e := range mine[:min(eventMost, len(mine))] {
		line := " " + a.dim.text(clockTime(e.At, a.serverNow())) + "  " + a.eventMood(e.Kind).text(a.eventText(e))
		out = append(out, a.cut(line, width-1))
	}
	if more := len(mine) - eventMost; more > 0 {
		out = append(out, " "+a.dim.text(count(more, "older event")+": v"))
	}
	return out
}

// drawers are the IDs of the workers that draw from a bucket, or did.
func (a *app) drawers(key string) map[string]bool {
	ids := map[string]bool{}
	for i := range a.snap.Workers {
		if _, draws := a.snap.Workers[i].On(key); draws {
			ids[a.snap.Workers[i].ID] = true
		}
	}
	return ids
}

// rawSection is what is stored, as it is stored, and what is wrong with it.
func (a *app) rawSection(b *watch.Bucket, width int) []string {
	s := &b.State
	if s.At.IsZero() {
		return nil
	}
	kept := "no expiry"
	switch {
	case s.Kind == bucketctl.KindNone:
		kept = "no state: the next take begins a new bucket, full"
	case s.TTL > 0:
		kept = "a Redis " + a.esc(s.Type) + ", expires in " + rough(s.TTL)
	case s.Type != "":
		kept = "a Redis " + a.esc(s.Type) + ", no expiry"
	}
	out := []string{" " + a.dim.text("STORED") + "  " + a.join(kept, string(s.Kind), "read "+rough(a.dataNow().Sub(s.At))+" ago")}
	wrong := map[string]string{}
	for _, p := range s.Problems {
		if p.Field == "" {
			out = append(out, " "+a.alarm.text("problem: "+a.esc(p.Text)))
			continue
		}
		wrong[p.Field] = p.Text
	}
	out = append(out, a.rawFields(s.Raw, wrong)...)
	if len(s.RawLimit) > 0 {
		out = append(out, " "+a.dim.text("OPERATORS' RECORD"))
		out = append(out, a.rawFields(s.RawLimit, nil)...)
	}
	for i := range out {
		out[i] = a.cut(out[i], width-1)
	}
	return out
}

// rawFields are the fields of a hash; a problem stands beside the field that it
// is about, also where that field is missing.
func (a *app) rawFields(fields, wrong map[string]string) []string {
	all := map[string]string{}
	for f := range wrong {
		all[f] = "(missing)"
	}
	for f, v := range fields {
		all[f] = a.esc(v)
	}
	var out []string
	for _, f := range sortedKeys(all) {
		line := "   " + textsafe.PadRight(a.name(f, 14), 12) + " " + all[f]
		if why := wrong[f]; why != "" {
			line += "  " + a.alarm.text("problem: "+a.esc(why))
		}
		out = append(out, line)
	}
	return out
}
