package ui

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"bucketop/bucketctl"
)

// exactText is a number that somebody set, to the last digit: 22, 7.5.
func exactText(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "?"
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	if err != nil {
		rounded = x
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// aboutText is a number that was measured, in about three digits: 588, 9.87.
func aboutText(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "?"
	}
	digits := 0
	switch size := math.Abs(x); {
	case size == 0:
	case size < 0.01:
		return strconv.FormatFloat(x, 'g', 2, 64)
	case size < 9.995:
		digits = 2
	case size < 99.95:
		digits = 1
	}
	text := strconv.FormatFloat(x, 'f', digits, 64)
	if digits > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// unitText is what stands behind the slash of a rate shown in unit per.
func unitText(per time.Duration) string {
	_, unit, _ := strings.Cut(bucketctl.Limit{Rate: 1, Per: per}.RateString(), "/")
	return unit
}

// perUnit turns tokens per second into tokens per unit.
func perUnit(rate float64, per time.Duration) float64 {
	if per <= 0 {
		per = time.Second
	}
	return rate * per.Seconds()
}

// aboutRate is a rate that was measured, such as 138/min.
func aboutRate(rate float64, per time.Duration) string {
	return aboutText(perUnit(rate, per)) + "/" + unitText(per)
}

// rateText is a rate that somebody set; 0 is none.
func rateText(rate float64, per time.Duration) string {
	if rate == 0 {
		return "?"
	}
	return bucketctl.Limit{Rate: rate, Per: per}.RateString()
}

// capacityText is a capacity that somebody set; 0 is none.
func capacityText(capacity float64) string {
	if capacity == 0 {
		return "?"
	}
	return exactText(capacity)
}

// limitText is a limit within a sentence, such as "300/min and 15".
func limitText(l bucketctl.Limit) string {
	if l.IsZero() {
		return "a limit that is not known"
	}
	return rateText(l.Rate, l.Per) + " and " + capacityText(l.Capacity)
}

// spanText is a duration within a sentence, rounded up: "4 s", "2 min 5 s".
// Below a second it is milliseconds.
func spanText(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	if d > 0 && d < time.Second {
		return fmt.Sprintf("%d ms", (d+time.Millisecond-1)/time.Millisecond)
	}
	s := int64(d / time.Second)
	if d%time.Second > 0 {
		s++
	}
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return twoUnits(s/60, "min", s%60, "s")
	case s < 86400:
		return twoUnits(s/3600, "h", s%3600/60, "min")
	}
	return twoUnits(s/86400, "days", s%86400/3600, "h")
}

func twoUnits(big int64, bigUnit string, small int64, smallUnit string) string {
	if bigUnit == "days" && big == 1 {
		bigUnit = "day"
	}
	if small == 0 {
		return fmt.Sprintf("%d %s", big, bigUnit)
	}
	return fmt.Sprintf("%d %s %d %s", big, bigUnit, small, smallUnit)
}

// shortSpan is a duration in a column: 42s, 26m, 2h, 3d, rounded down.
func shortSpan(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// clockText is a moment of server time, in UTC as everywhere on the console;
// with its date when it is not today's.
func clockText(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// countText is a number of things: "1 caller", "37 callers".
func countText(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// listText joins names as a sentence does: "geo-7, geo-8 and geo-9".
func listText(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// fewNames is listText of at most three names, and the number of the others.
func fewNames(names []string) string {
	const most = 3
	if len(names) <= most {
		return listText(names)
	}
	return listText(append(append([]string{}, names[:most-1]...), countText(len(names)-most+1, "other")))
}

// plainError is an input's error without the sentinel's prefix, which says
// nothing to somebody who looks at the field.
func plainError(err error) string {
	text := err.Error()
	for _, sentinel := range []error{bucketctl.ErrLimit, bucketctl.ErrTokens} {
		if errors.Is(err, sentinel) {
			text = strings.ReplaceAll(text, sentinel.Error()+": ", "")
		}
	}
	return text
}
