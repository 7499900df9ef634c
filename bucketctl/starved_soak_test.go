//go:build soak

package bucketctl

import (
	"context"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// A hundred workers start all at once where eight busy loops leave them hardly
// any time, so that answers of a healthy Redis come too late. What they grant
// alone stays within a rate of its own, and they find to the shared bucket.
func TestSoakStarvedFleet(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	starve(t, 8)
	s := redistest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	var (
		all           sync.WaitGroup
		mu            sync.Mutex
		shared, alone int
		clients       []*Client
	)
	limit := PerSecond(50).Burst(5)
	began := time.Now()
	for range 100 {
		c := openClient(t, s) // which says that it is one of 2
		l := mustBucket(t, c, "k", limit)
		clients = append(clients, c)
		for range 10 {
			all.Go(func() {
				for v, err := l.acquire(ctx, 1); err == nil; v, err = l.acquire(ctx, 1) {
					mu.Lock()
					if v.local {
						alone++
					} else {
						shared++
					}
					mu.Unlock()
				}
			})
		}
	}
	sleep(ctx, 20*time.Second)
	cancel()
	all.Wait()
	least := clients[0].all()[0].workers()
	for _, c := range clients {
		least = min(least, c.all()[0].workers())
	}
	most := limit.Capacity + limit.Rate*time.Since(began).Seconds()
	t.Logf("%d granted by Redis, %d alone: %.3f of the allowance; at least %d workers counted", shared, alone, float64(shared+alone)/most, least)
	if float64(alone) > most || shared == 0 || least < 90 {
		t.Error("a starved fleet takes the shortage of time for one of Redis")
	}
}

// starve lets so many processes use what time there is, until the test ends.
func starve(t *testing.T, processes int) {
	t.Helper()
	for range processes {
		busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = busy.Process.Kill()
			_ = busy.Wait()
		})
	}
}
