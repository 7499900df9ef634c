package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// place is a set of screens.
type place uint8

const (
	onList place = 1 << iota
	onDetail
	onWorkers
	onEvents
	onHelp

	onBuckets    = onList | onDetail | onEvents // where one bucket is selected
	onAnything   = onList | onDetail | onWorkers | onEvents | onHelp
	onButHelp    = onAnything &^ onHelp
	onScrollable = onAnything
)

// action is one thing a key does. The table of them drives the handling of
// keys, the footer, the help screen, the README, and what a read-only console
// refuses.
type action struct {
	keys    []string // as tea.KeyMsg.String names them
	label   string   // as people read them
	name    string   // a word or two for the footer; empty: never in the footer
	about   string   // a sentence for the help screen
	on      place
	changes bool // opens a question that may end in a write
	bucket  bool // needs a selected bucket, as every change does
	alone   bool // ignored when it arrives in one piece with other keys
	do      func(a *app) tea.Cmd
}

// newActions returns the table, in the order of the footer and the help.
func newActions() []action {
	var table []action
	table = append(table, lookActions()...)
	table = append(table, changeActions()...)
	table = append(table, viewActions()...)
	table = append(table, moveActions()...)
	return append(table, programActions()...)
}

func lookActions() []action {
	return []action{
		{keys: []string{"enter"}, label: "enter", name: "open", on: onList | onEvents | onWorkers, bucket: true,
			about: "open the bucket: limits, history, workers, events, raw fields", do: (*app).openDetail},
		{keys: []string{"esc", "backspace"}, label: "esc", name: "back", on: onButHelp&^onList | onHelp,
			about: "go back; in the list, clear the filter", do: (*app).back},
		{keys: []string{"esc"}, label: "esc", on: onList, do: (*app).clearFilter},
	}
}

func changeActions() []action {
	return []action{
		{keys: []string{"e"}, label: "e", name: "edit", on: onBuckets, changes: true,
			about: "edit rate and capacity, with an end; shows what follows before it asks", do: (*app).edit},
		{keys: []string{"R"}, label: "R", name: "reset", on: onBuckets, changes: true,
			about: "reset the level: full, empty or a number", do: (*app).reset},
		{keys: []string{"H"}, label: "H", name: "hold", on: onBuckets, changes: true,
			about: "hold the bucket: nothing more is granted; or resume what is held", do: (*app).hold},
		{keys: []string{"U"}, label: "U", name: "undo", on: onBuckets, changes: true,
			about: "undo the newest change of limit or hold, whoever made it", do: (*app).undo},
		{keys: []string{"X"}, label: "X", on: onBuckets, changes: true,
			about: "delete the bucket's state; override and hold stay", do: (*app).deleteState},
	}
}

func viewActions() []action {
	return []action{
		{keys: []string{"/"}, label: "/", name: "filter", on: onList,
			about: "show only names that contain a text, as it stands, in either case; esc clears", do: (*app).startFilter},
		{keys: []string{"s"}, label: "s", name: "sort", on: onList,
			about: "sort by: worst first, name, used, waiting", do: (*app).cycleSort},
		{keys: []string{"a"}, label: "a", name: "alerts", on: onButHelp,
			about: "go to the next bucket or worker that an alert is about", do: (*app).nextAlert},
		{keys: []string{"w"}, label: "w", name: "workers", on: onAnything &^ onWorkers,
			about: "workers: who is on its fallback, since when, why (of an open bucket)", do: (*app).openWorkers},
		{keys: []string{"w"}, label: "w", on: onWorkers, do: (*app).widenWorkers},
		{keys: []string{"v"}, label: "v", name: "events", on: onAnything &^ onEvents,
			about: "events: who changed what, and what workers told", do: (*app).openEvents},
		{keys: []string{" "}, label: "space", on: onList,
			about: "mark the row: marked rows stay on top", do: (*app).mark},
		{keys: []string{"p"}, label: "p", on: onButHelp,
			about: "pause: nothing is asked and nothing moves until p again", do: (*app).togglePause},
		{keys: []string{"r"}, label: "r", on: onButHelp,
			about: "refresh now", do: (*app).refresh},
		{keys: []string{"c"}, label: "c", on: onButHelp,
			about: "show what this console itself costs Redis", do: (*app).toggleCost},
		{keys: []string{"y"}, label: "y", on: onBuckets, bucket: true,
			about: "copy the bucket's name to the terminal's clipboard (OSC 52)", do: (*app).copyKey},
	}
}

