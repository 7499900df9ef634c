package bucketctl

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// herd is processes that all wait at one bucket with always more callers than
// tokens, and one more that comes late.
type herd struct {
	t     *testing.T
	limit Limit
	clock *redis.Client
	alive []*process
	late  *process
}

// gather returns when every process of the herd waits.
func gather(t *testing.T, processes, callers int, limit Limit) *herd {
	t.Helper()
	s := redistest.Start(t)
	j := job{URL: s.URL(), Key: "herd", Limit: limit, Work: "wait", Callers: callers, N: 1}
	h := &herd{t: t, limit: limit, clock: s.Client(t), alive: startProcesses(t, processes, j), late: startProcess(t, j)}
	h.late.await("ready", 1)
	releaseAll(h.alive)
	for _, p := range h.alive {
		p.await("start", 1)
	}
	return h
}

// kill ends the first n processes together, and tells when.
func (h *herd) kill(n int) time.Time {
	for _, p := range h.alive[:n] {
		p.kill()
	}
	h.alive = h.alive[n:]
	return serverTime(h.t, h.clock)
}

// used is which part of the rate those who live use from a time on.
func (h *herd) used(from time.Time, length time.Duration) float64 {
	h.t.Helper()
	until := from.Add(length)
	awaitServerTime(h.t, h.clock, until.Add(DefaultHorizon)) // who was charged ahead tells of it later
	for _, p := range h.alive {
		p.check()
	}
	return tokensBetween(h.alive, from, until) / (h.limit.Rate * length.Seconds())
}

// wantUsed asserts the least part of the rate that is used.
func (h *herd) wantUsed(least float64, from time.Time, length time.Duration) {
	h.t.Helper()
	got := h.used(from, length)
	h.t.Logf("%d processes are left, and use %.1f %% of the rate", len(h.alive), 100*got)
	if got < least {
		h.t.Errorf("%.3f of the rate is used, at least %v is wanted", got, least)
	}
}

// A process that dies while it waits takes nothing with it but its own
// reservations. The bounds are wide; the figures are the soak's.
func TestDeathOfOneCostsItsReservations(t *testing.T) {
	t.Parallel()
	h := gather(t, 10, 10, PerSecond(50).Burst(5))
	h.wantUsed(0.8, h.kill(1), 2*time.Second)
	endAll(h.alive)
}
