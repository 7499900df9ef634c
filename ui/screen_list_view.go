package ui

import (
	"strconv"

	"bucketop/internal/textsafe"
	"bucketop/internal/watch"
)

// listPlan is how many lines each part of the list gets.
type listPlan struct{ alerts, rows, blank, counts, about int }

// plan shares out height lines: rows first, then the gravest alert, what is
// selected and why it is as it is, the second alert, air.
func (a *app) plan(height int) listPlan {
	var p listPlan
	alerts := min(2, len(a.snap.Alerts)+a.lostLines())
	least := 3
	if height >= 10 {
		least = 4
	}
	left := height - 1 - least // one for the heading
	take := func(lines *int, want bool) {
		if want && left > 0 {
			*lines++
			left--
		}
	}
	take(&p.alerts, alerts > 0)
	take(&p.counts, true)
	take(&p.about, true)
	take(&p.about, true)
	take(&p.alerts, alerts > 1)
	take(&p.blank, true)
	take(&p.about, height >= 28)
	p.rows = max(0, least+left)
	return p
}

func (l *listScreen) view(a *app, width, height int) []string {
	p := a.plan(height)
	lines := a.alertLines(p.alerts, width)
	form := newLayout(width)
	lines = append(lines, a.dim.text(form.heading()))
	lines = append(lines, l.drawRows(a, form, p.rows, width)...)
	for range p.blank {
		lines = append(lines, "")
	}
	if p.counts > 0 {
		lines = append(lines, " "+a.countsLine(width-1))
	}
	return append(lines, a.aboutLines(p.about, width)...)
}

// fit makes the window as high as it will be drawn, so that the selected row is
// in it.
func (l *listScreen) fit(a *app) {
	if rows := a.plan(a.bodyHeight()).rows; rows != l.window {
		l.window = max(1, rows)
		l.scroll()
	}
}

// old reports whether what is on screen may no longer be true.
func (a *app) old() bool { return a.snap.Link.State != watch.Live }

// alertLines are the gravest alerts. Where the list has more of them, its
// counts line says so.
func (a *app) alertLines(most, width int) []string {
	var out []string
	subject := 14
	if width < 60 {
		subject = 0
	}
	if most > 0 && a.lostLines() > 0 {
		out = append(out, a.alarm.text(a.cut(" !! "+a.lostText(), width-1)))
		most--
	}
	for _, alert := range a.snap.Alerts[:min(most, len(a.snap.Alerts))] {
		mark, mood := "! ", a.warn
		if alert.Grave {
			mark, mood = "!!", a.alarm
		}
		line := " " + mark + " "
		if about := a.alertAbout(alert, max(12, width/5)); about != "" {
			line += textsafe.PadRight(about, subject) + " "
		}
		line += a.esc(alert.Text)
		if a.old() {
			mood = a.dim
		}
		out = append(out, mood.text(a.cut(line, width-1)))
	}
	return out
}

// lostLines is how many lines say that Redis is lost.
func (a *app) lostLines() int {
	if a.snap.Link.State == watch.Lost && !a.snap.At.IsZero() {
		return 1
	}
	return 0
}

// lostText is that Redis is lost, how old what is shown is, why, and that it is
// tried again.
func (a *app) lostText() string {
	link := a.snap.Link
	text := "Redis is lost, data " + a.dataAge() + " old"
	if link.Err != "" {
		text += ": " + a.esc(link.Err)
	}
	if link.Tries > 1 {
		text += " (try " + strconv.Itoa(link.Tries) + ")"
	}
	return text
}

// alertAbout is the bucket or worker that an alert is about.
func (a *app) alertAbout(alert watch.Alert, cells int) string {
	switch {
	case alert.Key != "":
		return a.name(alert.Key, cells+7)
	case alert.Worker != "":
		return "worker " + a.name(alert.Worker, cells)
	}
	return "" // about several workers, or the server: its text says it all
}

// countsLine is "14 of 14 · worst first · 1 more alert: a".
func (a *app) countsLine(width int) string {
	l := a.list
	if l.typing {
		return a.filterLine(width)
	}
	if len(l.order) == 0 {
		return ""
	}
	parts := []string{a.howMany(), l.sort.String()}
	if l.filter != "" {
		parts = append(parts, `filter "`+a.escInput([]rune(l.input.Value()))+`": esc clears`)
	}
	if n := len(l.marks); n > 0 {
		parts = append(parts, strconv.Itoa(n)+" marked")
	}
	if more := len(a.snap.Alerts) + a.lostLines() - a.plan(a.bodyHeight()).alerts; more > 0 {
		parts = append(parts, count(more, "more alert")+": a")
	}
	if a.snap.Match == "" {
		parts = append(parts, "foreign keys: --match")
	}
	text := parts[0]
	for _, p := range parts[1:] {
		if longer := a.join(text, p); textCells(longer) <= width {
			text = longer
		}
	}
	return a.dim.text(text)
}

