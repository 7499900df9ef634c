package watch

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"bucketop/bucketctl"
)

// day is the longest unit of a short duration.
const day = 24 * time.Hour

// Short is a duration in one unit, rounded down, as rows and alerts show ages:
// 42s, 4m, 2h, 3d. What is negative is 0s.
func Short(d time.Duration) string {
	switch {
	case d < time.Second:
		return "0s"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 2*day:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(int(d/day)) + "d"
}

// left is how long until end in one unit: rounded up where it is near, so that
// what is still in force never reads 0s and a new hold of 10m reads 10m; to the
// nearest hour or day where it is far.
func left(end, now time.Time) string {
	d := end.Sub(now)
	switch {
	case d <= time.Minute:
		d += time.Second - 1
	case d <= time.Hour:
		d += time.Minute - 1
	case d < 2*day:
		d = d.Round(time.Hour)
	default:
		d = d.Round(day)
	}
	return Short(d)
}

// age is how long ago t was; empty when t is unknown.
func age(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return Short(now.Sub(t))
}

// clockTime is a moment as people read it beside now: seconds count where it is
// near, the date where it is far.
func clockTime(t, now time.Time) string {
	switch d := t.Sub(now).Abs(); {
	case d < 10*time.Minute:
		return t.UTC().Format("15:04:05")
	case d < 12*time.Hour:
		return t.UTC().Format("15:04")
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// LimitText is a limit in full: "300/min burst 15", and "10/10s window" of a
// window, which has no burst: it lets its capacity start in any span of capacity
// / rate.
func LimitText(l bucketctl.Limit, window bool) string {
	if !window || l.IsZero() || !(l.Rate > 0) {
		return l.String()
	}
	span := tokenTime(l.Capacity, l.Rate).Round(time.Microsecond)
	return bucketctl.Window{Limit: l.Capacity, Per: span}.String() + " window"
}

// IsWindow reports whether the limit of a state is a window's.
func IsWindow(s *bucketctl.State) bool {
	return s.Kind == bucketctl.KindWindow || s.Kind == bucketctl.KindForeignWindow
}

// rateText is a rate in the unit a limit was declared in, to three digits:
// "150/min". rate is in tokens per second.
func rateText(rate float64, per time.Duration) string {
	if per <= 0 {
		per = time.Second
	}
	n := rate * per.Seconds()
	if n > 0 && !math.IsInf(n, 0) {
		step := math.Pow(10, math.Floor(math.Log10(n))-2)
		if step < 1 {
			n = math.Round(n/step) * step
		} else {
			n = math.Round(n)
		}
	}
	return bucketctl.Limit{Capacity: 1, Rate: n / per.Seconds(), Per: per}.RateString()
}

// of is "1 of 4".
func of(k, n int) string { return fmt.Sprintf("%d of %d", k, n) }

// plural is "1 limit" or "2 limits".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// person is who changed something, without the machine: anna of anna@ops1.
func person(by string) string {
	for i := range len(by) {
		if by[i] == '@' && i > 0 {
			return by[:i]
		}
	}
	return by
}
