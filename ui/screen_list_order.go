package ui

import (
	"math"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/internal/textsafe"
	"bucketop/internal/watch"
)

// sortBy is an order of the list.
type sortBy int

const (
	byWorst sortBy = iota // as the snapshot ranks them
	byName
	byUsed
	byWaiting
	sortings // how many there are
)

func (s sortBy) String() string {
	return [...]string{"worst first", "by name", "by used", "by waiting"}[s]
}

func (a *app) cycleSort() tea.Cmd {
	a.list.sort = (a.list.sort + 1) % sortings
	a.list.arrange(a)
	return nil
}

// take brings another snapshot in. Rows keep their places for a while after a
// key, so that none slips away from under a finger.
func (l *listScreen) take(a *app) {
	l.index = make(map[string]int, len(a.snap.Buckets))
	for i := range a.snap.Buckets {
		l.index[a.snap.Buckets[i].Key] = i
	}
	l.drawn.forget()
	if a.calm() {
		l.append(a)
		return
	}
	l.arrange(a)
}

// calm reports whether a key came so lately that no row may move.
func (a *app) calm() bool {
	return !a.keyAt.IsZero() && a.now().Sub(a.keyAt) < calmFor
}

// settle brings an order that was kept up to date as soon as it may move.
func (l *listScreen) settle(a *app) {
	if l.stale && !a.calm() {
		l.arrange(a)
	}
}

// append keeps the order and adds what is new at the end. What is gone stays
// where it was.
func (l *listScreen) append(a *app) {
	l.stale = true
	if have := len(l.order); have > 0 {
		known := make(map[string]bool, have)
		for _, key := range l.order {
			known[key] = true
		}
		for i := range a.snap.Buckets {
			if key := a.snap.Buckets[i].Key; !known[key] {
				l.order = append(l.order, key)
			}
		}
		l.narrow(a)
		return
	}
	l.arrange(a)
}

// arrange puts all buckets in order: marked ones first, then by the sorting.
func (l *listScreen) arrange(a *app) {
	l.stale = false
	buckets := a.snap.Buckets
	places := make([]int, len(buckets))
	for i := range places {
		places[i] = i
	}
	if l.sort != byWorst || len(l.marks) > 0 {
		slices.SortStableFunc(places, func(i, j int) int {
			return l.compare(&buckets[i], &buckets[j])
		})
	}
	l.order = make([]string, len(places))
	for i, p := range places {
		l.order[i] = buckets[p].Key
	}
	if a.keyAt.IsZero() { // nobody chose a row yet: stand on the worst
		l.at, l.cursor = 0, ""
	}
	l.narrow(a)
}

func (l *listScreen) compare(x, y *watch.Bucket) int {
	if mx, my := l.marks[x.Key], l.marks[y.Key]; mx != my {
		if mx {
			return -1
		}
		return 1
	}
	switch l.sort {
	case byName:
		return strings.Compare(x.Key, y.Key)
	case byUsed:
		return descending(x.Used, y.Used)
	case byWaiting:
		return descending(float64(x.Waiting), float64(y.Waiting))
	case byWorst, sortings:
	}
	return 0
}

// descending puts larger numbers first and unknown ones last.
func descending(x, y float64) int {
	switch {
	case x > y, math.IsNaN(y) && !math.IsNaN(x):
		return -1
	case x < y, math.IsNaN(x) && !math.IsNaN(y):
		return 1
	}
	return 0
}

// narrow applies the filter: a text as it stands, in either case, anywhere in
// the name as it is drawn.
func (l *listScreen) narrow(a *app) {
	if filter := strings.ToLower(l.input.Value()); filter != l.filter {
		l.filter = filter
		l.match = a.matching(filter)
		a.source.Prefer(l.match)
	}
	l.rows = l.order
	if l.match != nil {
		l.rows = make([]string, 0, len(l.order))
		for _, key := range l.order {
			if l.match(key) {
				l.rows = append(l.rows, key)
			}
		}
	}
	l.follow()
}

// matching is whether a name as it is drawn contains a text in lower case; nil
// for an empty text. It uses nothing of the console: the source calls it too.
func (st *styles) matching(text string) func(key string) bool {
	if text == "" {
		return nil
	}
	escape := textsafe.Escape
	if st.ascii {
		escape = textsafe.EscapeASCII
	}
	return func(key string) bool { return strings.Contains(strings.ToLower(escape(key)), text) }
}

// follow finds the selected key again; where it is no longer shown, the row
// that stands in its place is selected.
func (l *listScreen) follow() {
	l.drawn.forget()
	at := slices.Index(l.rows, l.cursor)
	switch {
	case at >= 0:
		l.at = at
	case len(l.rows) == 0:
		l.at, l.cursor = 0, ""
	default:
		l.at = min(l.at, len(l.rows)-1)
		l.cursor = l.rows[l.at]
	}
	l.scroll()
}
