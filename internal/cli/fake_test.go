package cli

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bucketop/bucketctl"
	"bucketop/internal/conn"
)

func TestMain(m *testing.M) {
	conn.Silence()
	goleak.VerifyTestMain(m)
}

// at is the server time of everything the fake says.
var at = time.Date(2026, 1, 31, 14, 32, 5, 0, time.UTC)

// fakeAdmin answers with what a test put in and counts writes, for what real
// servers can't give: fixed times, and failures on demand.
type fakeAdmin struct {
	Admin
	states  []bucketctl.State
	workers []bucketctl.Worker
	reports []bucketctl.Worker // before those of workers
	events  []bucketctl.Event
	fail    error // of every call
	failAll map[string]error
	writes  int
	endless []string // methods called without a deadline within two seconds
	largest int      // number of keys that one GetMany asked for
}

func (f *fakeAdmin) failure(ctx context.Context, method string) error {
	if end, ok := ctx.Deadline(); !ok || time.Until(end) > 2*time.Second {
		f.endless = append(f.endless, method)
	}
	if f.fail != nil {
		return f.fail
	}
	return f.failAll[method]
}

func (f *fakeAdmin) List(ctx context.Context, cursor string, _ int) (bucketctl.Page, error) {
	if err := f.failure(ctx, "List"); err != nil {
		return bucketctl.Page{}, err
	}
	// One bucket a page, the first one twice, as a moving registry may give it.
	i := len(cursor)
	if i >= len(f.states) {
		return bucketctl.Page{}, nil
	}
	page := bucketctl.Page{
		Buckets: []bucketctl.Registered{{Key: f.states[i].Key, Seen: at}, {Key: f.states[0].Key, Seen: at}},
		Next:    cursor + "x",
	}
	if i == len(f.states)-1 {
		page.Next = ""
	}
	return page, nil
}

func (f *fakeAdmin) find(key string) (bucketctl.State, bool) {
	for _, s := range f.states {
		if s.Key == key {
			return s, true
		}
	}
	return bucketctl.State{Key: key, Kind: bucketctl.KindNone, Type: "none", At: at, Level: math.NaN()}, false
}

func (f *fakeAdmin) Get(ctx context.Context, key string) (bucketctl.State, error) {
	s, ok := f.find(key)
	err := f.failure(ctx, "Get")
	if !ok && err == nil {
		err = fmt.Errorf("%w: %q", bucketctl.ErrNotFound, key)
	}
	return s, err
}

func (f *fakeAdmin) GetMany(ctx context.Context, keys []string) ([]bucketctl.State, error) {
	var all []bucketctl.State
	f.largest = max(f.largest, len(keys))
	for _, key := range keys {
		s, _ := f.find(key)
		all = append(all, s)
	}
	return all, f.failure(ctx, "GetMany")
}

func (f *fakeAdmin) Workers(ctx context.Context) ([]bucketctl.Worker, time.Time, error) {
	return f.workers, at, f.failure(ctx, "Workers")
}

func (f *fakeAdmin) Reports(ctx context.Context, _ string, _ int) ([]bucketctl.Worker, string, error) {
	return f.reports, "", f.failure(ctx, "Reports")
}

func (f *fakeAdmin) Events(ctx context.Context, _ bucketctl.EventQuery) ([]bucketctl.Event, error) {
	return f.events, f.failure(ctx, "Events")
}

func (f *fakeAdmin) Server(ctx context.Context) (bucketctl.Server, error) {
	return bucketctl.Server{Time: at}, f.failure(ctx, "Server")
}

func (f *fakeAdmin) SetLimit(ctx context.Context, key string, rev bucketctl.Rev, c bucketctl.LimitChange) (bucketctl.Change, error) {
	f.writes++
	s, _ := f.find(key)
	if err := f.failure(ctx, "SetLimit"); err != nil {
		return bucketctl.Change{}, err
	}
	if rev != s.Rev {
		return bucketctl.Change{}, &bucketctl.ConflictError{Wanted: rev, State: s}
	}
	after := s
	after.Override, after.Effective, _ = c.Preview(s)
	after.Rev, after.By, after.ChangedAt, after.Reason = 13, "bert@ops2", at, c.Reason
	event := bucketctl.Event{ID: "1769869925000-0", At: at, Kind: bucketctl.EventLimit, Key: key, By: "bert@ops2", Reason: c.Reason, Rev: 13}
	event.Before.Override, event.After.Override = s.Override, after.Override
	return bucketctl.Change{Before: s, After: after, Event: event}, nil
}

