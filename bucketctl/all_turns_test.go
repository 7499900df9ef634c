package bucketctl

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// Sets that want nearly all of one bucket and little of another, in both ways
// and from several processes, beside single callers who take whatever accrues:
// nobody is starved, and nobody waits for what another holds.
func TestNoSetStarvesBesideOthers(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	limit := PerSecond(20).Burst(10)
	served := make([]atomic.Int64, 5)
	done := make(chan struct{}, 20)
	callers := 0
	for i, needs := range [][2]float64{{9, 1}, {1, 9}, {8, 8}, {1, 0}, {0, 1}} {
		c := patientClient(t, s)
		a, b := mustBucket(t, c, "{s}:a", limit), mustBucket(t, c, "{s}:b", limit)
		var w Waiter
		switch {
		case needs[1] == 0:
			w = a
		case needs[0] == 0:
			w = b
		default:
			w = mustAll(t, c, b.Need(needs[1]), a.Need(needs[0]))
		}
		for range 3 {
			callers++
			go func() {
				defer func() { done <- struct{}{} }()
				for w.Wait(ctx) == nil {
					served[i].Add(1)
				}
			}()
		}
	}
	for range callers {
		<-done
	}
	used := [2]float64{}
	for i, needs := range [][2]float64{{9, 1}, {1, 9}, {8, 8}, {1, 0}, {0, 1}} {
		n := float64(served[i].Load())
		used[0] += n * needs[0]
		used[1] += n * needs[1]
		t.Logf("%v: served %v times", needs, n)
		if n < 2 {
			t.Errorf("who needs %v was served %v times in 6 s", needs, n)
		}
	}
	for i, tokens := range used {
		if share := tokens / (limit.Capacity + limit.Rate*6); share < 0.8 || share > 1.01 {
			t.Errorf("bucket %d: %.2f of what it allows is used", i, share)
		} else {
			t.Logf("bucket %d: %.2f of what it allows is used", i, share)
		}
	}
}
