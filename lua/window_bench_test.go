package lua_test

import "testing"

// BenchmarkWindowTake is what a window costs beside BenchmarkTake: server time
// of a take at batch 1, with as many starts leaving the span as come.
func BenchmarkWindowTake(b *testing.B) {
	r := newRig(b)
	w := span{limit: 1000, per: second / 10}
	for range 200 {
		r.takeSpan(w, 0, 0, now1)
	}
	r.ok(r.c.ConfigResetStat(r.ctx).Err())
	for b.Loop() {
		r.takeSpan(w, 0, 0, now1)
	}
	b.ReportMetric(float64(scriptMicros(r))/float64(b.N), "server-µs/take")
}
