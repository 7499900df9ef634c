//go:build soak

package bucketctl

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// Eight workers that never saw Redis share the rate by what Config.Workers says,
// or by 16: what they get together is eight of those parts.
func TestSoakEightWorkersStartWithoutRedis(t *testing.T) {
	for workers, factor := range map[int]float64{0: 8.0 / UnknownWorkers, 8: 1, 4: 2} {
		s := redistest.Start(t)
		s.Kill()
		limit := PerSecond(100).Burst(100)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var alone atomic.Int64
		var clients []*Client
		for range 8 {
			c := openClient(t, s, func(c *Config) { c.Workers = workers })
			l := mustBucket(t, c, "k", limit)
			clients = append(clients, c)
			for range 4 {
				all.Go(func() {
					for v, err := l.acquire(ctx, 1); err == nil; v, err = l.acquire(ctx, 1) {
						if v.local {
							alone.Add(1)
						}
					}
				})
			}
		}
		const length = 5 * time.Second
		sleep(ctx, length)
		got := float64(alone.Load()) / (limit.Rate * length.Seconds())
		s.Restart()
		up := time.Now()
		for _, c := range clients {
			awaitTrue(t, func() bool { return !isOpen(c) })
		}
		t.Logf("Workers: %d: %.3f of the rate, stated %.2f; all shared %v after Redis came up", workers, got, factor, time.Since(up))
		if got > 1.1*factor || got < 0.8*factor {
			t.Errorf("Workers: %d: %.3f of the rate, stated %.2f", workers, got, factor)
		}
		cancel()
		all.Wait()
	}
}

// A worker of a cluster that makes no call comes back all the same.
func TestSoakIdleWorkerOfAClusterComesBack(t *testing.T) {
	node := redistest.Cluster(t, 1).Nodes[0]
	c := openClient(t, node, func(c *Config) { c.URL = node.URL() + "?cluster=true" })
	l := mustBucket(t, c, "k", PerSecond(100))
	awaitTrue(t, func() bool { d, err := l.AllowN(t.Context(), 1); return err == nil && d.Mode == ModeShared })
	node.Freeze()
	awaitTrue(t, func() bool {
		_, _ = l.Allow(t.Context())
		open, _, _ := l.link().isOpen()
		return open && c.transitions.Load() > 0
	})
	sleep(t.Context(), 5*time.Second)
	node.Thaw()
	thawed := time.Now()
	awaitTrue(t, func() bool { open, _, _ := l.link().isOpen(); return !open })
	t.Logf("back %v after SIGCONT", time.Since(thawed))
	if took := time.Since(thawed); took > 4*time.Second {
		t.Errorf("back after %v", took)
	}
}
