package watch

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"bucketop/bucketctl"
)

// What the details of events are called that this package reads.
const (
	DetailSince  = "since"  // of fallback and shared: when the worker was left alone
	DetailLasted = "lasted" // of shared: for how long
	DetailLocal  = "local"  // of shared: tokens it granted alone
	DetailUntil  = "until"  // of cooldown: its end
	DetailLength = "length" // of cooldown
)

// OutageOf is the outage that an event of kind fallback or shared is about; of the
// first of the two only Since and Reason are known. It is false where the event
// can't be read.
func OutageOf(e *bucketctl.Event) (bucketctl.Outage, bool) {
	since, ok := detailTime(e, DetailSince)
	o := bucketctl.Outage{Reason: e.Reason, Since: since}
	if e.Kind != bucketctl.EventShared {
		return o, ok && e.Kind == bucketctl.EventFallback
	}
	lasted, err := time.ParseDuration(e.Detail[DetailLasted])
	local, errLocal := strconv.ParseFloat(e.Detail[DetailLocal], 64)
	if err != nil || errLocal != nil || lasted < 0 || !(local >= 0) || math.IsInf(local, 1) {
		return o, false
	}
	o.Lasted, o.Local = lasted, local
	return o, ok
}

// detailTime is a moment among the details.
func detailTime(e *bucketctl.Event, name string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, e.Detail[name])
	return t.UTC(), err == nil
}

// OutageText is what an event of kind fallback or shared tells, in words: when the
// worker was left alone, for how long, and what it granted meanwhile; empty where
// it can't be read. Workers tell of both when Redis is back.
func OutageText(e *bucketctl.Event, now time.Time) string {
	o, ok := OutageOf(e)
	switch {
	case !ok:
		return ""
	case e.Kind == bucketctl.EventFallback:
		return "without Redis from " + clockSecond(o.Since, now)
	}
	return fmt.Sprintf("%s without Redis, %s granted alone, %s to %s",
		outageLength(o.Lasted), tokensText(o.Local), clockSecond(o.Since, now), clockSecond(o.Since.Add(o.Lasted), now))
}

// clockSecond is clockTime to the second also where it is hours away.
func clockSecond(t, now time.Time) string {
	if t.UTC().Format(time.DateOnly) == now.UTC().Format(time.DateOnly) {
		return t.UTC().Format(time.TimeOnly)
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// outageLength is a length in two units, as outages are compared: 9.8s, 4m12s.
func outageLength(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Truncate(100 * time.Millisecond).String()
	case d < day:
		return d.Truncate(time.Second).String()
	}
	return Short(d)
}

func tokensText(n float64) string {
	if n == 0 {
		return "nothing"
	}
	if n < 10 {
		return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}
