package lua_test

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// The swarm: twenty clients that all want as much as they can get.
const (
	swarmClients = 20
	swarmFor     = 1500 * time.Millisecond
	swarmRate    = 5.0
	swarmMost    = 6 // in a second: the capacity of 1, and five that accrue
)

// swarm returns the server times at which the clients may start.
func swarm(t *testing.T, take func(ctx context.Context, c *redis.Client) (start int64, granted bool)) []int64 {
	t.Helper()
	server := redistest.Start(t)
	deadline := time.Now().Add(swarmFor)
	var (
		mu     sync.Mutex
		starts []int64
		all    sync.WaitGroup
	)
	for range swarmClients {
		c := server.Client(t)
		all.Go(func() {
			for time.Now().Before(deadline) {
				if start, granted := take(t.Context(), c); granted {
					mu.Lock()
					starts = append(starts, start)
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	slices.Sort(starts)
	return starts
}

// worstSecond is the most starts in any window of a second that is open at its
// end.
func worstSecond(starts []int64) (most int) {
	first := 0
	for i, start := range starts {
		for start-starts[first] >= second {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

func TestSwarmNeverGetsMoreThanTheBucketAllows(t *testing.T) {
	for name, ahead := range map[string]int64{"at once": 0, "ahead": horizon} {
		t.Run(name, func(t *testing.T) {
			starts := swarm(t, func(ctx context.Context, c *redis.Client) (int64, bool) {
				r := &rig{failer: t, ctx: ctx, c: c, bucket: "b", record: "bucketctl:limit:{b}", log: "bucketctl:log:{b}"}
				got := r.takeAhead(limits{capacity: 1, rate: swarmRate}, ahead, ask{n: 1, patience: ahead})
				return got.now + got.outcomes[0].wait, got.outcomes[0].code == charged
			})
			span := float64(starts[len(starts)-1]-starts[0]) / 1e6
			if worst := worstSecond(starts); worst > swarmMost {
				t.Errorf("%d starts in one second, want at most %d", worst, swarmMost)
			}
			if got, most := float64(len(starts)), 1+swarmRate*span; got > most+1e-3 || got < most/4 { // stalls of a busy machine lose what a capacity of 1 can not keep
				t.Errorf("%v starts in %.3f s, want %.2f", got, span, most)
			}
		})
	}
}

// The same swarm against what the script replaces, reading, deciding, writing,
// to show that the test above can fail.
func TestSwarmGetsTooMuchFromReadThenWrite(t *testing.T) {
	starts := swarm(t, func(ctx context.Context, c *redis.Client) (int64, bool) {
		now, err := c.Time(ctx).Result()
		if err != nil {
			t.Error(err)
			return 0, false
		}
		level, ts := 1.0, now.UnixMicro()
		var stored struct {
			Tokens float64 `redis:"tokens"`
			Ts     int64   `redis:"ts"`
		}
		if err := c.MGet(ctx, "tokens", "ts").Scan(&stored); err != nil {
			t.Error(err)
			return 0, false
		}
		if stored.Ts > 0 {
			level, ts = stored.Tokens, stored.Ts
		}
		level = math.Min(1, level+float64(now.UnixMicro()-ts)/1e6*swarmRate)
		if level < 1 {
			return 0, false
		}
		time.Sleep(20 * time.Millisecond) // as far as a network may put the two apart: on one processor they hardly are
		if err := c.MSet(ctx, "tokens", exact(level-1), "ts", now.UnixMicro()).Err(); err != nil {
			t.Error(err)
		}
		return now.UnixMicro(), true
	})
	if worst := worstSecond(starts); worst <= swarmMost {
		t.Errorf("%d starts in the worst second; this test was to catch reading and writing apart with more than %d", worst, swarmMost)
	}
}
