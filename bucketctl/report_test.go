package bucketctl

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"bucketop/internal/redistest"
	"bucketop/internal/schema"
)

// moment draws the zero time or a server time, in microseconds.
func moment() *rapid.Generator[time.Time] {
	return rapid.Map(rapid.Int64Range(0, 4e15), fromUnixMicro)
}

func span() *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.Int64Range(0, 1e14), micros)
}

func someWorkerBucket() *rapid.Generator[WorkerBucket] {
	return rapid.Custom(func(t *rapid.T) WorkerBucket {
		amount := rapid.Float64Range(0, 9e15)
		count := rapid.Int64Range(0, 9e15)
		b := WorkerBucket{
			Key:      string(rapid.SliceOfN(rapid.Byte(), 1, 12).Draw(t, "key")),
			Mode:     rapid.SampledFrom([]Mode{ModeShared, ModeShare, ModeClosed, ModeOpen}).Draw(t, "mode"),
			Reason:   rapid.String().Draw(t, "reason"),
			Since:    moment().Draw(t, "since"),
			Fallback: rapid.SampledFrom([]Policy{"", FallbackShare, FallbackClosed, FallbackOpen}).Draw(t, "fallback"),
			Workers:  rapid.IntRange(0, MaxWorkers).Draw(t, "workers"),
			Share:    amount.Draw(t, "share"),
			Declared: someLimit().Draw(t, "declared"),
			Rev:      Rev(count.Draw(t, "rev")),
			Level:    rapid.OneOf(rapid.Just(math.NaN()), rapid.Float64Range(-9e15, 9e15)).Draw(t, "level"),
			Granted:  amount.Draw(t, "granted"),
			Local:    amount.Draw(t, "local"),
			Refused:  count.Draw(t, "refused"),
			Calls:    count.Draw(t, "calls"),
			Waiting:  rapid.IntRange(0, 1e6).Draw(t, "waiting"),
			HeadWait: span().Draw(t, "head"),
			WaitP50:  span().Draw(t, "p50"),
			WaitP99:  span().Draw(t, "p99"),
			LargestN: amount.Draw(t, "largest"),
			CallP99:  span().Draw(t, "call"),
		}
		if rapid.Bool().Draw(t, "seen") {
			b.Limit = someLimit().Draw(t, "limit")
		}
		return b
	})
}

func TestReportsAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Worker{
			ID: rapid.StringN(1, 20, -1).Draw(t, "id"), App: rapid.String().Draw(t, "app"), Host: rapid.String().Draw(t, "host"),
			PID: rapid.Int().Draw(t, "pid"), Version: rapid.String().Draw(t, "version"),
			Start: moment().Draw(t, "start"), Interval: time.Duration(rapid.Int64Range(100_000, 3_600_000_000).Draw(t, "interval")) * time.Microsecond, Seen: moment().Draw(t, "seen"),
			Fallback: rapid.SampledFrom([]Policy{FallbackShare, FallbackClosed, FallbackOpen}).Draw(t, "policy"),
			Closing:  rapid.Bool().Draw(t, "closing"),
			Outage: rapid.SampledFrom([]Outage{{}, {
				Reason: rapid.String().Draw(t, "cause"), Since: moment().Draw(t, "began"), Lasted: span().Draw(t, "lasted"),
				Local: rapid.Float64Range(0, 9e15).Draw(t, "alone"),
			}}).Draw(t, "outage"),
			Buckets: rapid.SliceOfN(someWorkerBucket(), 0, 3).Draw(t, "buckets"),
		}
		got, err := decodeReport(encodeReport(w), w.Seen)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Buckets) != len(w.Buckets) {
			t.Fatalf("%d buckets, want %d", len(got.Buckets), len(w.Buckets))
		}
		for i, want := range w.Buckets {
			if b := got.Buckets[i]; math.IsNaN(b.Level) && math.IsNaN(want.Level) {
				got.Buckets[i].Level, want.Level = 0, 0 // NaN equals nothing
			}
			if got.Buckets[i] != want {
				t.Fatalf("bucket %d is read\n%+v, want\n%+v", i, got.Buckets[i], want)
			}
		}
		got.Buckets, w.Buckets = nil, nil
		if got.ID != w.ID || got.App != w.App || got.Host != w.Host || got.PID != w.PID || got.Version != w.Version ||
			got.Start != w.Start || got.Interval != w.Interval || got.Seen != w.Seen || got.Fallback != w.Fallback || got.Closing != w.Closing ||
			got.Outage != w.Outage {
			t.Fatalf("read %+v, want %+v", got, w)
		}
	})
}

