package ui

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/textsafe"
	"bucketop/internal/watch"
)

// labelCells is what stands before a sparkline: its name and its top.
const labelCells = 18

// historySection is the last minute: level, grants, and what happened in it.
func (a *app) historySection(b *watch.Bucket, width int) []string {
	h := &b.History
	if len(h.Levels) == 0 && len(h.Granted) == 0 {
		return nil
	}
	cells := max(1, min(sparkMost, width-labelCells-2))
	full := b.State.Effective.Capacity
	out := []string{
		" " + a.dim.text(a.cut("LAST MINUTE, a mark a second; the number at the left is full height", width-2)),
		a.historyLine("level", short(full, 5), a.sparkline(h.Levels, largest(h.Levels, full), cells)),
		a.historyLine("granted", rateText(sparkTop(b), b.State.Effective, 4), a.sparkline(h.Granted, sparkTop(b), cells)),
	}
	marks, legend := a.marksLine(h, cells)
	if strings.TrimSpace(marks) != "" {
		out = append(out, a.historyLine("", "", marks))
	}
	if hasGap(h.Levels) || hasGap(h.Granted) {
		legend = a.join(legend, "blank: nothing is known")
	}
	for _, line := range wrap(legend, width-labelCells-1) {
		if line != "" {
			out = append(out, strings.Repeat(" ", labelCells)+a.dim.text(line))
		}
	}
	return out
}

// hasGap reports whether nothing is known of some time between two points.
func hasGap(points []float64) bool {
	known, gap := false, false
	for _, x := range points {
		switch {
		case math.IsNaN(x):
			gap = known
		case gap:
			return true
		default:
			known = true
		}
	}
	return false
}

// historyLine is a sparkline behind its name and the value of its top.
func (a *app) historyLine(name, top, line string) string {
	const nameCells = 8
	return " " + textsafe.PadRight(name, nameCells) + textsafe.PadRight(a.cut(top, nameCells), labelCells-1-nameCells) + line
}

// several stands where things of different kinds happened in one cell.
const several = '+'

// marksLine is a letter under the moment of each thing that happened, and what
// the letters mean: of each kind how often, and when last.
func (a *app) marksLine(h *watch.History, cells int) (line, legend string) {
	points := max(len(h.Levels), len(h.Granted))
	per := max(1, (points+cells-1)/cells)
	row := []rune(strings.Repeat(" ", cells))
	var kinds []bucketctl.EventKind
	count, last := map[bucketctl.EventKind]int{}, map[bucketctl.EventKind]time.Duration{}
	for _, m := range h.Marks {
		age := h.End.Sub(m.At)
		at := cells - 1 - int(max(0, age)/time.Second)/per
		if at < 0 {
			continue
		}
		letter, _ := markName(m.Kind)
		if row[at] != ' ' && row[at] != letter {
			letter = several
		}
		row[at] = letter
		if count[m.Kind] == 0 {
			kinds = append(kinds, m.Kind)
		}
		count[m.Kind]++
		last[m.Kind] = age
	}
	var parts []string
	for _, kind := range kinds {
		letter, name := markName(kind)
		text := string(letter) + " " + name
		if n := count[kind]; n > 1 {
			text += " " + strconv.Itoa(n) + "x, last"
		}
		parts = append(parts, text+" "+rough(last[kind])+" ago")
	}
	if slices.Contains(row, several) {
		parts = append(parts, string(several)+" several")
	}
	return string(row), a.join(parts...)
}

// markName is the letter that stands for a kind of event under the last minute,
// and what it is called there. Small letters end what capitals begin.
func markName(k bucketctl.EventKind) (letter rune, name string) {
	switch k {
	case bucketctl.EventLimit:
		return 'L', "limit edited"
	case bucketctl.EventUnset:
		return 'l', "override taken away"
	case bucketctl.EventHold:
		return 'H', "held"
	case bucketctl.EventResume:
		return 'h', "resumed"
	case bucketctl.EventUndo:
		return 'U', "undone"
	case bucketctl.EventReset:
		return 'R', "reset"
	case bucketctl.EventDelete:
		return 'X', "state deleted"
	case bucketctl.EventFallback:
		return 'F', "fallback entered"
	case bucketctl.EventShared:
		return 'f', "fallback left"
	case bucketctl.EventCooldown:
		return 'C', "cooldown"
	case watch.MarkCooled:
		return 'c', "cooldown over"
	case bucketctl.EventMended:
		return 'M', "wrong values mended"
	case watch.MarkSilent:
		return 'S', "a silent worker heard of last"
	}
	return '?', "another event"
}
