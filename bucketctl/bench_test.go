package bucketctl

import (
	"strconv"
	"sync"
	"testing"

	"bucketop/internal/redistest"
)

// BenchmarkWait measures grants of one bucket that is never short, by callers
// of one process.
func BenchmarkWait(b *testing.B) {
	for _, callers := range []int{1, 16, 256, 1024} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			s := redistest.Start(b)
			c, err := Open(b.Context(), Config{URL: s.URL(), Logger: quiet()})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			l, err := c.Bucket("k", PerSecond(1e9).Burst(1e12))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			var all sync.WaitGroup
			for i := range callers {
				all.Go(func() {
					for n := i; n < b.N; n += callers {
						if err := l.Wait(b.Context()); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			calls := l.report().Calls
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "grants/s")
			b.ReportMetric(float64(calls)/float64(b.N), "calls/grant")
		})
	}
}
