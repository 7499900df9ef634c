package lua_test

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkTake measures the server's own time, which is what all callers of
// one Redis share: server-µs/take for the call, server-ns/grant for each
// request that it served.
func BenchmarkTake(b *testing.B) {
	for _, batch := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			r := newRig(b)
			l := limits{capacity: 1e9, rate: 1e6}
			asks := times(batch, now1)
			r.take(l, asks...)
			r.ok(r.c.ConfigResetStat(r.ctx).Err())
			for b.Loop() {
				r.take(l, asks...)
			}
			spent := float64(scriptMicros(r))
			b.ReportMetric(spent/float64(b.N), "server-µs/take")
			b.ReportMetric(spent*1000/float64(b.N*batch), "server-ns/grant")
		})
	}
}

// BenchmarkTakeRefused is what a caller costs who gets nothing: no write.
func BenchmarkTakeRefused(b *testing.B) {
	r := newRig(b)
	l := limits{capacity: 1, rate: 1e-9}
	r.take(l, now1)
	r.ok(r.c.ConfigResetStat(r.ctx).Err())
	for b.Loop() {
		r.take(l, now1)
	}
	b.ReportMetric(float64(scriptMicros(r))/float64(b.N), "server-µs/take")
}

// scriptMicros is the time that the server has spent in scripts.
func scriptMicros(r *rig) (micros int64) {
	r.Helper()
	info, err := r.c.InfoMap(r.ctx, "commandstats").Result()
	r.ok(err)
	for _, section := range info {
		_, rest, found := strings.Cut(section["cmdstat_evalsha"], "usec=")
		if !found {
			continue
		}
		if _, err := fmt.Sscanf(rest, "%d", &micros); err != nil {
			r.Fatalf("reading %q: %v", rest, err)
		}
	}
	return micros
}
