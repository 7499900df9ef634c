package watch

import (
	"context"
	"errors"
	"math"
	"time"

	"bucketop/bucketctl"
)

const (
	refreshTimeout = 2 * time.Second
	serverEvery    = 5 * time.Second // how often the server is asked about itself
	calmTime       = time.Second     // a refresh that took longer does without sweeps
	sweepTime      = 300 * time.Millisecond
	maxReports     = 1000            // reports read at once
	maxReportPages = 5               // in one refresh
	baselineAge    = 3 * time.Minute // a gap in following reports after which to begin anew
)

// A bucket that Redis refuses to read is tried again after refusedRest.
const (
	refusedRest = 30 * time.Second
	someBuckets = "some buckets"
	serverState = "the server's state"
)

// errRefused is wrapped by the error of a refresh in which Redis gave no data,
// only refusals.
var errRefused = errors.New("every reading was refused")

// round is one refresh: it reads from Redis and feeds the model. An outage ends
// it, and what was read until then counts. A refusal is noted and concerns only
// what it was about.
type round struct {
	r      reader
	m      *model
	meter  *meter
	clock  func() time.Time
	match  string
	start  time.Time
	rtt    time.Duration // of the quickest reading
	worked int           // readings of data that Redis answered; what it says of itself is none
	denied error         // the first refusal
}

// run does the refresh. extra is whether what is out of sight is read too.
func (r *round) run(ctx context.Context, shown []string, extra bool) error {
	r.start = r.clock()
	for _, step := range []func(context.Context) error{r.server, r.reports, r.events} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	now := r.now()
	r.m.muster(now)
	if err := r.states(ctx, r.m.plan(shown, now, extra)); err != nil {
		return err
	}
	if extra {
		if err := r.sweeps(ctx); err != nil {
			return err
		}
	}
	if r.worked == 0 && r.denied != nil {
		return errors.Join(errRefused, r.denied)
	}
	return nil
}

func (r *round) now() time.Time         { return r.m.clock.now(r.clock()) }
func (r *round) elapsed() time.Duration { return r.clock().Sub(r.start) }

// read makes one reading. It returns an error only for an outage; ok says
// whether there is something to take in.
func (r *round) read(what string, calls int, do func() error) (ok bool, err error) {
	begun := r.clock()
	err = do()
	r.meter.add(calls)
	if err == nil {
		if took := r.clock().Sub(begun); r.rtt == 0 || took < r.rtt {
			r.rtt = took
		}
		if what != serverState {
			r.worked++
		}
		delete(r.m.refused, what)
		return true, nil
	}
	if isOutage(err) {
		return false, err
	}
	r.m.refused[what] = reason(err)
	r.deny(err)
	return false, nil
}

// deny notes the first refusal.
func (r *round) deny(err error) {
	if r.denied == nil {
		r.denied = err
	}
}

// server asks Redis about itself now and then. Another server than before may
// have other streams, so these are begun anew.
func (r *round) server(ctx context.Context) error {
	if at := r.m.server.readAt; !at.IsZero() && r.now().Sub(at).Abs() < serverEvery {
		return nil
	}
	var server bucketctl.Server
	ok, err := r.read(serverState, serverCalls, func() (err error) {
		server, err = r.r.Server(ctx)
		return err
	})
	if ok {
		r.m.takeServer(server, r.clock())
	}
	return err
}

// takeServer takes in what the server said at local.
func (m *model) takeServer(server bucketctl.Server, local time.Time) {
	m.clock.set(server.Time, local)
	if m.server.take(server, m.clock.now(local)) {
		m.reportID, m.eventID, m.following = "", "", false
		m.sweep.abandon()
		m.scan.abandon()
	}
}

