package ui

import (
	"slices"

	"bucketop/bucketctl"
	"bucketop/internal/textsafe"
	"bucketop/internal/watch"
)

func drawerColumns() []column {
	return []column{
		{title: "WORKER", flex: true, ends: true, least: 16},
		{title: "MODE", least: 12},
		{title: "GRANTED", least: 8, right: true, keep: 7},
		{title: "WAITING", least: 7, right: true, keep: 5},
		{title: "WAIT P99", least: 8, right: true, keep: 3},
		{title: "SHARE", least: 8, right: true, keep: 4},
		{title: "DECLARES", least: 10, keep: 1},
		{title: "REV SEEN", least: 8, keep: 6},
	}
}

// workerSection is who draws from the bucket, how, and what rev each has seen.
func (a *app) workerSection(b *watch.Bucket, width int) []string {
	if len(b.Workers) == 0 {
		return []string{" " + a.dim.text("WORKERS") + "  none reports this bucket"}
	}
	rows := make([][]cell, len(b.Workers))
	for i := range b.Workers {
		rows[i] = a.drawerCells(b, &b.Workers[i])
	}
	heading, lines := a.table(drawerColumns(), rows, width-2)
	return indent(heading, lines)
}

func (a *app) drawerCells(b *watch.Bucket, w *watch.WorkerRow) []cell {
	now := a.dataNow()
	mode := plainCell(a.esc(string(w.Mode)))
	switch {
	case w.Silent:
		mode = cell{"SILENT " + rough(now.Sub(w.Seen)), a.warn}
	case w.Mode.Local():
		mode = cell{a.esc(string(w.Mode)) + " " + rough(now.Sub(w.Since)), a.warn}
	}
	declares := plainCell(rateCell(w.Declared))
	if w.Declared.Rate != b.State.Declared.Rate {
		declares.mood = a.warn
	}
	rev := plainCell("-")
	switch {
	case w.Rev > 0 && w.Rev < b.State.Rev:
		rev = cell{a.rev(w.Rev) + " old", a.warn}
	case w.Rev > 0:
		rev = plainCell(a.rev(w.Rev))
	case b.State.Rev > 0:
		rev = cell{"none yet", a.warn}
	}
	limit := b.State.Effective
	waiting := short(float64(w.Waiting), 4)
	if w.Waiting > 0 && w.HeadWait > 0 && (w.Mode.Local() || w.Rev >= b.State.Rev) {
		waiting += " " + textsafe.PadLeft(span(w.HeadWait), 4)
	}
	return []cell{
		plainCell(a.name(w.Name, 40)), mode, plainCell(rateText(w.Rate, limit, 4)), plainCell(waiting),
		plainCell(latency(w.WaitP99)), plainCell(rateText(w.Share, limit, 4)), declares, rev,
	}
}

// eventMost is how many events of a bucket its detail screen shows.
const eventMost = 12

// eventSection is what happened to this bucket, newest first.
func (a *app) eventSection(b *watch.Bucket, width int) []string {
	var mine []*bucketctl.Event
	for i := range a.snap.Events {
		if e := &a.snap.Events[i]; e.Key == b.Key {
			mine = append(mine, e)
		}
	}
	if len(mine) == 0 {
		return []string{" " + a.dim.text("EVENTS") + "  none of this bucket as far back as they are kept"}
	}
	slices.SortStableFunc(mine, func(x, y *bucketctl.Event) int { return y.At.Compare(x.At) })
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
