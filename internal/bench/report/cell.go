package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// nothing stands where a figure does not apply or was not measured.
const nothing = "-"

// number writes three significant digits, with k and M where they are short.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return nothing
	case a >= 1e6:
		return digits(v/1e6) + "M"
	case a >= 1e4:
		return digits(v/1e3) + "k"
	}
	return digits(v)
}

// digits writes three significant digits, and no more than four after the
// point: below that a figure counts as none.
func digits(v float64) string {
	const significant, most = 3, 4
	if v == 0 {
		return "0"
	}
	after := significant - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	text := strconv.FormatFloat(v, 'f', min(max(after, 0), most), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func times(v float64) string {
	if text := number(v); text != nothing {
		return text + "x"
	}
	return nothing
}

func percent(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nothing
	}
	return strconv.FormatFloat(100*v, 'f', 1, 64) + " %"
}

// latency takes nanoseconds.
func latency(ns float64) string {
	switch d := time.Duration(ns); {
	case math.IsNaN(ns) || ns <= 0:
		return nothing
	case d < time.Microsecond:
		return digits(ns) + " ns"
	case d < time.Millisecond:
		return digits(ns/1e3) + " µs"
	case d < time.Second:
		return digits(ns/1e6) + " ms"
	}
	return digits(ns/1e9) + " s"
}

// grouped writes an integer with commas.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// table writes rows of cells as markdown. The first column is text, the others
// are figures.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	line(head)
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "--:"
	}
	rule[0] = "---"
	line(rule)
	for _, row := range rows {
		line(row)
	}
	return b.String()
}
