package bucketctl

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// TestSwarmStaysWithinTheBound is the property that a limiter of one process
// can't have: counted by the server's clock, no second sees more than capacity
// plus rate, whoever asks.
func TestSwarmStaysWithinTheBound(t *testing.T) {
	const (
		workers  = 20
		rate     = 5
		capacity = 1
		length   = 10 * time.Second
	)
	s := redistest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var (
		all    sync.WaitGroup
		mu     sync.Mutex
		starts []time.Time
	)
	for range workers {
		l := mustBucket(t, openClient(t, s), "swarm", PerSecond(rate).Burst(capacity))
		all.Go(func() {
			for {
				v, err := l.acquire(ctx, 1)
				if errors.Is(err, context.DeadlineExceeded) {
					return
				}
				if err != nil || v.local {
					t.Errorf("a worker of the swarm: %+v, %v", v, err)
					return
				}
				mu.Lock()
				starts = append(starts, v.start())
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if worst := worstSpan(starts, time.Second); worst > capacity+rate {
		t.Errorf("%d grants in one second of server time, at most %d are allowed", worst, capacity+rate)
	}
	if least := int(0.8 * rate * length.Seconds()); len(starts) < least {
		t.Errorf("only %d grants in %v, want at least %d", len(starts), length, least)
	}
	t.Logf("%d grants in %v, worst second %d", len(starts), length, worstSpan(starts, time.Second))
}

// worstSpan is the most starts that any half-open span of that length sees.
func worstSpan(starts []time.Time, span time.Duration) int {
	slices.SortFunc(starts, time.Time.Compare)
	worst, first := 0, 0
	for i, start := range starts {
		for start.Sub(starts[first]) >= span {
			first++
		}
		worst = max(worst, i-first+1)
	}
	return worst
}
