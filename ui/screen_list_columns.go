package ui

import (
	"strconv"
	"strings"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/textsafe"
	"bucketop/internal/watch"
)

// Widths of the columns, in cells, without the space before each.
const (
	cursorCells  = 3 // " > "
	stateCells   = 14
	levelCells   = 7 // "24k/90k"
	grantedCells = 17
	waitingCells = 4
	headCells    = 5 // the first one's wait, with its own space
	usedCells    = 5
	workersCells = 7
	nameLeast    = 12
	nameMost     = 48
	stateMost    = 24
	sparkMost    = 60 // one cell a second
)

// overrideMark stands behind what is granted of an override.
const overrideMark = "*"

// layout says which columns a width has room for. Columns drop by priority as
// the terminal narrows: name and state stay, then how much of the limit is used.
type layout struct {
	name, state           int
	gauge, level, granted bool
	waiting, head         bool
	used, workers         bool
	spark                 int
}

// newLayout chooses the columns. The cell at the right edge stays free: there
// some terminals wrap.
func newLayout(width int) layout {
	room := width - 1
	for _, l := range layouts() {
		l.state = stateCells
		if left := room - l.fixed(); left >= l.name {
			l.spread(left)
			return l
		}
	}
	l := layout{state: stateCells, used: true}
	l.name = max(0, room-l.fixed())
	return l
}

// layouts from the richest to the poorest; name is the least room a name needs
// for a layout to be worth it.
func layouts() []layout {
	return []layout{
		{name: 19, gauge: true, level: true, granted: true, waiting: true, head: true, used: true, workers: true, spark: 15},
		{name: 16, gauge: true, level: true, granted: true, waiting: true, head: true},
		{name: 16, level: true, granted: true, waiting: true, head: true},
		{name: 16, granted: true, waiting: true},
		{name: 16, used: true, waiting: true},
		{name: nameLeast, used: true},
	}
}

// fixed is what all columns but the name take.
func (l layout) fixed() int {
	n := cursorCells + 1 + l.state
	for _, c := range []struct {
		on    bool
		cells int
	}{
		{l.gauge, 1 + gaugeCells}, {l.level, 1 + levelCells}, {l.granted, 1 + grantedCells},
		{l.waiting, l.countCells()}, {l.head, headCells},
		{l.used, 1 + usedCells}, {l.workers, 1 + workersCells}, {l.spark > 0, 1 + l.spark},
	} {
		if c.on {
			n += c.cells
		}
	}
	return n
}

// countCells is what the count of waiting callers takes, with the space before
// it. Beside the first one's wait its heading has room enough.
func (l layout) countCells() int {
	if l.head {
		return waitingCells
	}
	return waitingCells + 1
}

// spread shares out what is left: names first, then the sparkline, then states.
func (l *layout) spread(left int) {
	least := l.name
	spare := left - least
	give := func(cells *int, most int) {
		n := max(0, min(spare, most-*cells))
		*cells += n
		spare -= n
	}
	give(&l.name, 30)
	if l.spark > 0 {
		give(&l.spark, sparkMost/2)
	}
	give(&l.state, stateMost)
	give(&l.name, nameMost)
	if l.spark > 0 {
		give(&l.spark, sparkMost)
	}
}

// heading is the line above the rows.
func (l layout) heading() string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", cursorCells))
	b.WriteString(textsafe.PadRight("BUCKET", l.name))
	b.WriteString(" " + textsafe.PadRight("STATE", l.state))
	tokens := "TOKENS LEFT"
	switch {
	case l.gauge:
		b.WriteString(" " + textsafe.PadRight(tokens, gaugeCells+1+levelCells))
	case l.level:
		b.WriteString(" " + textsafe.PadLeft("TOKENS", levelCells))
	}
	if l.granted {
		b.WriteString(" " + textsafe.PadLeft("GRANTED  OF LIMIT", grantedCells))
	}
	if l.used {
		b.WriteString(" " + textsafe.PadLeft("USED", usedCells))
	}
	switch {
	case l.head:
		b.WriteString(textsafe.PadLeft("WAITING", waitingCells+headCells))
	case l.waiting:
		b.WriteString(textsafe.PadLeft("WAIT", l.countCells()))
	}
	if l.workers {
		b.WriteString(" " + textsafe.PadLeft("WORKERS", workersCells))
	}
	if l.spark > 0 {
		what := "LAST MINUTE"
		if l.spark >= 20 {
			what = "GRANTED, LAST MINUTE"
		}
		b.WriteString(" " + textsafe.Truncate(what, l.spark, ""))
	}
	return b.String()
}

// row draws a bucket without the cursor, under a name that fits. Healthy rows have
// no colour.
func (a *app) row(l layout, b *watch.Bucket, name string, now time.Time) string {
	var out strings.Builder
	word, mood := a.stateWord(b)
	out.WriteString(textsafe.PadRight(name, l.name))
	if textCells(word) > l.state {
		word = strings.Replace(word, " of ", "/", 1)
	}
	out.WriteString(" " + mood.text(textsafe.PadRight(a.cut(word, l.state), l.state)))
	level := b.LevelAt(now)
	if l.gauge {
		out.WriteString(" " + a.gauge(level, b.State.Effective.Capacity, gaugeCells))
	}
	if l.level {
		out.WriteString(" " + textsafe.PadLeft(levelOf(level, b.State.Effective.Capacity), levelCells))
	}
	out.WriteString(a.limitCells(l, b, now))
	out.WriteString(l.waitingCell(b))
	if l.workers {
		out.WriteString(" " + textsafe.PadLeft(workersCell(b), workersCells))
	}
	if l.spark > 0 {
		out.WriteString(" " + a.faint.text(a.sparkline(b.History.Granted, sparkTop(b), l.spark)))
	}
	return out.String()
}

