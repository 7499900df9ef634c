package cli

import (
	"context"
	"time"

	"bucketop/bucketctl"
)

// reading is what Admin.Workers returns.
type reading struct {
	workers []bucketctl.Worker
	now     time.Time // server time
}

func (c *call) readWorkers(ctx context.Context) (reading, error) {
	return ask(ctx, func(ctx context.Context) (reading, error) {
		workers, now, err := c.admin.Workers(ctx)
		return reading{workers, now}, err
	})
}

func runWorkers(ctx context.Context, c *call) error {
	r, err := c.readWorkers(ctx)
	if err != nil {
		return err
	}
	var records []any
	t := table{
		header: []string{"WORKER", "MODE", "SINCE", "BUCKET", "SHARE", "GRANTED", "WAITING", "P99", "SEEN", "REASON"},
		right:  map[int]bool{4: true, 5: true, 6: true, 7: true, 8: true},
	}
	names := bucketctl.Names(r.workers)
	for i, w := range r.workers {
		if len(c.args) > 0 && !only(&w, c.args[0]) {
			continue
		}
		records = append(records, toWorker(w, r.now))
		t.rows = append(t.rows, c.workerRows(names[i], w, r.now)...)
	}
	if len(records) == 0 && !c.out.isJSON() {
		c.note("no worker was heard of in the last 15 minutes")
	}
	return c.out.list(records, t)
}

// only leaves of w's buckets the one that is named key; false: w has it not.
func only(w *bucketctl.Worker, key string) bool {
	for _, b := range w.Buckets {
		if b.Key == key {
			w.Buckets = []bucketctl.WorkerBucket{b}
			return true
		}
	}
	return false
}

// workerRows is one row for each bucket of w, or one for w alone.
func (c *call) workerRows(name string, w bucketctl.Worker, now time.Time) [][]string {
	name = c.out.cell(name)
	seen := showSpan(now.Sub(w.Seen)) + " ago"
	if len(w.Buckets) == 0 {
		return [][]string{{name, modeText(w, bucketctl.ModeShared, now), "-", "-", "-", "-", "-", "-", seen, "-"}}
	}
	var rows [][]string
	for _, b := range w.Buckets {
		since, share, p99 := "-", "-", "-"
		switch {
		case w.SilentAt(now):
			since = seen // nobody knows what it does since then
		case !b.Since.IsZero():
			since = showSpan(now.Sub(b.Since)) + " ago"
		}
		if b.Share > 0 {
			share = showRate(b.Share, b.Declared)
		}
		if b.WaitP99 > 0 { // else nobody waited, so nothing was measured
			p99 = showSpan(b.WaitP99)
		}
		rows = append(rows, []string{
			name, c.out.cell(modeText(w, b.Mode, now)), since, c.out.cell(b.Key), share, showTokens(b.Granted),
			showNumber(float64(b.Waiting)), p99, seen, c.whyText(w, b, now),
		})
	}
	return rows
}

// whyText is why the worker is not shared.
func (c *call) whyText(w bucketctl.Worker, b bucketctl.WorkerBucket, now time.Time) string {
	if w.SilentAt(now) {
		return "down, or on its own share: nobody can know"
	}
	return c.out.cell(b.Reason)
}

// modeText says how a worker decides, as far as anybody can know.
func modeText(w bucketctl.Worker, mode bucketctl.Mode, now time.Time) string {
	switch {
	case w.Closing:
		return "left"
	case w.SilentAt(now):
		return "SILENT"
	case mode.Local():
		return "FALLBACK " + string(mode)
	}
	return string(bucketctl.ModeShared)
}