func TestKeysThatAreNotUTF8TravelInBase64(t *testing.T) {
	for key, inText := range map[string]string{
		"geo:\xff":     `"key_b64":"Z2VvOv8="`,
		"geo:{é}":      `"key":"geo:{é}"`,
		"a\x1b[2J":     `"key":"a\u001b[2J"`,
		"a\x00b\n\x07": `"key":"a\u0000b\n\u0007"`,
	} {
		text := encodeReport(Worker{ID: "w", Interval: time.Second, Buckets: []WorkerBucket{{Key: key, Level: math.NaN()}}})
		if !strings.Contains(text, inText) {
			t.Errorf("%q is written %s, want %s in it", key, text, inText)
		}
		if w, err := decodeReport(text, time.Time{}); err != nil || w.Buckets[0].Key != key {
			t.Errorf("%q is read %+v, %v", key, w, err)
		}
	}
}

func TestReportsOfOtherVersionsAreRead(t *testing.T) {
	w, err := decodeReport(`{"id":"w","later":{"x":[1]},"interval":2000000,"buckets":[{"key":"k","granted":3,"mood":"fine"}]}`, time.Unix(9, 0))
	if err != nil {
		t.Fatal(err)
	}
	if w.ID != "w" || w.Interval != 2*time.Second || w.Buckets[0].Granted != 3 || !math.IsNaN(w.Buckets[0].Level) || w.Seen != time.Unix(9, 0) {
		t.Errorf("read %+v", w)
	}
}

// garbage are entries of the reports stream that no worker wrote.
func garbage() []string {
	return []string{"", "null", "{}", "[]", "42", "not json", `{"id":`, `{"id":5}`, `{"id":"w","buckets":{}}`,
		`{"id":"w","buckets":[{"key_b64":"!!"}]}`, `{"id":"w","buckets":[{"granted":"many"}]}`}
}

func TestGarbageIsNoReport(t *testing.T) {
	for _, text := range garbage() {
		if w, err := decodeReport(text, time.Time{}); err == nil {
			t.Errorf("%q is read as %+v", text, w)
		}
	}
}

