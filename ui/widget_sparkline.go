package ui

import (
	"math"
	"strings"
)

// sparkline draws points, oldest first, in exactly cells characters, scaled to
// most. Where several points share a cell it shows the largest, so that a short
// peak is not lost; where there are fewer points than cells the left stays
// blank. What is not known is a gap and not a zero.
func (g *glyphs) sparkline(points []float64, most float64, cells int) string {
	if cells <= 0 {
		return ""
	}
	var b strings.Builder
	for _, x := range squeeze(points, cells) {
		b.WriteString(g.height(x, most))
	}
	return b.String()
}

// squeeze brings points to exactly cells values, the newest at the right.
func squeeze(points []float64, cells int) []float64 {
	out := make([]float64, cells)
	for i := range out {
		out[i] = math.NaN()
	}
	per := max(1, (len(points)+cells-1)/cells)
	for i := range points {
		fromEnd := (len(points) - 1 - i) / per
		at := cells - 1 - fromEnd
		if at < 0 || math.IsNaN(points[i]) {
			continue
		}
		if math.IsNaN(out[at]) || points[i] > out[at] {
			out[at] = points[i]
		}
	}
	return out
}

// height is the glyph of one value.
func (g *glyphs) height(x, most float64) string {
	if math.IsNaN(x) {
		return g.gap
	}
	top := len(g.spark) - 1
	if !(most > 0) {
		return g.spark[0]
	}
	return g.spark[max(0, min(top, int(math.Round(x/most*float64(top)))))]
}

// largest is the largest known value, at least floor.
func largest(points []float64, floor float64) float64 {
	for _, x := range points {
		if x > floor { // also false for NaN
			floor = x
		}
	}
	return floor
}
