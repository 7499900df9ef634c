package ui

import (
	"math"
	"strconv"
	"strings"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// unknown stands where a number is not known.
const unknown = "?"

// short is x in at most width cells, as exact as they allow: 588, 7.5, 24k,
// 1.75M. Where even the shortest form is wider, that is returned.
func short(x float64, width int) string {
	switch {
	case math.IsNaN(x):
		return unknown
	case math.IsInf(x, 0):
		return "inf"
	}
	unit, suffix := scale(math.Abs(x))
	return decimals(x/unit, suffix, width)
}

// scale says whether a number is written in thousands, millions, … The bounds
// lie where rounding would give 1000 of the smaller unit.
func scale(size float64) (unit float64, suffix string) {
	switch {
	case size < 999.5:
		return 1, ""
	case size < 999.5e3:
		return 1e3, "k"
	case size < 999.5e6:
		return 1e6, "M"
	case size < 999.5e9:
		return 1e9, "G"
	}
	return 1e12, "T"
}

// decimals writes x with as many decimals as fit, up to three digits in all,
// and none that are zero.
func decimals(x float64, suffix string, width int) string {
	most := 2
	switch size := math.Abs(x); {
	case size >= 100:
		most = 0
	case size >= 10 || suffix == "":
		most = 1
	}
	if suffix == "" && math.Abs(x) >= 10 {
		most = 0
	}
	for places := most; ; places-- {
		text := strconv.FormatFloat(x, 'f', places, 64)
		if places > 0 {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		if text == "-0" {
			text = "0"
		}
		if places == 0 || len(text)+len(suffix) <= width {
			return text + suffix
		}
	}
}

// plain is x for a sentence, where there is room.
func plain(x float64) string { return short(x, 6) }

// levelOf is "24k/90k" in at most 7 cells where that is possible at all.
func levelOf(level, capacity float64) string {
	of := unknown
	if capacity > 0 {
		of = short(capacity, 4)
	}
	if capacity >= 10 || capacity == 0 {
		level = math.Floor(level)
	}
	room := max(1, 6-len(of))
	text := short(level, room)
	if len(text) > room && level < 0 {
		text = "<0"
	}
	return text + "/" + of
}

// perUnit is the unit of a limit's rate as it is declared: "/min", "/10s".
func perUnit(l bucketctl.Limit) string {
	rate := l.RateString()
	if i := strings.IndexByte(rate, '/'); i >= 0 {
		return rate[i:]
	}
	return "/s"
}

// rateText is a rate in the limit's own unit, such as "1.8M/min".
func rateText(perSecond float64, l bucketctl.Limit, width int) string {
	_, unit := l.InUnit()
	return short(perSecond*unit.Seconds(), width) + perUnit(l)
}

// limitText is "600/min, capacity 30"; of a window "10/10s window".
func limitText(b *watch.Bucket, l bucketctl.Limit) string {
	switch {
	case l.IsZero():
		return "limit unknown"
	case b.Window():
		return watch.LimitText(l, true)
	}
	return rateText(l.Rate, l, 6) + ", capacity " + plain(l.Capacity)
}

// grantedOf is "588 of 600/min" in at most width cells where that is possible;
// "588 of (600/min)" where only the workers tell the limit.
func grantedOf(b *watch.Bucket, width int) string {
	l := b.State.Effective
	if l.IsZero() {
		return short(b.Granted, 5) + " of " + unknown
	}
	_, unit := l.InUnit()
	text := ""
	for digits := 5; digits >= 3; digits-- {
		rate := rateText(l.Rate, l, digits)
		if b.Reported {
			rate = "(" + rate + ")"
		}
		text = short(b.Granted*unit.Seconds(), digits) + " of " + rate
		if len(text) <= width {
			break
		}
	}
	return text
}

// grantsOf is what is granted, in the unit of the limit.
func grantsOf(b *watch.Bucket) string {
	_, unit := b.State.Effective.InUnit()
	return short(b.Granted*unit.Seconds(), 5)
}

// grouped is a count with commas between its thousands: 41,000.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// percent is a part of 1 as "98%"; more than ten times the limit is only more.
func percent(part float64) string {
	switch {
	case math.IsNaN(part):
		return unknown
	case part > 9.99:
		return ">999%"
	}
	return strconv.Itoa(int(math.Round(part*100))) + "%"
}

// span is a duration in at most 4 cells: 0.4s, 42s, 4m, 26h, 12d.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second && d%time.Second != 0:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	case d < 100*time.Second:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < 100*time.Minute:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d < 1000*24*time.Hour:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	}
	return ">2y"
}

// rough is span without fractions, for ages of seconds and more.
func rough(d time.Duration) string {
	return span(max(0, d.Truncate(time.Second)))
}

// left is how long until end: rounded up where it is near, so that what is still
// in force never has 0s left and a new hold of 10m has 10m; to the nearest hour
// or day where it is far.
func left(end, now time.Time) string {
	d := end.Sub(now)
	switch {
	case d <= 99*time.Second:
		d += time.Second - 1
	case d <= 99*time.Minute:
		d += time.Minute - 1
	case d < 48*time.Hour:
		d = d.Round(time.Hour)
	default:
		d = d.Round(24 * time.Hour)
	}
	return rough(d) + " left"
}

// latency is how long waits took lately; nothing was measured where nobody waited.
func latency(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return millis(d)
}

// clockTime is a moment of server time; with its date when that is not today's.
func clockTime(t, now time.Time) string {
	switch {
	case t.IsZero():
		return unknown
	case t.UTC().YearDay() == now.UTC().YearDay() && t.UTC().Year() == now.UTC().Year():
		return t.UTC().Format("15:04:05")
	}
	if t.UTC().Year() == now.UTC().Year() {
		return t.UTC().Format("Jan 02 15:04")
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// count is "1 worker", "3 workers".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
