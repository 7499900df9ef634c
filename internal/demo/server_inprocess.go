package demo

import (
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// ageEvery is how often time passes for keys that expire.
const ageEvery = 100 * time.Millisecond

// startInProcess starts a miniredis on a free loopback port. It has no password,
// so whoever has an account on this machine can look at the demo's buckets.
func startInProcess() (*server, error) {
	m := miniredis.NewMiniRedis()
	if err := m.StartAddr("127.0.0.1:0"); err != nil {
		return nil, err
	}
	stop := make(chan struct{})
	var aging sync.WaitGroup
	aging.Go(func() { age(m, stop) })
	return &server{
		url:   "redis://" + m.Addr(),
		title: "miniredis",
		name:  "miniredis in this process",
		end: func() error {
			close(stop)
			aging.Wait()
			m.Close()
			return nil
		},
	}, nil
}

// age makes keys expire, which a miniredis leaves to its owner. Its own mode for
// that looks at every key at every command.
func age(m *miniredis.Miniredis, stop <-chan struct{}) {
	ticker := time.NewTicker(ageEvery)
	defer ticker.Stop()
	for last := time.Now(); ; {
		select {
		case now := <-ticker.C:
			m.FastForward(now.Sub(last))
			last = now
		case <-stop:
			return
		}
	}
}
