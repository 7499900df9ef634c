package ui

import (
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestGauge(t *testing.T) {
	g := unicodeGlyphs()
	for _, c := range []struct {
		level, capacity float64
		want            string
	}{
		{0, 30, "──────"}, {30, 30, "━━━━━━"}, {29.9, 30, "━━━━━─"}, {1, 1000, "━─────"}, {0.4, 1000, "──────"},
		{-5, 30, "──────"}, {40, 30, "━━━━━━"}, {0, 0, "──────"}, {5, 0, "······"}, {math.NaN(), 30, "······"},
	} {
		if got := g.gauge(c.level, c.capacity, gaugeCells); got != c.want {
			t.Errorf("gauge(%v, %v) = %q, want %q", c.level, c.capacity, got, c.want)
		}
	}
}

func TestSparkline(t *testing.T) {
	g, nan := unicodeGlyphs(), math.NaN()
	for _, c := range []struct {
		name   string
		points []float64
		cells  int
		want   string
	}{
		{"none", nil, 3, "   "},
		{"fewer points than cells stand at the right", []float64{0, 6}, 4, "  ▁▇"},
		{"a gap is no zero", []float64{6, nan, 0}, 3, "▇ ▁"},
		{"a peak survives", []float64{0, 0, 0, 6, 0, 0}, 3, "▁▇▁"},
		{"above the top", []float64{60}, 1, "▇"},
		{"no room", []float64{1}, 0, ""},
	} {
		if got := g.sparkline(c.points, 6, c.cells); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := g.sparkline([]float64{0, 0}, 0, 2); got != "▁▁" {
		t.Errorf("with a top of 0: %q", got)
	}
}

func TestSparklineIsAsWideAsAsked(t *testing.T) {
	g := unicodeGlyphs()
	rapid.Check(t, func(t *rapid.T) {
		points := rapid.SliceOf(rapid.Float64()).Draw(t, "points")
		cells := rapid.IntRange(0, 80).Draw(t, "cells")
		if got := ansi.StringWidth(g.sparkline(points, rapid.Float64().Draw(t, "top"), cells)); got != cells {
			t.Errorf("%d cells, want %d", got, cells)
		}
	})
}

func TestAsciiGlyphsAreASCII(t *testing.T) {
	g := asciiGlyphs()
	all := g.full + g.empty + g.gap + g.cursor + g.marked + g.caret + g.dot + g.ellipsis + g.up + g.down + g.arrow +
		strings.Join(g.spark, "")
	for _, r := range all {
		if r < ' ' || r > '~' {
			t.Errorf("%U is not ASCII", r)
		}
	}
}

func TestGlyphsAreOneCellWide(t *testing.T) {
	for _, g := range []glyphs{unicodeGlyphs(), asciiGlyphs()} {
		for _, s := range append(g.spark, g.full, g.empty, g.gap, g.cursor, g.marked, g.caret, g.dot, g.ellipsis, g.up, g.down, g.arrow) {
			if ansi.StringWidth(s) != 1 {
				t.Errorf("%q is %d wide", s, ansi.StringWidth(s))
			}
		}
	}
}

// TestTableDropsColumnsByPriority and never exceeds the width while the columns
// that stay have room.
func TestTableDropsColumnsByPriority(t *testing.T) {
	st := newStyles(look{})
	cols := []column{{title: "NAME", flex: true}, {title: "ONE", keep: 1}, {title: "TWO", keep: 2, right: true}}
	rows := [][]cell{{plainCell("a name that is long"), plainCell("1"), plainCell("2")}}
	for _, c := range []struct {
		width int
		want  string
	}{
		{40, "NAME                 ONE  TWO"}, {25, "NAME             ONE  TWO"}, {20, "NAME             TWO"}, {14, "NAME"},
	} {
		heading, lines := st.table(cols, rows, c.width)
		if strings.TrimRight(heading, " ") != c.want {
			t.Errorf("at %d: %q, want %q", c.width, heading, c.want)
		}
		for _, line := range append(lines, heading) {
			if ansi.StringWidth(line) > c.width {
				t.Errorf("at %d: %q", c.width, line)
			}
		}
	}
}

func TestInputKeepsTheCaretInSight(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	in := newInput("0123456789", 100)
	for _, c := range []struct {
		at, width int
		want      string
	}{
		{10, 12, "0123456789_ "}, {10, 5, "6789_"}, {0, 5, "_0123"}, {7, 5, "3456_"}, {3, 0, ""},
	} {
		in.SetCursor(c.at)
		if got := b.drawInput(in, c.width, true); got != c.want {
			t.Errorf("caret at %d in %d cells: %q, want %q", c.at, c.width, got, c.want)
		}
	}
	if got := b.drawInput(in, 12, false); got != "0123456789  " {
		t.Errorf("without focus: %q", got)
	}
}

func TestScrollerSaysWhatItHides(t *testing.T) {
	st := newStyles(look{})
	lines := strings.Split("a b c d e f", " ")
	var s scroller
	if got := s.cutOut(&st, lines, 4); strings.Join(got, "|") != "a|b|c| ↓ 3 more lines" {
		t.Errorf("%q", got)
	}
	s.scroll(toEnd)
	if got := s.cutOut(&st, lines, 4); strings.Join(got, "|") != " ↑ 3 more lines|d|e|f" {
		t.Errorf("%q", got)
	}
	if got := s.cutOut(&st, lines, 6); len(got) != 6 || got[0] != "a" {
		t.Errorf("%q", got)
	}
}
