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

// inUnit turns tokens per second into tokens per unit.
func inUnit(rate float64, per time.Duration) float64 {
	if per <= 0 {
		per = time.Second
	}
	return rate * per.Seconds()
}

// aboutRate is a rate that was measured, such as 138/min.
func aboutRate(rate float64, per time.Duration) string {
	return rateText(rate, bucketctl.Limit{Rate: 1, Per: per}, 6)
}

// exactRate is a rate that somebody set; 0 is none.
func exactRate(rate float64, per time.Duration) string {
	if rate == 0 {
		return "?"
	}
	return bucketctl.Limit{Rate: rate, Per: per}.RateString()
}

// exactTokens is a capacity that somebody set; 0 is none.
func exactTokens(capacity float64) string {
	if capacity == 0 {
		return "?"
	}
	return exactText(capacity)
}

// exactLimit is a limit within a sentence, such as "300/min and 15".
func exactLimit(l bucketctl.Limit) string {
	if l.IsZero() {
		return "a limit that is not known"
	}
	return exactRate(l.Rate, l.Per) + " and " + exactTokens(l.Capacity)
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
	return listText(append(append([]string{}, names[:most-1]...), count(len(names)-most+1, "other")))
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