// changed makes a change that does nothing.
func (f *fakeAdmin) changed(ctx context.Context, method, key string) (bucketctl.Change, error) {
	f.writes++
	s, _ := f.find(key)
	return bucketctl.Change{Before: s, After: s}, f.failure(ctx, method)
}

func (f *fakeAdmin) ClearLimit(ctx context.Context, key string, _ bucketctl.Rev, _ string) (bucketctl.Change, error) {
	return f.changed(ctx, "ClearLimit", key)
}

func (f *fakeAdmin) Hold(ctx context.Context, key string, _ bucketctl.Rev, _ bucketctl.End, _ string) (bucketctl.Change, error) {
	return f.changed(ctx, "Hold", key)
}

func (f *fakeAdmin) Resume(ctx context.Context, key string, _ bucketctl.Rev, _ string) (bucketctl.Change, error) {
	return f.changed(ctx, "Resume", key)
}

func (f *fakeAdmin) Undo(ctx context.Context, key string, _ bucketctl.Rev, _ string) (bucketctl.Change, error) {
	return f.changed(ctx, "Undo", key)
}

func (f *fakeAdmin) Reset(ctx context.Context, key string, _ bucketctl.Rev, _ bucketctl.Target, _ string) (bucketctl.Change, error) {
	return f.changed(ctx, "Reset", key)
}

func (f *fakeAdmin) Delete(ctx context.Context, key string, _ bucketctl.Rev, _ string) (bucketctl.Change, error) {
	return f.changed(ctx, "Delete", key)
}

func (f *fakeAdmin) Scan(ctx context.Context, _, _ string, _ int) (bucketctl.ScanPage, error) {
	return bucketctl.ScanPage{}, f.failure(ctx, "Scan")
}

// result is what one command line did.
type result struct {
	code   int
	stdout string
	stderr string
}

// fakeRun runs one command line over a fake.
func fakeRun(t *testing.T, admin Admin, args ...string) result {
	t.Helper()
	return runIn(t.Context(), fakeEnv(admin), args...)
}

func fakeEnv(admin Admin) Env {
	return Env{
		Getenv:  func(string) string { return "" },
		Version: "v1.2.3",
		Open: func(*conn.Target) (Admin, func() error, error) {
			return admin, func() error { return nil }, nil
		},
	}
}

func runIn(ctx context.Context, env Env, args ...string) result {
	var stdout, stderr bytes.Buffer
	env.Stdout, env.Stderr = &stdout, &stderr
	code := Run(ctx, args, env)
	return result{code, stdout.String(), stderr.String()}
}

