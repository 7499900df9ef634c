package ui

import (
	"fmt"
	"testing"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// manyBuckets is a snapshot of n busy buckets.
func manyBuckets(n int) *watch.Snapshot {
	s := pictureSnapshot()
	s.Buckets = make([]watch.Bucket, n)
	for i := range s.Buckets {
		b := aBucket(fmt.Sprintf("geocode:{tenant-%d}:eu", i), bucketctl.PerMinute(600).Burst(30), float64(i%30))
		b.Granted, b.Used, b.Waiting = float64(i%10), float64(i%10)/10, i%7
		s.Buckets[i] = b
	}
	return s
}

// BenchmarkView is a redraw of 10,000 buckets: after a key, which moves the
// cursor, and after the clock rang, which draws every row in the window anew.
func BenchmarkView(b *testing.B) {
	snap := manyBuckets(10_000)
	b.Run("key", func(b *testing.B) {
		c := newBench(b, snap, 200, 50)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			c.list.move(c.app, 1-2*(i%2))
			c.View()
		}
	})
	b.Run("clock", func(b *testing.B) {
		c := newBench(b, snap, 200, 50)
		b.ReportAllocs()
		for b.Loop() {
			c.list.drawn.forget()
			c.View()
		}
	})
	b.Run("snapshot", func(b *testing.B) {
		c := newBench(b, snap, 200, 50)
		b.ReportAllocs()
		for b.Loop() {
			c.take(snap)
			c.View()
		}
	})
}

// TestOnlyTheWindowIsDrawn holds what makes the benchmark fast.
func TestOnlyTheWindowIsDrawn(t *testing.T) {
	b := newBench(t, manyBuckets(10_000), 80, 24)
	b.press("end", "home", "pgdown")
	if drawn := len(b.list.drawn.text); drawn > 3*24 {
		t.Errorf("%d rows were drawn", drawn)
	}
	if b.list.window != 15 {
		t.Errorf("the window has %d rows, want the 15 that the picture has room for", b.list.window)
	}
}
