package watch

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"bucketop/bucketctl"
)

// WorkerState is how a worker decides, as far as anybody can know; the worst first.
type WorkerState int

// Worker states.
const (
	WorkerSilent   WorkerState = iota // not heard of: down, or on its own share
	WorkerFallback                    // decides without Redis on a bucket, at least
	WorkerShared                      // Redis decides
	WorkerGone                        // shut down in order, or its process was started anew
)

// Word is what a screen says of the state: capitals ask for attention.
func (s WorkerState) Word() string {
	switch s {
	case WorkerSilent:
		return Silent.Word()
	case WorkerFallback:
		return Fallback.Word()
	case WorkerShared:
		return "shared"
	case WorkerGone:
		return "gone"
	}
	return "?"
}

// view is the worker as its rows tell.
func view(w bucketctl.Worker, name string, silent bool, rows []WorkerRow) Worker {
	v := Worker{Worker: w, Name: name, State: WorkerShared, Rows: rows}
	since, local := localSince(rows)
	switch {
	case silent:
		v.State, v.Since, v.Why = WorkerSilent, w.Seen, silentHow(rows, w.Fallback)+overText(rows, len(rows) > 1)
	case local:
		v.State, v.Since, v.Why = WorkerFallback, since, localText(rows)
	}
	return v
}

// Plight is the worker as far as its row tells: how it decides on this bucket,
// since when, and why.
func (r *WorkerRow) Plight() Worker {
	return view(bucketctl.Worker{Seen: r.Seen, Fallback: r.Fallback}, r.Name, r.Silent, []WorkerRow{*r})
}

// Brief is Why without what has columns of its own: how the worker decides, and
// what it may exceed.
func (w *Worker) Brief() string {
	switch w.State {
	case WorkerSilent:
		return silentHow(w.Rows, w.Fallback)
	case WorkerFallback:
		if row := w.Worst(); row != nil {
			return row.Reason
		}
	case WorkerShared, WorkerGone:
	}
	return w.Why
}

// On is the worker as it is on one bucket; false where it does not draw from it.
func (w *Worker) On(key string) (Worker, bool) {
	i := slices.IndexFunc(w.Rows, func(row WorkerRow) bool { return row.Key == key })
	if i < 0 {
		return Worker{}, false
	}
	if w.State == WorkerGone {
		one := *w
		one.Rows = w.Rows[i : i+1 : i+1]
		return one, true
	}
	return view(w.Worker, w.Name, w.State == WorkerSilent, w.Rows[i:i+1:i+1]), true
}

// Worst is the row that an operator should look at first: of those where the
// worker is on its own the one whose limit it may exceed most, else the one
// where most of its callers wait. It is nil for a worker without buckets.
func (w *Worker) Worst() *WorkerRow {
	var worst *WorkerRow
	for i := range w.Rows {
		if row := &w.Rows[i]; worst == nil || row.worseThan(worst) {
			worst = row
		}
	}
	return worst
}

func (r *WorkerRow) worseThan(other *WorkerRow) bool {
	if r.apart() != other.apart() {
		return r.apart()
	}
	return cmp.Or(cmp.Compare(r.overPart(), other.overPart()), cmp.Compare(r.Waiting, other.Waiting)) > 0
}

// Totals are what the worker grants in tokens per second, how many callers wait
// in it, and the longest p99 of their waits, over all its rows. Of a worker that
// is not heard of nobody knows: NaN, -1, and 0.
func (w *Worker) Totals() (rate float64, waiting int, p99 time.Duration) {
	if w.State == WorkerSilent || w.State == WorkerGone {
		return math.NaN(), -1, 0
	}
	rate = math.NaN()
	for i := range w.Rows {
		row := &w.Rows[i]
		rate = sum(rate, row.Rate)
		waiting += row.Waiting
		p99 = max(p99, row.WaitP99)
	}
	return rate, waiting, p99
}

// apart reports whether the worker decides without Redis, or may.
func (r *WorkerRow) apart() bool { return r.Silent || r.Mode.Local() }

// policy is what the worker does while it is apart.
func (r *WorkerRow) policy() bucketctl.Policy {
	if r.Mode.Local() {
		return bucketctl.Policy(r.Mode)
	}
	return r.Fallback
}

// overPart is Over as a part of the limit's rate.
func (r *WorkerRow) overPart() float64 { return r.Over / max(r.limit().Rate, bucketctl.MinRate) }

// overPart is that of the worker's worst row.
func overPart(w *Worker) float64 {
	if row := w.Worst(); row != nil {
		return row.overPart()
	}
	return 0
}

