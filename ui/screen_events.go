package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
)

// eventsScreen lists what was changed and what workers told, newest first.
type eventsScreen struct {
	list  cursorList
	index map[string]int // event ID -> place in the snapshot
}

func (a *app) openEvents() tea.Cmd {
	a.push(&eventsScreen{list: cursorList{window: 1}})
	return nil
}

func (e *eventsScreen) place() place { return onEvents }

func (e *eventsScreen) move(_ *app, by int) { e.list.move(by) }
func (e *eventsScreen) page(_ *app, by int) { e.list.page(by) }

func (e *eventsScreen) take(a *app) {
	events := a.snap.Events
	e.index = make(map[string]int, len(events))
	for i := range events {
		e.index[events[i].ID] = i
	}
	shown := told(events, func(*bucketctl.Event) bool { return true })
	ids := make([]string, len(shown))
	for i, event := range shown {
		ids[i] = event.ID
	}
	if len(ids) > 0 && e.list.at == 0 {
		e.list.cursor = ids[0] // on the newest, the selection stays on the newest
	}
	e.list.set(ids, false)
}

// selected is the bucket of the selected event.
func (e *eventsScreen) selected(a *app) (string, bool) {
	if i, ok := e.index[e.list.cursor]; ok && a.snap.Events[i].Key != "" {
		return a.snap.Events[i].Key, true
	}
	return "", false
}

func eventColumns() []column {
	return []column{
		{title: "", least: 1},
		{title: "TIME, UTC", least: 8},
		{title: "BUCKET", flex: true, name: true, most: 28, keep: 1},
		{title: "WHAT", flex: true, least: 20},
	}
}

func (e *eventsScreen) view(a *app, width, height int) []string {
	about := 3
	if height < 12 {
		about = 0
	}
	lines := []string{" " + a.strong.text("EVENTS") + "  " + count(len(e.list.names), "event") + ", newest first"}
	if len(a.snap.Events) == 0 {
		return append(lines, "   "+a.cut("Nothing was changed and nothing happened as far back as events are kept.", width-4))
	}
	ids := e.list.fit(height - 2 - about - min(1, about))
	rows := make([][]cell, len(ids))
	for i, id := range ids {
		rows[i] = a.eventCells(&a.snap.Events[e.index[id]], id == e.list.cursor)
	}
	heading, drawn := a.table(eventColumns(), rows, width-2)
	lines = append(lines, " "+heading)
	for _, line := range drawn {
		lines = append(lines, " "+line)
	}
	for len(lines) < height-about {
		lines = append(lines, "")
	}
	return append(lines, e.about(a, about, width)...)
}

func (a *app) eventCells(e *bucketctl.Event, selected bool) []cell {
	cursor, bold := " ", paint{}
	if selected {
		cursor, bold = a.cursor, a.strong
	}
	key := "-"
	if e.Key != "" {
		key = a.esc(e.Key)
	}
	return []cell{
		{cursor, a.strong}, {clockTime(e.At, a.serverNow()), a.dim}, {key, bold}, {a.eventText(e), a.eventMood(e.Kind)},
	}
}

// eventMood is yellow for what went wrong, also where it is over, and cyan for what
// operators did.
func (st *styles) eventMood(k bucketctl.EventKind) paint {
	switch k {
	case bucketctl.EventFallback, bucketctl.EventShared, bucketctl.EventCooldown, bucketctl.EventMended:
		return st.warn
	case bucketctl.EventLimit, bucketctl.EventUnset, bucketctl.EventHold, bucketctl.EventResume,
		bucketctl.EventUndo, bucketctl.EventReset, bucketctl.EventDelete:
	}
	return st.note
}

// about shows the selected event in full.
func (e *eventsScreen) about(a *app, most, width int) []string {
	i, ok := e.index[e.list.cursor]
	if most == 0 || !ok {
		return nil
	}
	event := &a.snap.Events[i]
	text := event.At.UTC().Format("2006-01-02 15:04:05") + " UTC  "
	if event.Key != "" {
		text += a.esc(event.Key) + "  "
	}
	text += a.eventText(event)
	if event.Rev > 0 {
		text = a.join(text, "rev "+a.rev(event.Rev))
	}
	var out []string
	for _, line := range wrap(text, width-2) {
		out = append(out, " "+line)
	}
	return out[:min(len(out), most)]
}
