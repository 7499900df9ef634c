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

// gather returns when every process of the herd has booked its turn for all of
// its callers. A hold lets all of them come before any of them asks.
func gather(t *testing.T, processes, callers int, horizon time.Duration) *herd {
	t.Helper()
	s := redistest.Start(t)
	limit, a := PerSecond(50).Burst(5), openAdmin(t, s)
	acquireN(t, mustBucket(t, patientClient(t, s), "herd", limit), 5)
	if _, err := a.Hold(t.Context(), "herd", AnyRev, NoEnd(), ""); err != nil {
		t.Fatal(err)
	}
	j := job{URL: s.URL(), Key: "herd", Limit: limit, Horizon: horizon, Work: "wait", Callers: callers, N: 1}
	h := &herd{t: t, limit: limit, clock: s.Client(t), alive: startProcesses(t, processes, j), late: startProcess(t, j)}
	h.late.await("ready", 1)
	releaseAll(h.alive)
	for _, p := range h.alive {
		p.await("rests", 1)
	}
	if _, err := a.Resume(t.Context(), "herd", AnyRev, ""); err != nil {
		t.Fatal(err)
	}
	each := min(float64(callers)/limit.Rate, horizon.Seconds())
	booked := time.Duration(0.8 * each * float64(processes) * float64(time.Second))
	awaitTrue(t, func() bool {
		turn, err := h.clock.HGet(t.Context(), "herd", "turn").Int64()
		return err == nil && time.UnixMicro(turn).Sub(serverTime(t, h.clock)) > booked
	})
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

// join lets the late process begin, and returns how long it waits.
func (h *herd) join() time.Duration {
	h.t.Helper()
	joined := serverTime(h.t, h.clock)
	h.late.release()
	h.late.await("start", 1)
	h.alive = append(h.alive, h.late)
	return time.UnixMicro(h.late.said("start")[0].At).Sub(joined)
}

// wantServed asserts the longest wait of the late process.
func (h *herd) wantServed(within time.Duration) {
	h.t.Helper()
	got := h.join()
	h.t.Logf("a new process waits for %v", got.Round(time.Millisecond))
	if got > within {
		h.t.Errorf("a new process waits for %v, at most %v is wanted", got, within)
	}
}

// A process that dies while it waits takes nothing with it but its own
// reservations. The bounds are wide; the figures are the soak's.
func TestDeathOfOneCostsItsReservations(t *testing.T) {
	t.Parallel()
	h := gather(t, 10, 10, DefaultHorizon)
	h.wantUsed(0.75, h.kill(1), 2*time.Second)
	endAll(h.alive)
}

// What many dead processes have booked keeps nobody for long, neither those who
// wait nor who comes anew. The longer horizon makes of twenty a queue as long
// as forty others are, 10 s. Who sees the queue dead voids it and wakes those who
// sleep in it.
func TestDeadHerdKeepsNobody(t *testing.T) {
	t.Parallel()
	h := gather(t, 20, 25, 500*time.Millisecond)
	h.kill(17)
	h.wantServed(recheck + 3*time.Second)
	h.wantUsed(0.75, serverTime(t, h.clock), 2*time.Second)
	endAll(h.alive)
}
