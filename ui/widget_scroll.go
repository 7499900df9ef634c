package ui

import "fmt"

// scroller is a window over lines that may be more than fit.
type scroller struct {
	first, total, height int
}

// scroll moves the window by so many lines.
func (s *scroller) scroll(by int) {
	s.first = max(0, min(s.total-s.height, s.first+by))
}

// page moves it by so many windows, keeping a line in sight.
func (s *scroller) pageBy(by int) { s.scroll(by * max(1, s.height-1)) }

// cutOut returns the lines in a window of height; where lines are left out the
// first or last says so.
func (s *scroller) cutOut(st *styles, lines []string, height int) []string {
	s.total, s.height = len(lines), height
	s.scroll(0)
	if len(lines) <= height || height < 3 {
		return lines[:min(len(lines), max(0, height))]
	}
	out := append([]string(nil), lines[s.first:s.first+height]...)
	if above := s.first; above > 0 {
		out[0] = st.dim.text(fmt.Sprintf(" %s %s", st.up, count(above+1, "more line")))
	}
	if below := len(lines) - s.first - height; below > 0 {
		out[height-1] = st.dim.text(fmt.Sprintf(" %s %s", st.down, count(below+1, "more line")))
	}
	return out
}

// cursorList is a selection in a list of names that come and go: the selection
// follows the name.
type cursorList struct {
	names  []string
	cursor string
	at     int
	first  int
	window int
}

// set brings the names of a new reading in. While calm, names keep their places
// and new ones come last.
func (l *cursorList) set(names []string, calm bool) {
	if calm && len(l.names) > 0 {
		names = keepPlaces(l.names, names)
	}
	l.names = names
	for i, name := range names {
		if name == l.cursor {
			l.at = i
			l.scroll()
			return
		}
	}
	l.at = max(0, min(l.at, len(names)-1))
	l.cursor = ""
	if len(names) > 0 {
		l.cursor = names[l.at]
	}
	l.scroll()
}

// keepPlaces returns the names of now in the order they had before.
func keepPlaces(before, now []string) []string {
	alive := make(map[string]bool, len(now))
	for _, name := range now {
		alive[name] = true
	}
	out := make([]string, 0, len(now))
	for _, name := range before {
		if alive[name] {
			out = append(out, name)
			delete(alive, name)
		}
	}
	for _, name := range now {
		if alive[name] {
			out = append(out, name)
		}
	}
	return out
}

func (l *cursorList) move(by int) {
	if len(l.names) == 0 {
		return
	}
	l.at = max(0, min(len(l.names)-1, l.at+by))
	l.cursor = l.names[l.at]
	l.scroll()
}

func (l *cursorList) page(by int) { l.move(by * max(1, l.window-1)) }

// fit makes the window as high as it is drawn and returns what is in it.
func (l *cursorList) fit(rows int) []string {
	l.window = max(0, rows)
	l.scroll()
	end := min(len(l.names), l.first+l.window)
	return l.names[min(l.first, end):end]
}

func (l *cursorList) scroll() {
	l.first = max(min(l.first, l.at), l.at-l.window+1)
	l.first = max(0, min(l.first, len(l.names)-l.window))
}
