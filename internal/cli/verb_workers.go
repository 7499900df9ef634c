package cli

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// crew is who works, and what operators last changed on their buckets.
type crew struct {
	workers []watch.Worker
	now     time.Time // server time
	revs    map[string]bucketctl.Rev
}

// revsMost is how many buckets' revs are read at most: beyond, a rev is shown
// without saying whether it is the newest.
const revsMost = 1000

func runWorkers(ctx context.Context, c *call) error {
	who, err := c.readCrew(ctx)
	if err != nil {
		return err
	}
	var records []any
	t := workersTable()
	for i := range who.workers {
		w := &who.workers[i]
		records = append(records, toWorker(w, who))
		if len(w.Rows) < 2 || !c.in.byBucket {
			t.rows = append(t.rows, c.workerRow(w, who))
			continue
		}
		for j := range w.Rows {
			one, _ := w.On(w.Rows[j].Key)
			t.rows = append(t.rows, c.workerRow(&one, who))
		}
	}
	if len(records) == 0 && !c.out.isJSON() {
		c.note("no worker was heard of in the last 15 minutes")
	}
	return c.out.list(records, t)
}

// readCrew reads the workers, worst first; with an argument those of that bucket,
// as they are on it.
func (c *call) readCrew(ctx context.Context) (crew, error) {
	who, err := ask(ctx, func(ctx context.Context) (who crew, err error) {
		who.workers, who.now, err = watch.Crew(ctx, c.admin)
		return who, err
	})
	if err != nil {
		return who, err
	}
	if len(c.args) > 0 {
		who.workers = only(who.workers, c.args[0])
	}
	who.revs, err = c.readRevs(ctx, who.workers)
	return who, err
}

func only(workers []watch.Worker, key string) []watch.Worker {
	var of []watch.Worker
	for i := range workers {
		if one, draws := workers[i].On(key); draws {
			of = append(of, one)
		}
	}
	slices.SortStableFunc(of, func(a, b watch.Worker) int { return cmp.Compare(a.State, b.State) })
	return of
}

// readRevs reads the newest revs of the workers' buckets, so that it can be said
// who has not seen them.
func (c *call) readRevs(ctx context.Context, workers []watch.Worker) (map[string]bucketctl.Rev, error) {
	revs := map[string]bucketctl.Rev{}
	var keys []string
	for i := range workers {
		for j := range workers[i].Rows {
			key := workers[i].Rows[j].Key
			if _, listed := revs[key]; !listed && len(keys) < revsMost {
				revs[key] = 0
				keys = append(keys, key)
			}
		}
	}
	if len(keys) == 0 {
		return revs, nil
	}
	states, err := ask(ctx, func(ctx context.Context) ([]bucketctl.State, error) { return c.admin.GetMany(ctx, keys) })
	if err != nil {
		return nil, err
	}
	for i := range states {
		revs[states[i].Key] = states[i].Rev
	}
	return revs, nil
}

func workersTable() table {
	return table{
		header: []string{"WORKER", "STATE", "SINCE", "BUCKET", "MAY EXCEED", "SHARE", "GRANTED", "WAITING", "P99", "REV", "SEEN", "WHY"},
		right:  map[int]bool{4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true},
	}
}

// workerRow is a worker over all its rows.
func (c *call) workerRow(w *watch.Worker, who crew) []string {
	rate, waiting, p99 := w.Totals()
	row := w.Worst()
	since := "-"
	if !w.Since.IsZero() {
		since = ago(w.Since, who.now)
	}
	bucket, over, share, granted := "-", "-", "-", "-"
	if row != nil {
		bucket, over = c.out.cell(row.Key), overText(row)
		granted = showRate(rate, unitOf(row))
		share = shareText(row)
	}
	if len(w.Rows) > 1 { // what has a unit of its own makes no sum
		bucket = showNumber(float64(len(w.Rows))) + " buckets"
		share, granted = "-", showRate(rate, bucketctl.Limit{})
	}
	if math.IsNaN(rate) && granted != "-" {
		granted = "?"
	}
	wait := waitingText(waiting)
	if w.State == watch.WorkerGone {
		granted, wait = "-", "-"
	}
	return []string{
		c.out.cell(w.Name), stateCell(w, row), since, bucket, over, share, granted, wait, spanOrDash(p99),
		revText(w, who), ago(w.Seen, who.now), c.out.cell(w.Brief()),
	}
}

// stateCell is the state, and how a worker in fallback decides.
func stateCell(w *watch.Worker, row *watch.WorkerRow) string {
	if w.State == watch.WorkerFallback && row != nil {
		return w.State.Word() + " " + string(row.Mode)
	}
	return w.State.Word()
}

// ago is an age; a moment that a wrong clock puts ahead is now.
func ago(t, now time.Time) string { return showSpan(max(0, now.Sub(t))) + " ago" }

// overText is what the worker may draw on top of the limit, in the limit's unit.
func overText(row *watch.WorkerRow) string {
	switch {
	case math.IsInf(row.Over, 1):
		return "no bound"
	case row.Over > 0:
		return "+" + showRate(row.Over, unitOf(row))
	}
	return "-"
}

// shareText is what the worker may use alone: its share, or what its policy says.
func shareText(row *watch.WorkerRow) string {
	switch row.Fallback {
	case bucketctl.FallbackClosed, bucketctl.FallbackOpen:
		return string(row.Fallback)
	case bucketctl.FallbackShare:
	}
	if row.Share <= 0 {
		return "-"
	}
	return showRate(row.Share, unitOf(row))
}

// unitOf is the limit in whose unit the rates of a row are shown.
func unitOf(row *watch.WorkerRow) bucketctl.Limit {
	if row.Limit.IsZero() {
		return row.Declared
	}
	return row.Limit
}

func waitingText(n int) string {
	if n < 0 {
		return "?"
	}
	return showNumber(float64(n))
}

// spanOrDash is a length; nothing was measured where nobody waited.
func spanOrDash(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return showSpan(d)
}

// revText is the rev that the worker saw last, and whether there is a newer one;
// of several buckets how many have a newer one.
func revText(w *watch.Worker, who crew) string {
	old := 0
	for i := range w.Rows {
		if row := &w.Rows[i]; row.Rev < who.revs[row.Key] {
			old++
		}
	}
	switch {
	case len(w.Rows) == 1 && old == 0:
		return revNumber(w.Rows[0].Rev)
	case len(w.Rows) == 1:
		return revNumber(w.Rows[0].Rev) + " old"
	case old > 0:
		return showNumber(float64(old)) + " old"
	}
	return "-"
}
