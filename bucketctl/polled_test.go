package bucketctl

import (
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// Allow, polled by another process as fast as it can, takes nothing from those
// who queue, and works at once when nobody does any more.
func TestPolledAllowTakesNothingFromProcessesThatWait(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	clock := s.Client(t)
	j := job{URL: s.URL(), Key: "polled", Limit: PerSecond(20).Burst(5), Work: "wait", Callers: 10, N: 1}
	waiting := startProcesses(t, 3, j)
	j.Work, j.Callers = "allow", 1
	polling := startProcess(t, j)
	polling.await("ready", 1)
	releaseAll(waiting)
	for _, p := range waiting {
		p.await("start", 3)
	}
	polling.release()
	from := serverTime(t, clock)
	until := from.Add(2 * time.Second)
	awaitServerTime(t, clock, until.Add(DefaultHorizon))
	if got := tokensBetween([]*process{polling}, from, until); got > 0 {
		t.Errorf("Allow took %v tokens from those who wait", got)
	}
	if got := tokensBetween(waiting, from, until); got < 30 {
		t.Errorf("those who wait got %v tokens of 40", got)
	}
	endAll(waiting)
	ended := serverTime(t, clock)
	polling.await("start", 10) // the capacity and more
	first := time.UnixMicro(polling.said("start")[0].At)
	t.Logf("Allow works %v after the last who waited has ended", first.Sub(ended))
	polling.end()
	if tries := polling.said("tries")[0].N; tries < 100 {
		t.Errorf("it was polled %v times only", tries)
	}
}
