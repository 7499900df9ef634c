package ui

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"bucketop/internal/textsafe"
)

// paint colours a text. The zero paint leaves it as it is.
type paint struct{ on, off string }

// text paints s. An empty text stays empty.
func (p paint) text(s string) string {
	if s == "" {
		return s
	}
	return p.on + s + p.off
}

// styles is how the console draws: colours for a light or a dark background,
// and glyphs for a terminal with or without Unicode. Colour never says anything
// that a word or a character beside it does not say too.
type styles struct {
	ascii bool

	alarm  paint // red and bold: stuck, corrupt, refused
	warn   paint // yellow: silent, fallback, held, drift
	note   paint // cyan: override, what is being changed
	dim    paint // grey: labels, old data
	faint  paint // a darker grey: what only gives an impression, such as a sparkline
	strong paint // bold: the row under the cursor, titles

	glyphs
}

// glyphs are the characters beyond letters; each is one cell wide.
type glyphs struct {
	full, empty string   // cells of a gauge
	spark       []string // heights of a sparkline, lowest first; none so high that lines above each other join
	gap         string   // where a sparkline knows nothing
	cursor      string
	marked      string
	caret       string // of an input: a reverse-video cursor vanishes under NO_COLOR
	dot         string // between clauses
	ellipsis    string
	up, down    string // more above, more below
	arrow       string // from before to after
}

func unicodeGlyphs() glyphs {
	return glyphs{
		full: "━", empty: "─",
		spark: strings.Split("▁▂▃▄▅▆▇", ""), gap: " ",
		cursor: ">", marked: "*", caret: "_", dot: "·", ellipsis: textsafe.Ellipsis,
		up: "↑", down: "↓", arrow: "→",
	}
}

func asciiGlyphs() glyphs {
	return glyphs{
		full: "#", empty: "-",
		spark: strings.Split("_.-=+*#", ""), gap: " ",
		cursor: ">", marked: "*", caret: "_", dot: "-", ellipsis: textsafe.Tilde,
		up: "^", down: "v", arrow: ">",
	}
}

// look is what the styles depend on.
type look struct {
	ascii, noColor bool
	light          bool      // background
	output         io.Writer // whose colours count; nil: none
}

// newStyles returns the styles for a look. It asks the terminal nothing.
func newStyles(l look) styles {
	st := styles{ascii: l.ascii, glyphs: unicodeGlyphs()}
	if l.ascii {
		st.glyphs = asciiGlyphs()
	}
	if l.noColor || l.output == nil {
		return st
	}
	r := lipgloss.NewRenderer(l.output)
	r.SetHasDarkBackground(!l.light)
	color := func(light, dark string) lipgloss.Style {
		return r.NewStyle().Foreground(lipgloss.AdaptiveColor{Light: light, Dark: dark})
	}
	st.alarm = newPaint(color("160", "203").Bold(true))
	st.warn = newPaint(color("130", "221"))
	st.note = newPaint(color("25", "80"))
	st.dim = newPaint(color("243", "245"))
	st.faint = newPaint(color("248", "240"))
	st.strong = newPaint(r.NewStyle().Bold(true))
	return st
}

// newPaint takes a style apart once, because rendering through lipgloss costs
// more than everything else in a row.
func newPaint(s lipgloss.Style) paint {
	on, off, _ := strings.Cut(s.Render("x"), "x")
	return paint{on, off}
}

// esc makes a text that came from Redis, or from an error, safe to draw. It
// goes around each such text once; see package textsafe.
func (st *styles) esc(s string) string {
	if st.ascii {
		return textsafe.EscapeASCII(s)
	}
	return textsafe.Escape(s)
}

// cut shortens a drawn line, colours and all, to width cells.
func (st *styles) cut(s string, width int) string {
	if atMost(s) <= width {
		return s
	}
	return textsafe.Truncate(s, width, st.ellipsis)
}

// name escapes a bucket's or worker's name and cuts its middle out where it is
// longer than width.
func (st *styles) name(s string, width int) string {
	return textsafe.Middle(st.esc(s), width, st.ellipsis)
}

// join puts the non-empty parts on one line with dots between them.
func (st *styles) join(parts ...string) string {
	kept := make([]string, 0, len(parts))
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " "+st.dot+" ")
}
