package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/internal/watch"
)

// detailScreen is everything about one bucket; it scrolls.
type detailScreen struct {
	scroller
	key    string
	last   watch.Bucket // as it was known last
	known  bool         // it was known at all
	goneAt time.Time    // server time at which it was no longer known; zero: it is
}

func (a *app) openDetail() tea.Cmd {
	key, ok := a.screen().selected(a)
	if !ok {
		return nil
	}
	a.push(&detailScreen{key: key})
	return nil
}

func (d *detailScreen) place() place { return onDetail }

func (d *detailScreen) selected(*app) (string, bool) { return d.key, true }

func (d *detailScreen) move(_ *app, by int) { d.scroll(by) }
func (d *detailScreen) page(_ *app, by int) { d.pageBy(by) }

// take keeps what was known last: a bucket that goes away under one's eyes is
// shown on, marked as old.
func (d *detailScreen) take(a *app) {
	b, known := a.bucket(d.key)
	switch {
	case known:
		d.last, d.known, d.goneAt = b, true, time.Time{}
	case d.goneAt.IsZero():
		d.goneAt = a.snap.At
	}
}

func (d *detailScreen) view(a *app, width, height int) []string {
	lines := d.title(a, width)
	if d.known {
		body := a.detailLines(&d.last, width)
		if !d.goneAt.IsZero() || a.old() {
			for i := range body {
				body[i] = a.dim.text(plainText(body[i]))
			}
		}
		lines = append(lines, body...)
	}
	return d.cutOut(&a.styles, lines, height)
}

// title is the name and how it stands; the name in full, on several lines if it
// has to be.
func (d *detailScreen) title(a *app, width int) []string {
	state, mood := a.stateWord(&d.last)
	if !d.goneAt.IsZero() {
		state, mood = "GONE", a.alarm
	}
	name := a.esc(d.key)
	var out []string
	if textCells(name)+textCells(state)+4 <= width {
		out = append(out, " "+a.strong.text(name)+"  "+mood.text(state))
	} else {
		for _, line := range wrap(name, width-2) {
			out = append(out, " "+a.strong.text(line))
		}
		out = append(out, " "+mood.text(a.cut(state, width-2)))
	}
	if d.goneAt.IsZero() {
		return out
	}
	text := "Gone since " + clockTime(d.goneAt, a.serverNow()) + ": not registered, nothing stored."
	if d.known {
		text += " The values below are old."
	}
	for _, line := range wrap(text, width-2) {
		out = append(out, " "+line)
	}
	return out
}

// detailLines are the sections below the title.
func (a *app) detailLines(b *watch.Bucket, width int) []string {
	out := []string{" " + a.nowLine(b)}
	for _, fact := range a.facts(b, true) {
		for _, line := range wrap(fact, width-2) {
			out = append(out, " "+line)
		}
	}
	for _, section := range [][]string{
		a.limitSection(b, width), a.historySection(b, width), a.workerSection(b, width),
		a.eventSection(b, width), a.rawSection(b, width),
	} {
		if len(section) > 0 {
			out = append(append(out, ""), section...)
		}
	}
	return out
}

// nowLine is the level, and the grants of the limit, at this moment.
func (a *app) nowLine(b *watch.Bucket) string {
	level := b.LevelAt(a.dataNow())
	text := a.gauge(level, b.State.Effective.Capacity, 2*gaugeCells) + " " + levelOf(level, b.State.Effective.Capacity) +
		" tokens left, " + grantedOf(b, 40) + " granted"
	if p := percent(b.Used); p != unknown {
		text += ", " + p + " used"
	}
	return text
}
