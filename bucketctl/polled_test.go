package bucketctl

import (
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// Allow, polled by another process as fast as it can, takes nothing from those
// who queue, also while the level rises to what they need, and works at once
// when nobody does any more.
func TestPolledAllowTakesNothingFromProcessesThatWait(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	clock := s.Client(t)
	j := job{URL: s.URL(), Key: "polled", Limit: PerSecond(40).Burst(5), Horizon: 20 * time.Millisecond, Work: "wait", Callers: 10, N: 4}
	waiting := startProcesses(t, 3, j)
	j.Work, j.Callers, j.N = "allow", 1, 1
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
	stolen, got := tokensBetween([]*process{polling}, from, until), tokensBetween(waiting, from, until)
	t.Logf("of 80 tokens those who wait got %v, Allow %v", got, stolen)
	// None, but where a busy machine makes those whose turn it is come late: then
	// nobody waits as far as the bucket can know. Barging in it would take most.
	if stolen > 16 || got < 50 {
		t.Errorf("of 80 tokens those who wait got %v, Allow %v", got, stolen)
	}
	told := serverTime(t, clock)
	endAll(waiting)
	ended := serverTime(t, clock)
	awaitServerTime(t, clock, ended.Add(time.Second))
	if tokensBetween([]*process{polling}, ended, ended.Add(time.Second)) == 0 {
		t.Errorf("Allow gets nothing in a second after the last who waited has ended")
	}
	for _, l := range polling.said("start") {
		if l.At > told.UnixMicro() {
			t.Logf("Allow works %v after they were told to end, which takes %v", time.UnixMicro(l.At).Sub(told), ended.Sub(told))
			break
		}
	}
	polling.end()
	if tries := polling.said("tries")[0].N; tries < 100 {
		t.Errorf("it was polled %v times only", tries)
	}
}
