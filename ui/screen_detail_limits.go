package ui

import (
	"strconv"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

func limitColumns() []column {
	return []column{
		{title: "LIMIT", least: 8},
		{title: "RATE", least: 10},
		{title: "CAPACITY", least: 8},
		{title: "BY WHOM, UNTIL WHEN", flex: true, keep: 1},
	}
}

// limitSection is what was declared, what an operator set instead, what is in
// force, and what stops the bucket.
func (a *app) limitSection(b *watch.Bucket, width int) []string {
	s, now := &b.State, a.dataNow()
	reasons := map[int]string{} // by the row that one stands under
	rows := [][]cell{
		{plainCell("declared"), plainCell(rateCell(s.Declared)), plainCell(capacityCell(s.Declared)), plainCell(a.declaredWhy(b))},
	}
	if !s.Override.IsZero() {
		rows = append(rows, a.overrideRow(s, now))
		reasons[len(rows)-1] = s.Reason
	}
	force := "as declared"
	switch {
	case b.Reported && s.Override.IsZero():
		force = "as workers say; nothing is stored yet"
	case s.Effective.IsZero():
		force = "not known"
	case !s.Override.IsZero():
		force = "the override"
	}
	switch {
	case s.Effective.IsZero():
	case b.Window():
		force += "; a window: at most " + plain(s.Effective.Capacity) + " start in any " + rough(secondsOf(s.Effective))
	default:
		force += "; capacity is " + rough(secondsOf(s.Effective)) + " of rate"
	}
	rows = append(rows, []cell{{"in force", a.strong}, {rateCell(s.Effective), a.strong}, {capacityCell(s.Effective), a.strong}, plainCell(force)})
	if h := s.Hold; h.Active {
		reasons[len(rows)] = h.Reason
		rows = append(rows, []cell{{"HELD", a.warn}, plainCell("nothing"), plainCell(""), plainCell(a.whoUntil(h.By, h.At, h.Until, now))})
	}
	if c := s.Cooldown; c.Until.After(now) {
		rows = append(rows, []cell{{"COOLDOWN", a.warn}, plainCell("nothing"), plainCell(""), plainCell(a.whoUntil(a.shortName(c.By), time.Time{}, c.Until, now))})
	}
	heading, lines := a.table(limitColumns(), rows, width-2)
	out := []string{" " + heading}
	for i, line := range lines {
		out = append(out, " "+line)
		for _, reason := range wrap(a.quoted(reasons[i]), width-5) {
			if reason != "" {
				out = append(out, "   "+reason)
			}
		}
	}
	return out
}

func (a *app) overrideRow(s *bucketctl.State, now time.Time) []cell {
	o := s.Override
	rate, capacity := "as declared", "as declared"
	if o.Rate != 0 {
		rate = rateText(o.Rate, bucketctl.Limit{Rate: o.Rate, Per: o.Per}, 6)
	}
	if o.Capacity != 0 {
		capacity = plain(o.Capacity)
	}
	return []cell{{"override", a.note}, {rate, a.note}, {capacity, a.note},
		plainCell(a.whoUntil(s.By, s.ChangedAt, o.Until, now))}
}

// whoUntil is "anna@ops1 13:58:05, until 14:58:05, 26m left".
func (a *app) whoUntil(by string, at, until, now time.Time) string {
	text := a.whoWhen(by, at, now)
	if until.IsZero() {
		text += ", no end"
	} else {
		text += ", until " + clockTime(until, now) + ", " + left(until, now)
	}
	return text
}

// declaredWhy says how many workers declare what is stored, and whether others
// declare something else.
func (a *app) declaredWhy(b *watch.Bucket) string {
	same, others := 0, 0
	for i := range b.Workers {
		if declaresOther(b, &b.Workers[i]) {
			others++
		} else {
			same++
		}
	}
	who := "by " + count(same, "worker")
	if b.Reported {
		who = "reported " + who
	}
	switch {
	case same+others == 0, b.State.Declared.IsZero():
		return ""
	case others == 1:
		return who + ", " + a.warn.text("1 declares something else")
	case others > 0:
		return who + ", " + a.warn.text(strconv.Itoa(others)+" declare something else")
	}
	return who
}

func rateCell(l bucketctl.Limit) string {
	if l.Rate == 0 {
		return unknown
	}
	return rateText(l.Rate, l, 6)
}

func capacityCell(l bucketctl.Limit) string {
	if l.Capacity == 0 {
		return unknown
	}
	return plain(l.Capacity)
}

// secondsOf is how long a full bucket takes to fill.
func secondsOf(l bucketctl.Limit) time.Duration {
	return time.Duration(min(l.Capacity/l.Rate, 1e9) * float64(time.Second))
}

// indent puts a table one cell to the right, where everything begins.
func indent(heading string, lines []string) []string {
	out := make([]string, 0, len(lines)+1)
	out = append(out, " "+heading)
	for _, line := range lines {
		out = append(out, " "+line)
	}
	return out
}