// filterLine is the filter as it is typed, and what it finds.
func (a *app) filterLine(width int) string {
	const prompt, least, most = "filter: ", 16, 40
	found := a.howMany()
	room := width - len(prompt) - 2
	typed := min(most, max(least, room-max(least, len(found))))
	return prompt + a.drawInput(a.list.input, typed, true) + "  " + a.dim.text(a.cut(found, room-typed))
}

// howMany is how many rows there are, of how many buckets. While the registry is
// read for the first time it is how far that is: a list that seems whole and is
// not would hide what it has not met yet.
func (a *app) howMany() string {
	rows := len(a.list.rows)
	switch first := a.snap.First; {
	case first.Total == 0:
		return grouped(rows) + " of " + grouped(a.known())
	case a.list.filter != "":
		return grouped(rows) + " in " + grouped(first.Read) + " read of " + grouped(first.Total)
	default:
		return "read " + grouped(first.Read) + " of " + grouped(first.Total) + " buckets"
	}
}

// known is how many buckets there are; of very many the snapshot has the worst
// only.
func (a *app) known() int { return max(a.snap.Known, len(a.list.order)) }

// costText is what the console itself asks of Redis.
func (a *app) costText() string {
	c := a.snap.Cost
	parts := []string{"this console: " + short(c.Calls, 4) + " calls/s"}
	if c.Bytes >= 0 {
		parts = append(parts, short(c.Bytes, 4)+"B/s read")
	}
	parts = append(parts, "refresh "+span(c.Refresh))
	if a.snap.Link.RTT > 0 {
		parts = append(parts, "answered in "+millis(a.snap.Link.RTT))
	}
	if a.snap.Sweep > 0 {
		parts = append(parts, "whole registry every "+rough(a.snap.Sweep))
	}
	if a.snap.Round > 0 {
		parts = append(parts, "each bucket read every "+rough(a.snap.Round))
	}
	if a.snap.Back > 0 {
		parts = append(parts, "reports reach "+rough(a.snap.Back)+" back")
	}
	return a.join(parts...)
}

// nothingFound says that no name passes the filter, and how far it looked: a
// large registry is read by and by, and a snapshot has room for a part of it.
func (a *app) nothingFound() string {
	text := `No name contains "` + a.escInput([]rune(a.list.input.Value())) + `"`
	switch kept := len(a.list.order); {
	case a.snap.Link.State != watch.Live && a.known() > kept:
		return text + " among the " + grouped(kept) + " kept of " + grouped(a.known()) + ": Redis is lost."
	case a.snap.First.Total > 0:
		return text + " among the " + grouped(a.snap.First.Read) + " read so far, of " + grouped(a.snap.First.Total) + "."
	case a.snap.Sweep == 0:
		return text + " so far, of " + grouped(a.known()) + " read; the registry is still being read."
	}
	return text + ": esc shows all."
}

// emptyLines say what to do where there is no row.
func (a *app) emptyLines(width int) []string {
	var say []string
	switch {
	case len(a.list.order) > 0:
		say = []string{a.nothingFound()}
	case a.snap.Link.State == watch.Live:
		say = []string{
			"No bucket is known here yet.",
			"Start a worker that embeds bucketctl: it shows up within seconds.",
			a.foreignText(),
			"No Redis of yours at hand? Try: bucketop demo",
		}
	case !a.snap.At.IsZero():
		say = []string{"No bucket was known when Redis was lost."}
	default:
		say = []string{
			a.connectingText(),
			"It is tried again and again; the console goes on as soon as Redis answers.",
			"Another server: bucketop -u redis://HOST:PORT. None at hand: bucketop demo.",
		}
	}
	out := []string{""}
	for _, s := range say {
		for _, line := range wrap(s, width-4) {
			out = append(out, "   "+line)
		}
	}
	return out
}

// foreignText says how other programs' buckets are found, or that none is yet.
func (a *app) foreignText() string {
	if a.snap.Match == "" {
		return "Buckets of other programs: start with --match 'PATTERN'."
	}
	return "No bucket of another program that matches '" + a.esc(a.snap.Match) + "' was found so far."
}

// connectingText says what is tried before the first answer.
func (a *app) connectingText() string {
	link := a.snap.Link
	text := "Connecting to " + a.esc(link.Addr)
	if link.Addr == "" {
		text = "Connecting"
	}
	if link.Tries > 1 {
		text += ", try " + strconv.Itoa(link.Tries)
	}
	if link.Err != "" {
		text += ": " + a.esc(link.Err)
	}
	return text
}
