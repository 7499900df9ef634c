package ui

import (
	"fmt"
	"strings"
)

// page is what a dialog draws: a title that stays, a body that scrolls to the
// line that matters, and a foot that stays. Whatever it is given, view returns
// nothing wider or taller than asked for.
type page struct {
	*styles
	width int

	title string
	body  []string
	foot  []string
	focus int // index in body of a line that has to be seen; -1: none
}

func newPage(st *styles, width int) *page {
	return &page{styles: st, width: width, focus: -1}
}

// narrowIndent is how far sentences are indented where every cell counts.
const narrowIndent = 3

// narrow reports whether there is no room for air and second columns.
func (p *page) narrow() bool { return p.width < 60 }

// add puts drawn lines into the body.
func (p *page) add(lines ...string) { p.body = append(p.body, lines...) }

// mark makes the next line of the body the one that has to be seen.
func (p *page) mark() { p.focus = len(p.body) }

// tell adds a raw sentence to the body, behind a label, wrapped.
func (p *page) tell(label, sentence string, paint paint) {
	p.add(p.wrapped(label, sentence, paint)...)
}

// tellAll adds sentences under one label.
func (p *page) tellAll(label string, sentences []string) {
	for _, text := range sentences {
		p.tell(label, text, paint{})
		label = strings.Repeat(" ", len(label))
	}
}

// warnAll adds those warnings that say something, with air before them.
func (p *page) warnAll(warnings ...string) {
	first := true
	for _, text := range warnings {
		if text == "" {
			continue
		}
		if first {
			p.add("")
			first = false
		}
		p.tell(" ! ", text, p.warn)
	}
}

// end adds a raw sentence to the foot.
func (p *page) end(label, sentence string, paint paint) {
	p.foot = append(p.foot, p.wrapped(label, sentence, paint)...)
}

// wrapped escapes a raw sentence and breaks it between words, with the lines
// that follow the first indented below its text.
func (p *page) wrapped(label, sentence string, paint paint) []string {
	if sentence == "" {
		return nil
	}
	if p.narrow() && strings.TrimSpace(label) == "" {
		label = label[:min(len(label), narrowIndent)]
	}
	hang := textCells(label)
	if p.narrow() {
		hang = min(hang, narrowIndent)
	}
	edge := p.width
	if !p.narrow() {
		edge-- // a margin, as on the left
	}
	lines := wrapText(p.esc(sentence), edge-textCells(label), edge-hang)
	for i, line := range lines {
		if i == 0 {
			lines[i] = paint.text(label + line)
			continue
		}
		lines[i] = strings.Repeat(" ", hang) + paint.text(line)
	}
	return lines
}

// heading sets the title: what the dialog does, to which bucket, and how far
// it has got.
func (p *page) heading(what, key, status string) {
	left := " " + p.strong.text(what) + "  "
	room := p.width - textCells(left)
	if status != "" && room-textCells(status) >= 14 {
		name := p.name(key, room-textCells(status)-2)
		gap := room - textCells(name) - textCells(status) - 1
		p.title = left + p.strong.text(name) + strings.Repeat(" ", max(1, gap)) + p.dim.text(status)
		return
	}
	p.title = left + p.strong.text(p.name(key, max(1, room-1)))
}

// view draws the page into height lines. scroll is how many lines the operator
// moved the body; it returns how far that can be at most.
func (p *page) view(height, scroll int) (text string, most int) {
	if p.width < 1 || height < 1 {
		return "", 0
	}
	foot := p.foot
	if len(foot) > height {
		foot = foot[len(foot)-height:]
	}
	var lines []string
	if height-len(foot) >= 2 {
		lines = append(lines, p.title)
	}
	room := height - len(foot) - len(lines)
	body, most := p.window(room, scroll)
	lines = append(append(lines, body...), foot...)
	for i, line := range lines {
		lines[i] = p.cut(line, p.width)
	}
	return strings.Join(lines, "\n"), most
}

// window returns room lines of the body: with the air taken out where it does
// not fit, then the part around the focus, moved by scroll.
func (p *page) window(room, scroll int) (lines []string, most int) {
	body, focus := p.body, p.focus
	if len(body)+1 <= room {
		body = append([]string{""}, body...)
		return pad(body, room), 0
	}
	if len(body) > room {
		body, focus = withoutAir(body, focus)
	}
	if len(body) <= room {
		return pad(body, room), 0
	}
	if room < 2 {
		return body[clamp(focus, 0, len(body)-room):][:max(0, room)], 0
	}
	shown := room - 1 // the last line tells that there is more
	most = len(body) - shown
	from := 0
	if focus >= shown {
		from = focus - shown/2
	}
	from = clamp(from+scroll, 0, most)
	above, below := from, len(body)-from-shown
	lines = append(lines, body[from:from+shown]...)
	return append(lines, p.dim.text(p.moreText(above, below))), most
}

func (p *page) moreText(above, below int) string {
	switch {
	case above == 0:
		return fmt.Sprintf("   %s %d more: pgdn", p.down, below)
	case below == 0:
		return fmt.Sprintf("   %s %d above: pgup", p.up, above)
	}
	return fmt.Sprintf("   %s %d above %s %d more: pgup pgdn", p.up, above, p.down, below)
}

// withoutAir drops empty lines.
func withoutAir(body []string, focus int) ([]string, int) {
	var dense []string
	moved := focus
	for i, line := range body {
		if line != "" {
			dense = append(dense, line)
		} else if i < focus {
			moved--
		}
	}
	return dense, moved
}

// pad fills up with empty lines, so that the foot stays at the bottom.
func pad(lines []string, height int) []string {
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines
}

func clamp(x, low, high int) int { return max(low, min(x, high)) }
