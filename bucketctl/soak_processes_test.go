//go:build soak

package bucketctl

import (
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// The figures that the bounds of the default suite are wide for.

func TestSoakDeathOfOne(t *testing.T) {
	h := gather(t, 20, 50, DefaultHorizon)
	h.wantUsed(0.98, h.kill(1), 20*time.Second)
	endAll(h.alive)
}

func TestSoakDeadHerd(t *testing.T) {
	h := gather(t, 100, 10, DefaultHorizon)
	killed := h.kill(90)
	h.wantServed(recheck + 3*time.Second) // the dead queue is 20 s long
	h.wantUsed(0.95, killed.Add(time.Second), 10*time.Second)
	endAll(h.alive)
}

func TestSoakMixtures(t *testing.T) {
	checkMixtures(t, PerSecond(5).Burst(5), DefaultHorizon, 25*time.Second, 6)
}

func TestSoakSwarm(t *testing.T) {
	limit := PerSecond(40).Burst(8)
	t.Run("at once", func(t *testing.T) {
		swarm{processes: 20, callers: 5, limit: limit, length: time.Minute, seed: 3}.check(t)
	})
	t.Run("slow connections", func(t *testing.T) {
		swarm{processes: 20, callers: 5, limit: limit, length: time.Minute, delay: 200 * time.Millisecond, seed: 4}.check(t)
	})
}

// Where the server denies pub/sub, sleepers ask again after recheck.
func TestSoakOperatorsChangeWithoutPubSub(t *testing.T) {
	s := redistest.Start(t)
	root := s.Client(t)
	userWith(t, root, "deaf", workerCommands())
	do(t, root, []any{"ACL", "SETUSER", "deaf", "resetchannels"})
	c, a := openClient(t, s, func(c *Config) { c.URL = "redis://deaf:p@" + s.Addr }), openAdmin(t, s)
	for name, o := range operations() {
		t.Run(name, func(t *testing.T) {
			o.wantReached(t, mustBucket(t, c, "b:"+name, PerHour(1).Burst(1)), a, recheck)
		})
	}
	if n := root.PubSubNumSub(t.Context(), "bucketctl:wake").Val()["bucketctl:wake"]; n != 0 {
		t.Errorf("%d subscribers, so that this was no test", n)
	}
}
