package bucketctl

import (
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// beatsOf lets one worker beat each interval for so many beats; live is the
// count at each. It returns what is believed after each.
func beatsOf(c *census, from time.Time, live ...int) (believed []int, next time.Time) {
	now := from
	for _, n := range live {
		c.see(now, n)
		believed = append(believed, c.count)
		now = now.Add(intervalOf(n))
	}
	return believed, now
}

func TestMoreWorkersCountAtOnce(t *testing.T) {
	c := newCensus(Config{Workers: 2})
	if c.count != 2 {
		t.Fatalf("before anything is seen: %d", c.count)
	}
	if got, _ := beatsOf(&c, simStart(), 1, 3, 40); got[0] != 2 || got[1] != 3 || got[2] != 40 {
		t.Errorf("believed %v after 1, 3, 40 live with a floor of 2", got)
	}
}

func TestUnknownWorkersAreAssumedUntilSeenForAWhile(t *testing.T) {
	c := newCensus(Config{})
	got, _ := beatsOf(&c, simStart(), 1, 1, 1, 1, 1)
	want := []int{16, 16, 16, 1, 1} // 15 s after the first
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("believed %v, want %v", got, want)
		}
	}
}

// The registry vanished: the first beat after it finds only itself, the others
// come back one by one within their intervals.
func TestAVanishedRegistryIsNotOneWorker(t *testing.T) {
	c := newCensus(Config{Workers: 2})
	_, now := beatsOf(&c, simStart(), 10, 10)
	got, _ := beatsOf(&c, now, 1, 10, 10)
	for i, n := range got {
		if n != 10 {
			t.Errorf("beat %d after the registry vanished: %d workers believed, want 10", i+1, n)
		}
	}
}

// A fleet that has shrunk is believed at last, and the largest of the lower
// counts is what holds.
func TestFewerWorkersAreBelievedLate(t *testing.T) {
	c := newCensus(Config{})
	_, now := beatsOf(&c, simStart(), 400) // which beat every 20 s
	shrunk := now
	for c.count == 400 {
		live := 5
		if now.Sub(shrunk) == 10*time.Second {
			live = 7
		}
		c.see(now, live)
		now = now.Add(beatInterval)
	}
	if took := now.Sub(shrunk) - beatInterval; took != 60*time.Second || c.count != 7 {
		t.Errorf("%d believed after %v, want 7 after 60s", c.count, took)
	}
}

// While Redis can't be asked nothing is seen: what was seen before the gap says
// nothing about a registry that is empty after it.
func TestAGapBeginsAnew(t *testing.T) {
	c := newCensus(Config{Workers: 1})
	_, now := beatsOf(&c, simStart(), 10, 9)
	for range 3 {
		now = now.Add(time.Minute)
		c.see(now, 1)
		if c.count != 10 {
			t.Fatalf("after a gap %d workers are believed, want 10", c.count)
		}
	}
	if got, _ := beatsOf(&c, now.Add(beatInterval), 8, 8, 8); got[2] != 8 {
		t.Errorf("after 15 s without a gap %v are believed, want 8", got)
	}
}

// A fleet that starts all at once: the first beat of each sees those before it.
// Would the second come an interval later, and Redis go before that, the shares
// would be a multiple of the rate.
func TestTheSecondBeatComesEarly(t *testing.T) {
	for live, want := range map[int]time.Duration{1: time.Second, 100: time.Second, 1000: 10 * time.Second} {
		p := newPulse("k", Config{})
		p.beaten(simStart(), live, intervalOf(live))
		if p.due(simStart().Add(want*3/4-time.Millisecond)) || !p.due(simStart().Add(want)) {
			t.Errorf("%d live: the second beat is due after %v, want %v", live, p.next.Sub(simStart()), want)
		}
		later := simStart().Add(want)
		p.beaten(later, live, intervalOf(live))
		if p.due(later.Add(intervalOf(live)*3/4 - time.Millisecond)) {
			t.Errorf("%d live: the third is due after %v", live, p.next.Sub(later))
		}
	}
}

// hurried lets the Client's beats be due now, and waits for them.
func (c *Client) hurried(t *testing.T) {
	t.Helper()
	if err := c.beat(t.Context(), c.pulses(), beatInterval); err != nil {
		t.Fatal(err)
	}
}

func TestWorkersCountEachOther(t *testing.T) {
	s := redistest.Start(t)
	clients := make([]*Client, 5)
	for i := range clients {
		clients[i] = patientClient(t, s, func(c *Config) { c.Workers = 0 })
		mustBucket(t, clients[i], "k", PerSecond(10))
		mustBucket(t, clients[i], "other", PerSecond(10))
	}
	limiter := mustBucket(t, clients[0], "k", PerSecond(10))
	live := func() int64 { return s.Client(t).ZCard(t.Context(), limiter.pulse.key).Val() }
	awaitTrue(t, func() bool { return live() == 5 }) // by beats in time
	limiter.pulse.mu.Lock()
	limiter.pulse.census.count = 1 // as a worker that was alone for long
	limiter.pulse.mu.Unlock()
	clients[0].hurried(t)
	if b := limiter.report(); b.Workers != 5 || b.Share != 2 {
		t.Errorf("reported %d workers, a share of %v, want 5 and 2", b.Workers, b.Share)
	}
	for _, c := range clients[1:] {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := live(); got != 1 {
		t.Errorf("after four have closed %d are in the registry", got)
	}
	clients[0].hurried(t)
	if got := limiter.workers(); got != 5 {
		t.Errorf("at once after that %d are believed: nobody can know yet that they left", got)
	}
}

// FLUSHALL takes the scripts, too: the beats bring both back.
func TestBeatsSurviveAFlush(t *testing.T) {
	s := redistest.Start(t)
	a, b := patientClient(t, s), patientClient(t, s)
	limiter := mustBucket(t, a, "k", PerSecond(10))
	mustBucket(t, b, "k", PerSecond(10))
	a.hurried(t)
	b.hurried(t)
	do(t, s.Client(t), []any{"FLUSHALL"}, []any{"SCRIPT", "FLUSH"})
	a.hurried(t)
	if got := limiter.workers(); got != 2 {
		t.Errorf("after FLUSHALL %d workers are believed, want 2", got)
	}
	b.hurried(t)
	if got := s.Client(t).ZCard(t.Context(), limiter.pulse.key).Val(); got != 2 {
		t.Errorf("%d in the registry after both beat again", got)
	}
}
