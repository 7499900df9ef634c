package watch

import (
	"context"
	"math"
	"time"

	"bucketop/bucketctl"
)

// reader is all the watcher wants of Redis; bucketctl.Admin is one. Nothing here
// writes.
type reader interface {
	List(ctx context.Context, cursor string, count int) (bucketctl.Page, error)
	Scan(ctx context.Context, pattern, cursor string, count int) (bucketctl.ScanPage, error)
	GetMany(ctx context.Context, keys []string) ([]bucketctl.State, error)
	Workers(ctx context.Context) ([]bucketctl.Worker, time.Time, error)
	Reports(ctx context.Context, after string, most int) ([]bucketctl.Worker, string, error)
	Events(ctx context.Context, q bucketctl.EventQuery) ([]bucketctl.Event, error)
	Server(ctx context.Context) (bucketctl.Server, error)
}

var _ reader = (*bucketctl.Admin)(nil)

// How many commands a reading takes, for Cost, where nobody counts them.
const (
	stateCalls  = 4 // for each bucket, and one for the clock
	serverCalls = 4
	workerCalls = 2
	pageCalls   = 1
	listCalls   = 2
	scanCalls   = 1 // and two for each key found
)

// meter keeps what the console's own reading costs.
type meter struct {
	count func() (calls, bytes int64) // nil: calls are estimated
	made  float64
	calls counter
	bytes counter
}

// add counts an estimate of calls made.
func (m *meter) add(calls int) { m.made += float64(calls) }

// cost is what was asked of Redis lately.
func (m *meter) cost(now time.Time, took, patience time.Duration) Cost {
	made, read := m.made, math.NaN()
	if m.count != nil {
		calls, bytes := m.count()
		made, read = float64(calls), float64(bytes)
	}
	m.calls.add(now, made)
	m.bytes.add(now, read)
	cost := Cost{Calls: m.calls.rate(now, patience), Bytes: m.bytes.rate(now, patience), Refresh: took}
	if math.IsNaN(cost.Calls) {
		cost.Calls = 0 // before the second refresh
	}
	return cost
}
