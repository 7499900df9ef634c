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

func TestAMillionBucketsFit(t *testing.T) {
	const n, most = 1_000_000, 400 << 20 // bytes, with what the garbage collector has not freed yet
	before := heap()
	m := newModel(time.Second)
	m.sweep.number = 1
	page := bucketctl.Page{Next: "1"}
	for i := range n {
		page.Buckets = append(page.Buckets[:0], bucketctl.Registered{Key: fmt.Sprintf("tenant:{%09d}:requests", i), Seen: epoch})
		m.takeList(page, epoch)
	}
	var kept *Snapshot
	for i := range 500 { // as the slow round goes
		now := at(float64(i))
		var states []bucketctl.State
		for _, key := range m.plan(nil, now, true) {
			s := full(0)
			s.Key, s.At = key, now
			states = append(states, s)
		}
		m.takeStates(states, now)
		if i%50 == 49 {
			m.weigh(now)
			m.trim(now)
			kept = m.build(now)
		}
	}
	if kept.Known != n || len(kept.Buckets) != MaxRows || len(m.active) > MaxRows {
		t.Errorf("known %d, rows %d, with details %d", kept.Known, len(kept.Buckets), len(m.active))
	}
	if used := heap() - before; used > most {
		t.Errorf("a million buckets take %d MB", used>>20)
	} else {
		t.Logf("a million buckets take %d MB", used>>20)
	}
	if extra := m.meet("one more"); extra != nil {
		t.Error("there is no bound")
	}
	runtime.KeepAlive(kept)
}

func heap() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(min(s.HeapAlloc, math.MaxInt64))
}
