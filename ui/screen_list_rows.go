package ui

import (
	"slices"
	"strings"
	"time"

	"bucketop/internal/textsafe"
)

// drawnRows remembers rows that were drawn for one reading and one layout, so
// that moving the cursor draws none of them again.
type drawnRows struct {
	layout layout
	at     time.Time
	keys   []string          // in the window; their names are told apart
	names  map[string]string // as drawn
	text   map[string]string
}

func (d *drawnRows) forget() { d.text = nil }

func (l *listScreen) drawRows(a *app, form layout, rows, width int) []string {
	out := make([]string, 0, rows)
	if len(l.rows) == 0 {
		out = append(out, a.emptyLines(width)...)
	}
	now := a.dataNow()
	keys := l.rows[min(l.first, len(l.rows)):min(l.first+rows, len(l.rows))]
	if l.drawn.text == nil || l.drawn.layout != form || !l.drawn.at.Equal(now) {
		l.drawn = drawnRows{layout: form, at: now, text: make(map[string]string, rows)}
	}
	l.drawn.name(&a.styles, keys)
	for _, key := range keys {
		out = append(out, l.drawRow(a, form, key, now))
	}
	for len(out) < rows {
		out = append(out, "")
	}
	return out[:min(len(out), rows)]
}

// name tells the names of the rows in the window apart. A row whose name is cut
// elsewhere now is drawn anew.
func (d *drawnRows) name(st *styles, keys []string) {
	if slices.Equal(keys, d.keys) {
		return
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = st.esc(key)
	}
	before := d.names
	d.keys, d.names = slices.Clone(keys), make(map[string]string, len(keys))
	for i, name := range textsafe.Apart(names, d.layout.name, st.ellipsis) {
		d.names[keys[i]] = name
		if before[keys[i]] != name {
			delete(d.text, keys[i])
		}
	}
}

func (l *listScreen) drawRow(a *app, form layout, key string, now time.Time) string {
	text, drawn := l.drawn.text[key]
	if !drawn {
		if i, known := l.index[key]; known {
			text = a.row(form, &a.snap.Buckets[i], l.drawn.names[key], now)
		} else {
			text = textsafe.PadRight(l.drawn.names[key], form.name) + " " + a.dim.text("gone")
		}
		l.drawn.text[key] = text
	}
	mark := " "
	if l.marks[key] {
		mark = a.marked
	}
	switch {
	case a.old():
		text = a.dim.text(plainText(text))
		if key == l.cursor {
			return a.strong.text(mark+a.cursor) + " " + text
		}
	case key == l.cursor:
		return a.strong.text(mark+a.cursor+" ") + a.embolden(text, l.drawn.names[key])
	}
	return mark + "  " + text
}

// embolden makes the name of a drawn row bold.
func (a *app) embolden(row, name string) string {
	if rest, ok := strings.CutPrefix(row, name); ok {
		return a.strong.text(name) + rest
	}
	return row
}
