package ui

import (
	"slices"
	"strings"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// told are the events that keep lets through, newest first; of two at the same
// moment the later in the stream is the newer. A worker tells of an outage twice
// when it is over, that it began and all of it: the second is told.
func told(events []bucketctl.Event, keep func(*bucketctl.Event) bool) []*bucketctl.Event {
	over := map[[2]string]bool{} // outages that are told of as a whole, by worker and begin
	var out []*bucketctl.Event
	for i := range slices.Backward(events) {
		e := &events[i]
		outage := [2]string{e.By, e.Detail[watch.DetailSince]}
		switch {
		case !keep(e), e.Kind == bucketctl.EventFallback && over[outage]:
			continue
		case e.Kind == bucketctl.EventShared && outage[1] != "":
			over[outage] = true
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(x, y *bucketctl.Event) int { return y.At.Compare(x.At) })
	return out
}

// eventText is one event in words, without its time and bucket. Who stands before
// the details: lines are cut at the end.
func (a *app) eventText(e *bucketctl.Event) string {
	d := details{a: a, of: e.Detail, told: map[string]bool{"undoes": true, "undoes_by": true, "undoes_id": true}}
	text := a.eventWhat(e, &d)
	if outage := watch.OutageText(e, a.serverNow()); outage != "" {
		d.told[watch.DetailSince], d.told[watch.DetailLasted], d.told[watch.DetailLocal] = true, true, true
		text += " " + a.workerName(e.By) + ": " + outage
	} else if e.By != "" {
		text += " by " + a.workerName(e.By)
	}
	if e.Reason != "" {
		text += ": " + a.quoted(e.Reason)
	}
	if rest := d.rest(); rest != "" {
		text += " (" + rest + ")"
	}
	return text
}

// eventWhat is what happened, with what was before and what is after.
func (a *app) eventWhat(e *bucketctl.Event, d *details) string {
	word := strings.ToUpper(a.esc(string(e.Kind)))
	switch e.Kind {
	case bucketctl.EventLimit, bucketctl.EventUnset, bucketctl.EventUndo:
		return word + " " + a.recordText(e.Before) + " " + a.arrow + " " + a.recordText(e.After)
	case bucketctl.EventHold:
		if until := e.After.Hold.Until; !until.IsZero() {
			return word + " until " + clockTime(until, a.serverNow())
		}
		return word + ", no end,"
	case bucketctl.EventReset, bucketctl.EventDelete:
		return word + d.levels()
	case bucketctl.EventCooldown:
		return word + d.cooldown()
	case bucketctl.EventResume, bucketctl.EventFallback, bucketctl.EventShared, bucketctl.EventMended:
	}
	return word
}

// workerName is the short name of a worker by the ID that it signs with, drawn; of
// anybody else what they sign with.
func (a *app) workerName(by string) string { return a.name(a.shortName(by), 30) }

// shortName is workerName as it is in Redis.
func (a *app) shortName(by string) string {
	for i := range a.snap.Workers {
		if w := &a.snap.Workers[i]; w.ID == by {
			return w.Name
		}
	}
	return by
}

// recordText is an operators' record in a few words.
func (a *app) recordText(r bucketctl.Record) string {
	var parts []string
	if o := r.Override; !o.IsZero() {
		limit := bucketctl.Limit{Capacity: o.Capacity, Rate: o.Rate, Per: o.Per}
		if o.Rate != 0 {
			parts = append(parts, rateText(o.Rate, limit, 6))
		}
		if o.Capacity != 0 {
			parts = append(parts, "capacity "+plain(o.Capacity))
		}
	}
	if r.Hold.Active {
		parts = append(parts, "held")
	}
	if len(parts) == 0 {
		return "declared"
	}
	text := strings.Join(parts, ", ")
	if until := r.Override.Until; !until.IsZero() {
		text += " until " + clockTime(until, a.serverNow())
	}
	return text
}

// details are what an event tells beyond its fields. Those that are known are
// told in words; the rest is shown as it stands, so that nothing is hidden.
type details struct {
	a    *app
	of   map[string]string
	told map[string]bool
}

// tell is a detail that is about to be told in words.
func (d *details) tell(name string) (string, bool) {
	value, ok := d.of[name]
	if ok {
		d.told[name] = true
	}
	return d.a.esc(value), ok
}

// levels are what a reset or a delete found and left.
func (d *details) levels() string {
	text := ""
	if to, ok := d.tell("to"); ok {
		text += " to " + to
	}
	if before, ok := d.tell("level_before"); ok {
		text += ", was " + before
	}
	d.told["level_after"] = true
	d.told["type"] = d.of["type"] == "hash"
	return text
}

// cooldown is how long a bucket was to pause.
func (d *details) cooldown() string {
	length, err := time.ParseDuration(d.of[watch.DetailLength])
	until, errUntil := time.Parse(time.RFC3339Nano, d.of[watch.DetailUntil])
	if err != nil || errUntil != nil {
		return ""
	}
	d.told[watch.DetailLength], d.told[watch.DetailUntil] = true, true
	return " for " + rough(length) + " until " + clockTime(until, d.a.serverNow())
}

// rest is what was not told yet.
func (d *details) rest() string {
	var parts []string
	for _, name := range sortedKeys(d.of) {
		switch {
		case d.told[name]:
		case name == "cause":
			parts = append(parts, d.a.esc(d.of[name]))
		default:
			parts = append(parts, d.a.esc(name)+" "+d.a.esc(d.of[name]))
		}
	}
	return strings.Join(parts, ", ")
}