// scene is one bucket of every kind and what was said of them.
func scene() *fakeAdmin {
	nan := math.NaN()
	limit := bucketctl.PerMinute(300)
	held := bucketctl.PerSecond(25).Burst(25)
	scene := &fakeAdmin{
		states: []bucketctl.State{
			{
				Key: "stripe:charge", Kind: bucketctl.KindBucket, Type: "hash", At: at, TTL: 25 * time.Hour, Level: 25, Granted: 1000,
				Declared: held, Effective: held, Rev: 7,
				Hold: bucketctl.Hold{Active: true, Until: at.Add(4 * time.Minute), By: "anna@ops1", At: at.Add(-time.Minute), Reason: "provider asked us to stop"},
			},
			{
				Key: "geocode:{acme}:eu", Kind: bucketctl.KindBucket, Type: "hash", At: at, TTL: 24 * time.Hour, Level: 12.5, Granted: 588,
				Declared: limit, Effective: bucketctl.PerMinute(600).Burst(30), Rev: 12, By: "anna@ops1", ChangedAt: at.Add(-time.Hour), Reason: "backlog",
				Override: bucketctl.Override{Capacity: 30, Rate: 10, Per: time.Minute, Until: at.Add(26 * time.Minute)},
			},
			{
				Key: "geo:py", Kind: bucketctl.KindForeign, Type: "hash", At: at, Level: 3, Granted: nan,
				Problems: []bucketctl.Problem{{Code: bucketctl.ProblemAhead, Field: "ts", Text: "ts is 9m ahead, no refill until 14:41"}},
			},
			{Key: "mail:\xff", Kind: bucketctl.KindWrongType, Type: "string", At: at, Level: nan, Problems: []bucketctl.Problem{{Code: bucketctl.ProblemWrongType, Text: "the key is a string"}}},
			{
				Key: "rss:cool", Kind: bucketctl.KindWindow, Type: "hash", At: at, Level: 7,
				Declared: bucketctl.Limit{Capacity: 10, Rate: 1, Per: 10 * time.Second}, Effective: bucketctl.Limit{Capacity: 10, Rate: 1, Per: 10 * time.Second},
				Cooldown: bucketctl.Cooldown{Until: at.Add(12 * time.Second), By: "geo-7/4211"},
			},
			{Key: "crm:sync", Kind: bucketctl.KindNone, Type: "none", At: at, Level: nan},
		},
		workers: []bucketctl.Worker{
			{
				ID: "geo-7/4211", App: "geo", Host: "h1", PID: 4211, Version: "v1", Start: at.Add(-time.Hour), Interval: 5 * time.Second,
				Fallback: bucketctl.FallbackShare, Seen: at.Add(-2 * time.Second),
				Buckets: []bucketctl.WorkerBucket{{
					Key: "geocode:{acme}:eu", Mode: bucketctl.ModeShare, Reason: "connection refused", Since: at.Add(-90 * time.Second), Share: 2.5,
					Declared: limit, Limit: limit, Rev: 12, Level: nan, Granted: 300, Local: 20, Refused: 1, Calls: 90, Waiting: 37,
					HeadWait: 4 * time.Second, WaitP50: time.Second, WaitP99: 5 * time.Second, LargestN: 25, CallP99: 1500 * time.Microsecond,
				}},
			},
			{ID: "geo-8/17", App: "geo", Host: "h1", PID: 17, Interval: 5 * time.Second, Fallback: bucketctl.FallbackShare, Seen: at.Add(-time.Second), Buckets: []bucketctl.WorkerBucket{
				{Key: "geocode:{acme}:eu", Mode: bucketctl.ModeShared, Share: 2.5, Declared: limit, Limit: limit, Rev: 11, Level: 3, Waiting: 2},
				{Key: "rss:cool", Mode: bucketctl.ModeShared, Window: true, Share: 0.25, Declared: bucketctl.Limit{Capacity: 10, Rate: 1, Per: 10 * time.Second}, Level: nan},
			}},
			{ID: "mail-1/9", App: "mail", Host: "h2", PID: 9, Interval: time.Second, Fallback: bucketctl.FallbackClosed, Seen: at.Add(-42 * time.Second), Buckets: []bucketctl.WorkerBucket{{Key: "mail:\xff", Mode: bucketctl.ModeShared, Declared: limit, Level: 3}}},
			{ID: "idle-2/1", App: "idle", Host: "h2", PID: 1, Interval: time.Second, Fallback: bucketctl.FallbackOpen, Seen: at, Closing: true},
		},
		events: []bucketctl.Event{
			{
				ID: "1-0", At: at.Add(-time.Hour), Kind: bucketctl.EventLimit, Key: "geocode:{acme}:eu", By: "anna@ops1", Reason: "backlog", Rev: 12,
				After: bucketctl.Record{Override: bucketctl.Override{Capacity: 30, Rate: 10, Per: time.Minute, Until: at}},
			},
			{ID: "2-0", At: at, Kind: bucketctl.EventHold, Key: "mail:\xff", By: "anna@ops1", Reason: "5 < 6 & 7", Rev: 7, After: bucketctl.Record{Hold: bucketctl.Hold{Active: true}}},
			{ID: "3-0", At: at, Kind: bucketctl.EventFallback, By: "geo-7/4211", Reason: "connection refused",
				Detail: map[string]string{"since": at.Add(-50 * time.Second).Format(time.RFC3339Nano)}},
			{ID: "3-1", At: at, Kind: bucketctl.EventShared, By: "geo-7/4211", Reason: "connection refused",
				Detail: map[string]string{"since": at.Add(-50 * time.Second).Format(time.RFC3339Nano), "lasted": "50s", "local": "20"}},
			{ID: "4-0", At: at, Kind: bucketctl.EventCooldown, Key: "rss:cool", By: "geo-7/4211", Reason: "429",
				Detail: map[string]string{"length": "12s", "until": at.Add(12 * time.Second).Format(time.RFC3339Nano)}},
		},
	}
	first := scene.workers[0]
	first.Seen = first.Seen.Add(-first.Interval)
	first.Buckets = slices.Clone(first.Buckets)
	first.Buckets[0].Granted -= 12.5
	scene.reports = []bucketctl.Worker{first}
	return scene
}