// limit is the limit in force, as far as the worker knows it.
func (r *WorkerRow) limit() bucketctl.Limit {
	if !r.Limit.IsZero() {
		return r.Limit
	}
	return r.Declared
}

// alone is what the worker may draw from the bucket without Redis, in tokens per
// second: the share that it reported, which is the limit in force by the live
// workers, both as it knew them last; +Inf where it lets everybody through.
func (r *WorkerRow) alone(peers int) float64 {
	switch r.policy() {
	case bucketctl.FallbackClosed:
		return 0
	case bucketctl.FallbackOpen:
		return math.Inf(1)
	case bucketctl.FallbackShare:
	}
	if r.Share > 0 {
		return r.Share
	}
	return r.limit().Rate / float64(max(1, peers))
}

// markOver says of each row of a bucket what its worker may draw on top of the
// bucket's limit. A worker apart does so while others draw at the shared rate;
// where all are apart, their shares make the limit together, or what they make
// beyond it.
func markOver(rows []WorkerRow, limit bucketctl.Limit) {
	sharing, together := false, 0.0
	for i := range rows {
		if row := &rows[i]; row.apart() {
			together += row.alone(len(rows))
		} else {
			sharing = true
		}
	}
	part := 1.0
	if rate := limit.Rate; !sharing && together > 0 {
		if part = 1 - rate/together; part < 1e-9 {
			part = 0
		}
	}
	for i := range rows {
		row := &rows[i]
		if row.Over = 0; row.apart() && part > 0 {
			row.Over = row.alone(len(rows)) * part
		}
	}
}

// silentHow is what a silent worker may be up to: nobody can know which.
func silentHow(rows []WorkerRow, policy bucketctl.Policy) string {
	closed := len(rows) > 0 || policy == bucketctl.FallbackClosed
	open := len(rows) == 0 && policy == bucketctl.FallbackOpen
	for i := range rows {
		closed = closed && rows[i].policy() == bucketctl.FallbackClosed
		open = open || rows[i].policy() == bucketctl.FallbackOpen
	}
	switch {
	case closed:
		return "down, or cut off and letting nobody through"
	case open:
		return "down, or cut off and letting everybody through" + onBucket(rows)
	}
	return "down, or on its own share"
}

// onBucket names the bucket where a worker lets everybody through, of several.
func onBucket(rows []WorkerRow) string {
	if len(rows) < 2 {
		return ""
	}
	for i := range rows {
		if rows[i].policy() == bucketctl.FallbackOpen {
			return " on " + rows[i].Key
		}
	}
	return ""
}

// localText is how a worker decides on its own, what that may cost, and why. The
// reason stands last: it may be long, and lines are cut at the end.
func localText(rows []WorkerRow) string {
	var first *WorkerRow
	local := 0
	for i := range rows {
		if row := &rows[i]; row.Mode.Local() {
			local++
			if first == nil || row.worseThan(first) {
				first = row
			}
		}
	}
	if first == nil {
		return ""
	}
	text := localHow(first)
	if local < len(rows) {
		text += fmt.Sprintf(" on %d of its %d buckets", local, len(rows))
	}
	text += overText(rows, len(rows) > 1)
	if first.Reason != "" {
		text += ": " + first.Reason
	}
	return text
}

func localHow(row *WorkerRow) string {
	switch row.policy() {
	case bucketctl.FallbackClosed:
		return "letting nobody through"
	case bucketctl.FallbackOpen:
		return "letting everybody through"
	case bucketctl.FallbackShare:
	}
	if row.Share <= 0 || row.Over > 0 { // what it exceeds the limit by is its share
		return "on its own share"
	}
	return "on its own share of " + rateText(row.Share, row.limit().Per)
}

// overText is ", +150/min above limit", or with the bucket; of several the one
// whose limit may be exceeded most, measured by itself, stands for all.
func overText(rows []WorkerRow, named bool) string {
	var worst *WorkerRow
	more := 0
	for i := range rows {
		row := &rows[i]
		if !(row.Over > 0) || math.IsInf(row.Over, 1) {
			continue
		}
		more++
		if worst == nil || row.overPart() > worst.overPart() {
			worst = row
		}
	}
	if worst == nil {
		return ""
	}
	text := ", +" + rateText(worst.Over, worst.limit().Per) + " above "
	if !named {
		return text + "limit"
	}
	text += "the limit of " + worst.Key
	if more > 1 {
		text += " and " + strconv.Itoa(more-1) + " more"
	}
	return text
}
