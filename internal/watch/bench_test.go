package watch

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"bucketop/bucketctl"
)

// crowdedRedis has n buckets, all of them read, and 40 workers that report 1000
// of them each.
func crowdedRedis(tb testing.TB, n int) (*Watcher, *fakeRedis, *time.Time) {
	tb.Helper()
	now := epoch
	clock := func() time.Time { return now }
	redis := newFakeRedis(clock)
	w := newWatcher(Config{Clock: clock}, redis)
	for i := range n {
		redis.registry = append(redis.registry, fmt.Sprintf("tenant:{%06d}:requests", i))
	}
	for _, key := range redis.registry {
		s := full(10)
		s.Key, s.At = key, now
		w.model.takeStates([]bucketctl.State{s}, now)
	}
	for i := range 40 {
		redis.say(crowdedWorker(redis, i, 0))
	}
	return w, redis, &now
}

func crowdedWorker(redis *fakeRedis, i int, granted float64) bucketctl.Worker {
	w := worker(fmt.Sprintf("geo-%02d", i))
	for j := range min(1000, len(redis.registry)) {
		w.Buckets = append(w.Buckets, draws(redis.registry[(i*250+j)%len(redis.registry)], granted, 0))
	}
	return w
}

// BenchmarkRefresh is one refresh, of which the fake's part is small: 8 of 40
// workers report, 300 buckets are read.
func BenchmarkRefresh(b *testing.B) {
	w, redis, now := crowdedRedis(b, 10_000)
	shown := redis.registry[:200]
	second := 0
	refresh := func() {
		second++
		*now = at(float64(second))
		w.refresh(context.Background(), shown)
	}
	for range 20 {
		refresh()
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for i := range 8 {
			redis.say(crowdedWorker(redis, (second*8+i)%40, float64(second)))
		}
		redis.reports = redis.reports[max(0, len(redis.reports)-400):]
		w.model.reportID = fmt.Sprintf("%d-0", len(redis.reports)-8)
		b.StartTimer()
		refresh()
	}
}

// A key that nobody looks at takes so many bytes, and all details together so
// many: by these a million buckets take some 200 MB.
func TestMemoryStaysBounded(t *testing.T) {
	const n, mostPerKey, mostDetails = 200_000, 200, 80 << 20
	before := heap()
	m := newModel(time.Second)
	m.most = n
	m.sweep.number = 1
	page := bucketctl.Page{Next: "1", Buckets: make([]bucketctl.Registered, 1)}
	for i := range n {
		page.Buckets[0] = bucketctl.Registered{Key: fmt.Sprintf("tenant:{%09d}:requests", i), Seen: epoch}
		m.takeList(page, epoch)
	}
	bare := heap()
	if perKey := (bare - before) / n; perKey > mostPerKey {
		t.Errorf("a key takes %d bytes", perKey)
	}
	if m.meet("one more") != nil {
		t.Error("there is no bound")
	}
	var kept *Snapshot
	for i := range 500 { // as the slow round goes
		if s := roundOf(m, at(float64(i))); s != nil {
			kept = s
		}
	}
	if kept.Known != n || len(kept.Buckets) != MaxRows || len(m.active) > MaxRows {
		t.Errorf("known %d, rows %d, with details %d", kept.Known, len(kept.Buckets), len(m.active))
	}
	if details := heap() - bare; details > mostDetails {
		t.Errorf("details take %d MB", details>>20)
	}
	runtime.KeepAlive(kept)
}

// roundOf reads what the slow round wants at now, and makes a snapshot of it now
// and then.
func roundOf(m *model, now time.Time) *Snapshot {
	var states []bucketctl.State
	for _, key := range m.plan(nil, now, true) {
		s := full(0)
		s.Key, s.At = key, now
		states = append(states, s)
	}
	m.takeStates(states, now)
	if now.Unix()%20 != 19 {
		return nil
	}
	m.weigh(now)
	m.trim(now)
	return m.build(now)
}

func heap() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(min(s.HeapAlloc, math.MaxInt64))
}
