package ui

import (
	"math"
	"slices"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// pictureSnapshot is a bad night: each row is in another state.
func pictureSnapshot() *watch.Snapshot {
	s := &watch.Snapshot{
		At: t0, Taken: t0.Add(-400 * time.Millisecond),
		Link:   watch.Link{State: watch.Live, Addr: "cache-1:6379", Since: t0.Add(-time.Hour), RTT: 400 * time.Microsecond},
		Server: bucketctl.Server{Product: "redis", Version: "8.0.2"},
		Buckets: []watch.Bucket{
			stuckRow(), heldRow(), silentRow(), driftRow(), fullRow(), overriddenRow(), windowRow(), idleRow(),
		},
		Workers: someWorkers(),
		Events:  someEvents(),
		Alerts: []watch.Alert{
			{Code: watch.Stuck, Key: "geo:py", Grave: true, Text: "STUCK 4m: ts is 9m ahead, no refill until 14:41 (R resets)"},
			{Code: watch.Silent, Worker: "geo-7", Text: "SILENT 42s: down, or on its own share, +150/min above limit"},
			{Code: watch.Drift, Key: "llm:{gpt}:tpm", Text: "DRIFT: 2 limits declared"},
		},
		Counts: map[watch.Code]int{watch.Stuck: 1, watch.Silent: 1, watch.Held: 1, watch.Drift: 1, watch.Overridden: 1,
			watch.FullUse: 1, watch.OK: 1, watch.Idle: 1},
		Forced: watch.Forced{Overrides: 2, Holds: 1}, // the one in a silent bucket counts too
		Cost:   watch.Cost{Calls: 12, Bytes: 3400, Refresh: time.Second},
		Back:   12 * time.Minute, Sweep: 30 * time.Second,
	}
	for _, key := range []string{"mail:pop", "mail:imap", "rss:a", "rss:b", "sms:de", "sms:fr"} {
		s.Buckets = append(s.Buckets, aBucket(key, bucketctl.PerMinute(60).Burst(20), 20))
	}
	return s
}

func worker(name, key string, limit bucketctl.Limit) watch.WorkerRow {
	return watch.WorkerRow{
		Name: name, Seen: t0.Add(-time.Second), Rate: limit.Rate / 4,
		WorkerBucket: bucketctl.WorkerBucket{
			Key: key, Mode: bucketctl.ModeShared, Since: t0.Add(-2 * time.Hour), Share: limit.Rate / 4,
			Declared: limit, Limit: limit, Rev: 12, Level: 3, Granted: 12000, Waiting: 9,
			HeadWait: 4 * time.Second, WaitP50: 2 * time.Second, WaitP99: 5 * time.Second, LargestN: 1,
		},
	}
}

func stuckRow() watch.Bucket {
	b := aBucket("geo:py", bucketctl.Limit{}, 0)
	b.State.Kind = bucketctl.KindForeign
	b.State.Rev = 0
	b.State.Problems = []bucketctl.Problem{{Code: bucketctl.ProblemAhead, Field: "ts", Text: "ts is 9m ahead, no refill until 14:41"}}
	b.State.Raw = map[string]string{"tokens": "0", "ts": "1773499265.5"}
	b.Status = watch.Status{Code: watch.Stuck, Since: t0.Add(-4 * time.Minute), Text: "4m",
		Cause: "ts is 9m ahead, no refill until 14:41", Remedy: "R resets"}
	b.Waiting = -1
	return b
}

func heldRow() watch.Bucket {
	b := aBucket("stripe:charge", bucketctl.PerSecond(25).Burst(25), 25)
	b.State.Rev = 7
	b.State.Hold = bucketctl.Hold{Active: true, By: "anna@ops1", At: t0.Add(-4*time.Minute - 4*time.Second), Reason: "provider asked us to stop"}
	b.Status = watch.Status{Code: watch.Held, Text: "4m anna", Cause: "provider asked us to stop", Remedy: "H resumes"}
	b.Waiting, b.HeadWait, b.Used = 61, 4*time.Minute, 0
	for _, name := range []string{"pay-1", "pay-2", "pay-3"} {
		b.Workers = append(b.Workers, worker(name, b.Key, b.State.Declared))
	}
	return b
}

func silentRow() watch.Bucket {
	b := aBucket("geocode:{acme}:eu", bucketctl.PerMinute(300).Burst(15), 0)
	b.State.Override = bucketctl.Override{Rate: 10, Per: time.Minute, Capacity: 30, Until: t0.Add(26 * time.Minute)}
	b.State.Effective = bucketctl.PerMinute(600).Burst(30)
	b.State.By, b.State.ChangedAt, b.State.Reason = "anna@ops1", t0.Add(-34*time.Minute), "backlog"
	b.Status = watch.Status{Code: watch.Silent, Text: "1 of 4", Cause: "geo-7 not heard of for 42s: down, or on its own share"}
	b.Granted, b.Used, b.Waiting, b.HeadWait, b.LargestN = 9.8, 0.98, 37, 4*time.Second, 25
	for _, name := range []string{"geo-1", "geo-2", "geo-3", "geo-7"} {
		b.Workers = append(b.Workers, worker(name, b.Key, b.State.Declared))
	}
	b.Workers[3].Silent, b.Workers[3].Seen, b.Workers[3].Share, b.Workers[3].Over = true, t0.Add(-42*time.Second), 2.5, 2.5
	b.History = aMinute(b.State.Effective)
	return b
}

func driftRow() watch.Bucket {
	b := aBucket("llm:{gpt}:tpm", bucketctl.PerMinute(1.8e6).Burst(90e3), 24e3)
	b.Status = watch.Status{Code: watch.Drift, Text: "2 limits", Cause: "1800000/min burst 90000 (5 workers), 900000/min burst 45000 (1 worker)"}
	b.Granted, b.Used, b.Waiting, b.HeadWait = 1.75e6/60, 0.97, 112, 3*time.Second
	b.Workers = []watch.WorkerRow{worker("llm-1", b.Key, b.State.Declared), worker("llm-2", b.Key, bucketctl.PerMinute(900e3))}
	b.History = aMinute(b.State.Effective)
	return b
}

func fullRow() watch.Bucket {
	b := aBucket("geocode:{acme}:us", bucketctl.PerMinute(300).Burst(15), 0)
	b.Status = watch.Status{Code: watch.FullUse}
	b.Granted, b.Used, b.Waiting, b.HeadWait = 299.0/60, 1, 52, 10*time.Second
	b.Workers = []watch.WorkerRow{worker("geo-1", b.Key, b.State.Declared)}
	b.History = aMinute(b.State.Effective)
	return b
}

func overriddenRow() watch.Bucket {
	b := aBucket("mail:smtp", bucketctl.PerMinute(30).Burst(10), 18)
	b.State.Override = bucketctl.Override{Rate: 1, Per: time.Minute, Capacity: 20, Until: t0.Add(26 * time.Minute)}
	b.State.Effective = bucketctl.PerMinute(60).Burst(20)
	b.State.By, b.State.ChangedAt = "bob@ops2", t0.Add(-4*time.Minute)
	b.Status = watch.Status{Code: watch.Overridden, Text: "26m"}
	b.Granted, b.Used = 0.2, 0.2
	return b
}

func windowRow() watch.Bucket {
	b := aBucket("rss:{cloudflare}", bucketctl.Limit{Capacity: 10, Rate: 1, Per: 10 * time.Second}, 7)
	b.State.Kind = bucketctl.KindWindow
	b.Status = watch.Status{Code: watch.OK, Text: "window"}
	b.Granted, b.Used = 0.3, 0.3
	return b
}

func idleRow() watch.Bucket {
	b := aBucket("crm:sync:contacts-nightly-eu", bucketctl.PerSecond(3), 9)
	b.Status = watch.Status{Code: watch.Idle, Text: "2h"}
	b.Seen = t0.Add(-2 * time.Hour)
	return b
}

// aMinute is a minute of a bucket that is used to the full, with a gap.
func aMinute(limit bucketctl.Limit) watch.History {
	h := watch.History{End: t0}
	for i := range 60 {
		level := limit.Capacity * (0.5 + 0.5*math.Sin(float64(i)/6))
		granted := limit.Rate * (0.6 + 0.4*math.Cos(float64(i)/9))
		if i >= 20 && i < 26 {
			level, granted = math.NaN(), math.NaN()
		}
		h.Levels = append(h.Levels, level)
		h.Granted = append(h.Granted, granted)
	}
	h.Marks = []watch.Mark{
		{At: t0.Add(-50 * time.Second), Kind: bucketctl.EventLimit},
		{At: t0.Add(-12 * time.Second), Kind: bucketctl.EventFallback},
	}
	return h
}

func someWorkers() []watch.Worker {
	limit := bucketctl.PerMinute(300).Burst(15)
	var out []watch.Worker
	for i, name := range []string{"geo-1", "geo-2", "geo-3", "geo-7", "pay-1"} {
		w := watch.Worker{Name: name, State: watch.WorkerShared, Rows: []watch.WorkerRow{worker(name, "geocode:{acme}:eu", limit)}}
		w.ID, w.App, w.Host, w.PID = name, "geocoder", "node-4", 4211+i
		w.Version, w.Start, w.Interval = "0.1.0", t0.Add(-26*time.Hour), 5*time.Second
		w.Seen, w.Fallback = t0.Add(-time.Second), bucketctl.FallbackShare
		out = append(out, w)
	}
	silent, local := &out[3], &out[2]
	silent.State, silent.Since, silent.Seen = watch.WorkerSilent, t0.Add(-42*time.Second), t0.Add(-42*time.Second)
	silent.Why = "down, or on its own share, +150/min above limit"
	silent.Rows[0].Silent, silent.Rows[0].Over, silent.Rows[0].Share = true, 2.5, 2.5
	local.State, local.Since = watch.WorkerFallback, t0.Add(-90*time.Second)
	local.Why = "on its own share, +75/min above limit: i/o timeout"
	local.Rows[0].Mode, local.Rows[0].Reason, local.Rows[0].Since, local.Rows[0].Over = bucketctl.ModeShare, "i/o timeout", local.Since, 1.25
	slices.SortStableFunc(out, func(x, y watch.Worker) int { return int(x.State) - int(y.State) })
	gone := watch.Worker{Name: "geo-6@node-4/4177-0badcafe", State: watch.WorkerGone, Since: t0.Add(-5 * time.Minute), Why: "shut down in order"}
	gone.ID, gone.App, gone.Host, gone.PID, gone.Start = gone.Name, "geo-6", "node-4", 4177, t0.Add(-30*time.Hour)
	return append(out, gone)
}

func someEvents() []bucketctl.Event {
	over := bucketctl.Record{Override: bucketctl.Override{Rate: 10, Per: time.Minute, Capacity: 30}}
	held := bucketctl.Record{Hold: bucketctl.Hold{Active: true}}
	return []bucketctl.Event{
		{ID: "1-1", At: t0.Add(-26 * time.Hour), Kind: bucketctl.EventReset, Key: "geo:py", By: "bob@ops2", Detail: map[string]string{"to": "full"}},
		{ID: "2-1", At: t0.Add(-34 * time.Minute), Kind: bucketctl.EventLimit, Key: "geocode:{acme}:eu", By: "anna@ops1", Reason: "backlog", Rev: 12, After: over},
		{ID: "3-1", At: t0.Add(-4 * time.Minute), Kind: bucketctl.EventHold, Key: "stripe:charge", By: "anna@ops1", Reason: "provider asked us to stop", Rev: 7, After: held},
		{ID: "4-1", At: t0.Add(-90 * time.Second), Kind: bucketctl.EventFallback, By: "geo-3", Reason: "i/o timeout",
			Detail: map[string]string{"since": t0.Add(-2 * time.Minute).Format(time.RFC3339Nano)}},
		{ID: "4-2", At: t0.Add(-90 * time.Second), Kind: bucketctl.EventShared, By: "geo-3", Reason: "i/o timeout",
			Detail: map[string]string{"since": t0.Add(-2 * time.Minute).Format(time.RFC3339Nano), "lasted": "29.85s", "local": "37"}},
	}
}