// limitCells are what is granted of the limit, and how much of it is used.
func (a *app) limitCells(l layout, b *watch.Bucket, now time.Time) string {
	forced, stop := overridden(&b.State, now), hiddenStop(b, now)
	granted, used := "", ""
	switch {
	case !l.granted:
	case stop != "":
		granted = " " + a.stopCell(grantsOf(b)+" of "+stop, stop, grantedCells)
	case forced:
		granted = " " + a.limitCell(grantedOf(b, grantedCells-len(overrideMark)), grantedCells, true)
	default:
		granted = " " + a.limitCell(grantedOf(b, grantedCells), grantedCells, false)
	}
	switch {
	case !l.used:
	case stop != "" && !l.granted:
		used = " " + a.stopCell(stop[:4], stop[:4], usedCells)
	default:
		used = " " + a.limitCell(percent(b.Used), usedCells, forced && !l.granted)
	}
	return granted + used
}

// hiddenStop is what stops the bucket where its state is another, graver one: it
// goes on in whatever state the row is in, and no other row says so.
func hiddenStop(b *watch.Bucket, now time.Time) string {
	hold, cooling := b.State.Hold, b.State.Cooldown.Until.After(now)
	held := hold.Active && (hold.Until.IsZero() || hold.Until.After(now))
	switch code := b.Status.Code; {
	case held && code != watch.Held:
		return watch.Held.Word()
	case cooling && code != watch.Cooldown && code != watch.Held:
		return watch.Cooldown.Word()
	}
	return ""
}

// stopCell is a text, right-aligned, that ends in the word for what stops a bucket.
func (a *app) stopCell(text, stop string, cells int) string {
	return strings.Repeat(" ", max(0, cells-len(text))) + strings.TrimSuffix(text, stop) + a.warn.text(stop)
}

// limitCell is what is granted of the limit, right-aligned. It is marked where
// the limit is an operator's: an override goes on whatever state the row is in.
func (a *app) limitCell(text string, cells int, forced bool) string {
	if !forced {
		return textsafe.PadLeft(text, cells)
	}
	text = text[:min(len(text), cells-len(overrideMark))] + overrideMark
	return strings.Repeat(" ", cells-len(text)) + a.note.text(text)
}

// overridden reports whether an override is in force at now.
func overridden(s *bucketctl.State, now time.Time) bool {
	o := s.Override
	return !o.IsZero() && (o.Until.IsZero() || o.Until.After(now))
}

// sparkTop is the height of a full sparkline: the limit, or more where more was
// granted.
func sparkTop(b *watch.Bucket) float64 {
	return largest(b.History.Granted, b.State.Effective.Rate)
}

// waitingCell is how many callers wait, then how long the first has to.
func (l layout) waitingCell(b *watch.Bucket) string {
	if !l.waiting {
		return ""
	}
	cells := l.countCells()
	if b.Waiting < 0 {
		if l.head {
			return textsafe.PadLeft(unknown, cells+headCells)
		}
		return textsafe.PadLeft(unknown, cells)
	}
	text := textsafe.PadLeft(short(float64(b.Waiting), waitingCells-1), cells)
	if !l.head {
		return text
	}
	head := ""
	if b.Waiting > 0 && b.HeadWait > 0 {
		head = span(b.HeadWait)
	}
	return text + textsafe.PadLeft(head, headCells)
}

// workersCell is "3/4" where three of four workers share the bucket.
func workersCell(b *watch.Bucket) string {
	all, shared := len(b.Workers), 0
	for i := range b.Workers {
		if w := &b.Workers[i]; !w.Silent && !w.Mode.Local() {
			shared++
		}
	}
	switch {
	case all == 0:
		return "-"
	case shared == all:
		return strconv.Itoa(all)
	}
	return strconv.Itoa(shared) + "/" + strconv.Itoa(all)
}

// stateWord is what the STATE column says, and its colour.
func (a *app) stateWord(b *watch.Bucket) (string, paint) {
	word := b.Status.Code.Word()
	if b.Status.Text != "" {
		word += " " + a.esc(b.Status.Text)
	}
	return word, a.mood(b.Status.Code)
}

// mood is the colour of a state.
func (st *styles) mood(c watch.Code) paint {
	switch c {
	case watch.Stuck, watch.Corrupt:
		return st.alarm
	case watch.Silent, watch.Fallback, watch.Cooldown, watch.Held, watch.Drift:
		return st.warn
	case watch.Overridden:
		return st.note
	case watch.Unread, watch.Foreign:
		return st.dim
	case watch.FullUse, watch.OK, watch.Idle:
	}
	return paint{}
}