// reports follows what workers publish. The first time, and after a long time
// without Redis, it begins with the newest report of each worker.
func (r *round) reports(ctx context.Context) error {
	if r.m.reportID == "" || r.now().Sub(r.m.reportsAt) > baselineAge {
		if ok, err := r.allWorkers(ctx); !ok {
			return err
		}
	}
	for range maxReportPages {
		var (
			reports []bucketctl.Worker
			next    string
		)
		ok, err := r.read("reports", pageCalls, func() (err error) {
			reports, next, err = r.r.Reports(ctx, r.m.reportID, maxReports)
			return err
		})
		if !ok {
			return err
		}
		r.m.takeReports(reports)
		r.m.reportID, r.m.reportsAt = next, r.now()
		if len(reports) < maxReports {
			return nil
		}
		r.m.reportsAt = reports[len(reports)-1].Seen // there are newer ones
	}
	return nil
}

func (r *round) allWorkers(ctx context.Context) (bool, error) {
	var (
		workers []bucketctl.Worker
		now     time.Time
	)
	ok, err := r.read("reports", workerCalls, func() (err error) {
		workers, now, err = r.r.Workers(ctx)
		return err
	})
	if ok {
		r.m.clock.set(now, r.clock())
		r.m.takeReports(workers)
		r.m.reportID = ""
	}
	return ok, err
}

// events follows the events stream.
func (r *round) events(ctx context.Context) error {
	var events []bucketctl.Event
	ok, err := r.read("events", pageCalls, func() (err error) {
		events, err = r.r.Events(ctx, bucketctl.EventQuery{After: r.m.eventID, Max: maxEvents})
		return err
	})
	if ok {
		r.m.takeEvents(events, r.now())
	}
	return err
}

// states reads buckets. Those that Redis refuses, as its ACL may, don't keep the
// others from being read.
func (r *round) states(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	states, err := r.r.GetMany(ctx, keys)
	r.meter.add(stateCalls*len(keys) + 1)
	switch {
	case err == nil:
	case isOutage(err):
		return err
	default: // all of them, as with a wrong password
		r.deny(err)
		r.m.refused[someBuckets], r.m.refusedAt = reason(err), r.now()
		return nil
	}
	if len(states) > 0 {
		r.m.clock.set(states[0].At, r.clock())
	}
	read := states[:0]
	for _, state := range states {
		if err := state.Err(); err != nil {
			r.deny(err)
			r.m.takeRefused(state.Key, err, r.now())
			continue
		}
		read = append(read, state)
	}
	if len(read) > 0 {
		r.worked++
	}
	r.m.takeStates(read, r.now())
	return nil
}

// takeRefused notes that one bucket can't be read, and forgets what was read of
// it: nobody knows what became of that.
func (m *model) takeRefused(key string, err error, now time.Time) {
	e := m.detailed(key)
	if e == nil {
		return
	}
	e.retryAt = now.Add(refusedRest)
	e.state, e.read = bucketctl.State{Key: key, Kind: bucketctl.KindDenied, Level: math.NaN(), Used: math.NaN()}, false
	m.refused[someBuckets], m.refusedAt = reason(err), now
}

// sweeps walks on over the registry, and over the keyspace where that was asked
// for. A slow link goes without.
func (r *round) sweeps(ctx context.Context) error {
	if r.elapsed() > calmTime {
		return nil
	}
	if err := r.list(ctx); err != nil {
		return err
	}
	if r.match == "" {
		return nil
	}
	return r.scan(ctx)
}

func (r *round) list(ctx context.Context) error {
	pages, count := 1, listCount
	if !r.m.sweep.whole {
		pages, count = firstPages, firstCount
	}
	for range pages {
		if !r.m.sweep.due(r.now(), sweepRest) || r.elapsed() > calmTime {
			return nil
		}
		var page bucketctl.Page
		ok, err := r.read("the registry", listCalls, func() (err error) {
			page, err = r.r.List(ctx, r.m.sweep.cursor, count)
			return err
		})
		if !ok {
			return err
		}
		r.m.takeList(page, r.now())
	}
	return nil
}

func (r *round) scan(ctx context.Context) error {
	if !r.m.scan.due(r.now(), scanRest) {
		return nil
	}
	var page bucketctl.ScanPage
	ok, err := r.read("foreign keys", scanCalls, func() (err error) {
		page, err = r.r.Scan(ctx, r.match, r.m.scan.cursor, scanCount)
		return err
	})
	r.meter.add(2 * len(page.Keys))
	if ok {
		r.m.takeScan(page, r.now())
	}
	return err
}
