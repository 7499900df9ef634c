package watch

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"bucketop/bucketctl"
)

// Bounds of what is kept of workers.
const (
	forgetWorker = 15 * time.Minute // without a report: Redis forgets them then too
	maxWorkers   = 5000
	maxGone      = 100
)

// reporter is a worker as its reports tell.
type reporter struct {
	report bucketctl.Worker
	name   string // unique
	silent bool
	rows   []WorkerRow // by key; replaced by each report, never changed
	lately []stride    // of each row
}

// member is a reporter as one of those that draw from a bucket.
type member struct {
	*reporter
	at int // which of its rows is the bucket's
}

// take makes w the newest report. The rates are what its counters grew by over the
// last reports of the same run: a restarted process has another ID, and where it
// has not, its start tells. A single report is too short a time: workers of one
// bucket take turns, and each would seem to starve now and then. met is called for each row, by its place,
// with the one before it or nil; left for each bucket that it no longer reports.
func (r *reporter) take(w bucketctl.Worker, met func(at int, before *WorkerRow), left func(key string)) {
	before, strides, restarted := r.rows, r.lately, !r.report.Start.Equal(w.Start)
	r.report, r.silent = w, false
	r.rows = rowsOf(r.name, &w)
	r.lately = make([]stride, len(r.rows))
	for i := range r.rows {
		row := &r.rows[i]
		r.lately[i] = startAt(row.reading())
		for len(before) > 0 && before[0].Key < row.Key {
			left(before[0].Key)
			before, strides = before[1:], strides[1:]
		}
		if len(before) == 0 || before[0].Key != row.Key {
			met(i, nil)
			continue
		}
		if old := &before[0]; !restarted {
			r.lately[i] = strides[0].step(old.reading(), row.reading())
			row.Rate = between(r.lately[i].from, row.reading())
		}
		met(i, &before[0])
		before, strides = before[1:], strides[1:]
	}
	for i := range before {
		left(before[i].Key)
	}
}

// reading is the row's counter of grants.
func (r *WorkerRow) reading() reading { return reading{r.Seen, r.Granted} }

// rowsOf are the rows of a report, by key; should it name a bucket twice, the
// first of the two counts.
func rowsOf(name string, w *bucketctl.Worker) []WorkerRow {
	rows := make([]WorkerRow, len(w.Buckets))
	for i := range rows {
		rows[i] = WorkerRow{Name: name, Seen: w.Seen, WorkerBucket: w.Buckets[i], Rate: math.NaN()}
		rows[i].Fallback = cmp.Or(rows[i].Fallback, w.Fallback) // a bucket may have one of its own
	}
	byKey := func(a, b WorkerRow) int { return strings.Compare(a.Key, b.Key) }
	if !slices.IsSortedFunc(rows, byKey) {
		slices.SortStableFunc(rows, byKey)
	}
	return slices.CompactFunc(rows, func(a, b WorkerRow) bool { return a.Key == b.Key })
}

// mark renews what does not come from the worker itself: its name and whether it
// is heard of. It reports whether anything changed.
func (r *reporter) mark(name string, silent bool) bool {
	if r.name == name && r.silent == silent {
		return false
	}
	r.name, r.silent = name, silent
	rows := slices.Clone(r.rows)
	for i := range rows {
		rows[i].Name, rows[i].Silent = name, silent
	}
	r.rows = rows
	return true
}

// process is what the runs of one process have in common, in a container too.
type process struct {
	app, host string
	pid       int
}

// replaced are those of the reporters that are not heard of because their process
// was started anew: they will not be heard of again, and that is no silence. Two
// clients of one process look the same, so only who fell silent counts.
func replaced(all []*reporter, now time.Time) []*reporter {
	var gone []*reporter
	var newest map[process]time.Time
	for _, r := range all {
		if !r.report.SilentAt(now) {
			continue
		}
		if newest == nil {
			newest = newestStarts(all, now)
		}
		if newest[processOf(r)].After(r.report.Start) {
			gone = append(gone, r)
		}
	}
	return gone
}

func processOf(r *reporter) process { return process{r.report.App, r.report.Host, r.report.PID} }

// newestStarts is when each process that is heard of was started last.
func newestStarts(all []*reporter, now time.Time) map[process]time.Time {
	newest := make(map[process]time.Time, len(all))
	for _, r := range all {
		if p := processOf(r); !r.report.SilentAt(now) {
			newest[p] = laterOf(newest[p], r.report.Start)
		}
	}
	return newest
}

// namesOf names reporters as people call them.
func namesOf(all []*reporter) []string {
	workers := make([]bucketctl.Worker, len(all))
	for i, r := range all {
		workers[i] = r.report
	}
	return bucketctl.Names(workers)
}

// crowd is what live workers say of one bucket together.
type crowd struct {
	reported bool      // any live worker reports it
	waiting  int       // callers
	starving int       // of these, in workers that ask Redis
	largestN float64   // of silent ones too
	rate     float64   // tokens per second, NaN when unknown
	local    float64   // of these, granted without Redis
	heard    time.Time // up to when all of them have told
}

func together(rows []WorkerRow) crowd {
	c := crowd{rate: math.NaN()}
	for _, row := range rows {
		c.largestN = max(c.largestN, row.LargestN)
		if row.Silent {
			continue
		}
		if !c.reported || row.Seen.Before(c.heard) {
			c.heard = row.Seen
		}
		c.reported = true
		c.waiting += row.Waiting
		c.rate = sum(c.rate, row.Rate)
		if row.Mode.Local() {
			c.local += max(0, sum(0, row.Rate))
		} else {
			c.starving += row.Waiting
		}
	}
	return c
}

// headWait is the longest wait of a first caller; 0 where it is not known, since
// somebody who waits has not told anything yet since the change rev.
func headWait(rows []WorkerRow, rev bucketctl.Rev) time.Duration {
	var longest time.Duration
	for i := range rows {
		row := &rows[i]
		if row.Silent || row.Waiting == 0 {
			continue
		}
		if !row.Mode.Local() && row.Rev < rev {
			return 0
		}
		longest = max(longest, row.HeadWait)
	}
	return longest
}
