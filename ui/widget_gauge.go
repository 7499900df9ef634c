package ui

import (
	"math"
	"strings"
)

// gaugeCells is the width of every gauge in the list.
const gaugeCells = 6

// gauge draws how full a bucket is. It is all full only when the bucket is, and
// never empty while there is a token to take; dots stand for what is not known.
func (g *glyphs) gauge(level, capacity float64, cells int) string {
	if math.IsNaN(level) || capacity <= 0 && level > 0 {
		return strings.Repeat(g.dot, cells)
	}
	full := 0
	if capacity > 0 {
		part := max(0, min(1, level/capacity))
		full = int(math.Round(part * float64(cells)))
		if part < 1 {
			full = min(full, cells-1)
		}
		if level >= 1 {
			full = max(full, 1)
		}
	}
	return strings.Repeat(g.full, full) + strings.Repeat(g.empty, cells-full)
}