func moveActions() []action {
	return []action{
		{keys: []string{"up", "k"}, label: "up k", on: onScrollable, about: "one up", do: moves(-1)},
		{keys: []string{"down", "j"}, label: "down j", on: onScrollable, about: "one down", do: moves(1)},
		{keys: []string{"pgup", "ctrl+b"}, label: "pgup", on: onScrollable, about: "a page up", do: pages(-1)},
		{keys: []string{"pgdown", "ctrl+f"}, label: "pgdn", on: onScrollable, about: "a page down", do: pages(1)},
		{keys: []string{"home", "g"}, label: "home g", on: onScrollable, about: "to the first", do: moves(-toEnd)},
		{keys: []string{"end", "G"}, label: "end G", on: onScrollable, about: "to the last", do: moves(toEnd)},
	}
}

// programActions are alone: the rest of a paste must not land in the shell
// behind the console. ctrl+c is the way out whatever else arrives.
func programActions() []action {
	return []action{
		{keys: []string{"?"}, label: "?", name: "help", on: onAnything, about: "this help", do: (*app).openHelp},
		{keys: []string{"q"}, label: "q", name: "quit", on: onAnything, alone: true,
			about: "quit; nothing in Redis depends on this console", do: (*app).quit},
		{keys: []string{"ctrl+c"}, label: "ctrl+c", on: onAnything, about: "quit, also out of a form", do: (*app).quit},
		{keys: []string{"ctrl+z"}, label: "ctrl+z", on: onAnything, alone: true,
			about: "suspend; fg comes back with fresh data", do: (*app).suspend},
	}
}

// find returns the action of a key on a screen.
func (a *app) find(name string, on place) (action, bool) {
	for _, act := range a.actions {
		if act.on&on == 0 {
			continue
		}
		for _, k := range act.keys {
			if k == name {
				return act, true
			}
		}
	}
	return action{}, false
}

// bindings are the actions that the footer of a screen may name, most wanted
// first. Actions that change something are left out where nothing can change.
func (a *app) bindings(on place) []key.Binding {
	blocked := a.blocked() != ""
	_, selected := a.screen().selected(a)
	var out []key.Binding
	for _, act := range a.actions {
		if act.on&on == 0 || act.name == "" || act.changes && blocked || (act.bucket || act.changes) && !selected {
			continue
		}
		out = append(out, key.NewBinding(key.WithKeys(act.keys...), key.WithHelp(act.label, act.name)))
	}
	return out
}

// typingBindings are the keys while the filter is typed.
func typingBindings() []key.Binding {
	return []key.Binding{
		key.NewBinding(key.WithHelp("up down", "choose a row")),
		key.NewBinding(key.WithHelp("enter", "keep the filter")),
		key.NewBinding(key.WithHelp("esc", "show all")),
	}
}

// KeysMarkdown is the table of keys for the README.
func KeysMarkdown() string {
	var b strings.Builder
	b.WriteString("| key | what it does |\n|---|---|\n")
	for _, act := range newActions() {
		if act.about == "" {
			continue
		}
		about := act.about
		if act.changes {
			about += " (changes something, after a question)"
		}
		b.WriteString("| `" + strings.Join(strings.Fields(act.label), "` `") + "` | " + about + " |\n")
	}
	return b.String()
}
