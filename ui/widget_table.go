package ui

import (
	"slices"
	"strings"

	"bucketop/internal/textsafe"
)

// column is one column of a table.
type column struct {
	title string
	least int  // cells it always has, so that numbers that change don't move their neighbours; where flex: keeps
	right bool // numbers
	flex  bool // gives way first, and takes what is left
	maybe bool // without a text in any row it is left out
	name  bool // where it is cut, both ends of the text stay, or what tells it from the others
	most  int  // cells it never exceeds; 0: no bound
	keep  int  // the column with the smallest is dropped first where the window is narrow; 0 stays
}

// cell is one text of a table, escaped already.
type cell struct {
	text string
	mood paint
}

// plainCell is a cell without colour.
func plainCell(text string) cell { return cell{text: text} }

const (
	tableGap  = 2  // cells between columns
	flexLeast = 12 // cells that a flexible column keeps where it names no others
)

// table lays rows out under their headings, each line at most width cells.
func (st *styles) table(cols []column, rows [][]cell, width int) (heading string, lines []string) {
	widths := st.columnWidths(cols, rows, width)
	titles := make([]cell, len(cols))
	for i, c := range cols {
		titles[i] = cell{c.title, st.dim}
	}
	heading = st.tableLine(cols, widths, titles)
	for i, c := range cols {
		if c.name && widths[i] > 0 {
			rows = st.tellApart(rows, i, widths[i])
		}
	}
	lines = make([]string, len(rows))
	for i, row := range rows {
		lines[i] = st.tableLine(cols, widths, row)
	}
	return heading, lines
}

// columnWidths is how wide each column is; 0 where it is dropped.
func (st *styles) columnWidths(cols []column, rows [][]cell, width int) []int {
	natural := make([]int, len(cols))
	for i, c := range cols {
		if c.maybe && !slices.ContainsFunc(rows, func(row []cell) bool { return row[i].text != "" }) {
			continue
		}
		natural[i] = textCells(c.title)
		if !c.flex {
			natural[i] = max(natural[i], c.least)
		}
		for _, row := range rows {
			natural[i] = max(natural[i], textCells(row[i].text))
		}
		if c.most > 0 {
			natural[i] = min(natural[i], c.most)
		}
	}
	for {
		widths := slices.Clone(natural)
		for over(widths, width) > 0 && shrinkFlex(cols, widths, over(widths, width)) {
		}
		if over(widths, width) <= 0 || !dropOne(cols, natural) {
			return widths
		}
	}
}

// over is by how many cells the columns exceed width.
func over(widths []int, width int) int {
	total := -tableGap
	for _, w := range widths {
		if w > 0 {
			total += w + tableGap
		}
	}
	return total - width
}

// shrinkFlex takes cells from the widest flexible column; false where none has
// any to give.
func shrinkFlex(cols []column, widths []int, by int) bool {
	widest := -1
	for i, c := range cols {
		if c.flex && widths[i] > c.floor() && (widest < 0 || widths[i] > widths[widest]) {
			widest = i
		}
	}
	if widest < 0 {
		return false
	}
	widths[widest] = max(cols[widest].floor(), widths[widest]-by)
	return true
}

func (c column) floor() int {
	if c.least > 0 {
		return c.least
	}
	return flexLeast
}

// dropOne takes the least wanted column away; false where all have to stay.
func dropOne(cols []column, widths []int) bool {
	drop := -1
	for i, c := range cols {
		if c.keep > 0 && widths[i] > 0 && (drop < 0 || c.keep < cols[drop].keep) {
			drop = i
		}
	}
	if drop < 0 {
		return false
	}
	widths[drop] = 0
	return true
}

// tellApart returns the rows with the names in a column as wide as it, so that no
// two that differ look the same.
func (st *styles) tellApart(rows [][]cell, column, width int) [][]cell {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row[column].text
	}
	out := make([][]cell, len(rows))
	for i, name := range textsafe.Apart(names, width, st.ellipsis) {
		out[i] = slices.Clone(rows[i])
		out[i][column].text = name
	}
	return out
}

func (st *styles) tableLine(cols []column, widths []int, row []cell) string {
	var b strings.Builder
	for i, c := range cols {
		if widths[i] == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(strings.Repeat(" ", tableGap))
		}
		text := row[i].text
		if textCells(text) > widths[i] {
			text = st.cut(text, widths[i])
		}
		if c.right {
			text = textsafe.PadLeft(text, widths[i])
		} else {
			text = textsafe.PadRight(text, widths[i])
		}
		b.WriteString(row[i].mood.text(text))
	}
	return b.String()
}
