package ui

import (
	"fmt"
	"strings"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/textsafe"
	"bucketop/internal/watch"
)

// labelCells is what stands before a sparkline: its name and its top.
const labelCells = 17

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
	if legend != "" {
		out = append(out, a.historyLine("", "", marks), strings.Repeat(" ", labelCells)+a.dim.text(a.cut(legend, width-labelCells-1)))
	}
	return out
}

// historyLine is a sparkline behind its name and the value of its top.
func (a *app) historyLine(name, top, line string) string {
	const nameCells = 8
	return " " + textsafe.PadRight(name, nameCells) + textsafe.PadRight(a.cut(top, nameCells), labelCells-1-nameCells) + line
}

// marksLine is a letter under the moment of each event, and what they mean.
func (a *app) marksLine(h *watch.History, cells int) (line, legend string) {
	points := max(len(h.Levels), len(h.Granted))
	per := max(1, (points+cells-1)/cells)
	row := []rune(strings.Repeat(" ", cells))
	var parts []string
	for _, m := range h.Marks {
		age := h.End.Sub(m.At)
		at := cells - 1 - int(age/time.Second)/per
		if at < 0 || at >= cells {
			continue
		}
		letter := markLetter(m.Kind)
		row[at] = letter
		parts = append(parts, fmt.Sprintf("%c %s %s ago", letter, m.Kind, rough(age)))
	}
	return string(row), a.join(parts...)
}

// markLetter stands for a kind of event under the last minute.
func markLetter(k bucketctl.EventKind) rune {
	switch k {
	case bucketctl.EventLimit:
		return 'L'
	case bucketctl.EventUnset:
		return 'l'
	case bucketctl.EventHold:
		return 'H'
	case bucketctl.EventResume:
		return 'h'
	case bucketctl.EventUndo:
		return 'U'
	case bucketctl.EventReset:
		return 'R'
	case bucketctl.EventDelete:
		return 'X'
	case bucketctl.EventFallback:
		return 'F'
	case bucketctl.EventShared:
		return 'f'
	case bucketctl.EventCooldown:
		return 'C'
	case bucketctl.EventMended:
		return 'M'
	}
	return '?'
}
