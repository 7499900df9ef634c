package watch

import (
	"context"
	"strconv"
	"time"

	"bucketop/bucketctl"
)

// crewSpan is how far back Crew reads reports for rates, at least.
const crewSpan = 6 * time.Second

// CrewReader is what Crew needs of bucketctl.Admin.
type CrewReader interface {
	Workers(ctx context.Context) ([]bucketctl.Worker, time.Time, error)
	Reports(ctx context.Context, after string, most int) ([]bucketctl.Worker, string, error)
}

// Crew reads once who works, worst first, as a snapshot has them, and the server
// time of the reading. Errors are the reader's.
func Crew(ctx context.Context, r CrewReader) ([]Worker, time.Time, error) {
	newest, now, err := r.Workers(ctx)
	if err != nil {
		return nil, now, err
	}
	span := crewSpan
	for i := range newest {
		span = max(span, 5*newest[i].Interval/2) // two of its reports
	}
	m := newModel(0)
	after := strconv.FormatInt(now.Add(-span).UnixMilli(), 10) + "-0"
	for range maxReportPages {
		reports, next, err := r.Reports(ctx, after, maxReports)
		if err != nil {
			return nil, now, err
		}
		m.takeReports(reports)
		if after = next; len(reports) < maxReports {
			break
		}
	}
	m.takeReports(newest)
	m.muster(now)
	return m.workerRows(), now, nil
}