func TestReadersPassOverGarbage(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	add := func(field, text string) string {
		t.Helper()
		id, err := c.XAdd(t.Context(), &redis.XAddArgs{Stream: a.keys.Reports(), Values: []any{field, text}}).Result()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := add(schema.FieldReport, encodeReport(Worker{ID: "a/1", App: "a", Interval: time.Second}))
	for _, text := range garbage() {
		add(schema.FieldReport, text)
	}
	add("something", "else")
	add(schema.FieldReport, encodeReport(Worker{ID: "b/1", App: "b", Interval: time.Second}))
	last := add(schema.FieldReport, encodeReport(Worker{ID: "a/1", App: "a", PID: 7, Interval: time.Second}))

	workers, now, err := a.Workers(t.Context())
	if err != nil || len(workers) != 2 || workers[0].ID != "a/1" || workers[0].PID != 7 || workers[1].ID != "b/1" {
		t.Fatalf("Workers: %+v, %v, want the newest of a/1 and b/1", workers, err)
	}
	if workers[0].SilentAt(now) || !workers[0].SilentAt(now.Add(4*time.Second)) {
		t.Errorf("seen %v, now %v: silent after 3 intervals, and not before", workers[0].Seen, now)
	}
	newest, next, err := a.Reports(t.Context(), "", 100)
	if err != nil || len(newest) != 2 || next != last {
		t.Errorf("Reports from the start: %d, to go on from %s, %v, want 2 and %s", len(newest), next, err, last)
	}
	// Also a page of garbage alone moves on, or a reader would never get past it.
	page, next, err := a.Reports(t.Context(), first, 3)
	if err != nil || len(page) != 0 || next == first {
		t.Errorf("a page of garbage: %+v, to go on from %s, %v", page, next, err)
	}
	rest, next, err := a.Reports(t.Context(), next, 100)
	if err != nil || len(rest) != 2 || next != last {
		t.Errorf("the pages after it: %+v, to go on from %s, %v", rest, next, err)
	}
	if none, next, err := a.Reports(t.Context(), last, 100); err != nil || len(none) != 0 || next != last {
		t.Errorf("after the last: %+v, %s, %v", none, next, err)
	}
}

func TestReportsOfAnEmptyStream(t *testing.T) {
	a := newAdmin(t, redistest.Start(t).Client(t))
	workers, next, err := a.Reports(t.Context(), "", 10)
	if err != nil || len(workers) != 0 || next != "0-0" {
		t.Errorf("Reports: %+v, %q, %v", workers, next, err)
	}
	if workers, _, err := a.Workers(t.Context()); err != nil || len(workers) != 0 {
		t.Errorf("Workers: %+v, %v", workers, err)
	}
}

func TestClosingWorkerIsNotSilent(t *testing.T) {
	w := Worker{Interval: time.Second, Seen: time.Unix(100, 0)}
	if w.SilentAt(time.Unix(103, 0)) || !w.SilentAt(time.Unix(104, 0)) {
		t.Error("a worker is silent after 3 of its intervals")
	}
	w.Closing = true
	if w.SilentAt(time.Unix(1000, 0)) {
		t.Error("a worker that shut down in order is not silent")
	}
	for mode, local := range map[Mode]bool{ModeShared: false, "": false, ModeShare: true, ModeClosed: true, ModeOpen: true} {
		if mode.Local() != local {
			t.Errorf("%q.Local() = %v", mode, !local)
		}
	}
}

// Whoever may write the stream could write anything; screens are made of it.
func TestReportsThatCannotBeArePassedOver(t *testing.T) {
	sound := Worker{ID: "x", Interval: time.Second, Fallback: FallbackShare, Buckets: []WorkerBucket{
		{Key: "k", Mode: ModeShared, Declared: PerSecond(1), Level: 1},
	}}
	if _, err := decodeReport(encodeReport(sound), time.Now()); err != nil {
		t.Fatalf("a sound report: %v", err)
	}
	for name, spoil := range map[string]func(*Worker, *WorkerBucket){
		"no name":          func(w *Worker, _ *WorkerBucket) { w.ID = "" },
		"mode":             func(_ *Worker, b *WorkerBucket) { b.Mode = "\x1b[31m" },
		"policy":           func(w *Worker, _ *WorkerBucket) { w.Fallback = "drop" },
		"no interval":      func(w *Worker, _ *WorkerBucket) { w.Interval = 0 },
		"a day's interval": func(w *Worker, _ *WorkerBucket) { w.Interval = 24 * time.Hour },
		"capacity":         func(_ *Worker, b *WorkerBucket) { b.Declared.Capacity = 1e308 },
		"limit in force":   func(_ *Worker, b *WorkerBucket) { b.Limit = Limit{Capacity: 1, Rate: -1} },
		"share":            func(_ *Worker, b *WorkerBucket) { b.Share = 1e300 },
		"waiting":          func(_ *Worker, b *WorkerBucket) { b.Waiting = -1 },
		"wait":             func(_ *Worker, b *WorkerBucket) { b.HeadWait = -time.Second },
		"level":            func(_ *Worker, b *WorkerBucket) { b.Level = -1e300 },
	} {
		w := sound
		w.Buckets = []WorkerBucket{sound.Buckets[0]}
		spoil(&w, &w.Buckets[0])
		if _, err := decodeReport(encodeReport(w), time.Now()); err == nil {
			t.Errorf("%s: taken for a report", name)
		}
	}
}

// All reports together stay under 100 a second, and each says when the next
// comes, so that nobody takes a slow one for silence.
func TestLargeFleetsReportLessOften(t *testing.T) {
	s := redistest.Start(t)
	c := patientClient(t, s)
	for _, tt := range []struct {
		workers  int
		interval time.Duration
	}{{1, time.Second}, {100, time.Second}, {250, 2500 * time.Millisecond}, {6000, time.Minute}} {
		c.everybody.mu.Lock()
		c.everybody.census.count = tt.workers
		c.everybody.mu.Unlock()
		if got := c.reportInterval(); got != tt.interval {
			t.Errorf("%d workers report each %v, want %v", tt.workers, got, tt.interval)
		}
		if err := c.publishReport(t.Context(), c.reportInterval(), false); err != nil {
			t.Fatal(err)
		}
		workers, now, err := openAdmin(t, s).Workers(t.Context())
		if err != nil || len(workers) != 1 || workers[0].Interval != tt.interval || workers[0].SilentAt(now.Add(2*tt.interval)) {
			t.Errorf("with %d workers: %+v, %v", tt.workers, workers, err)
		}
	}
}
