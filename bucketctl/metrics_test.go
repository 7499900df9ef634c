package bucketctl

import (
	"math"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

func TestStatsOfAClient(t *testing.T) {
	s := redistest.Start(t)
	c := patientClient(t, s)
	l := mustBucket(t, c, "k", PerSecond(1000).Burst(10))
	for range 3 {
		if err := l.WaitN(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
	}
	l.report() // begins another interval of the quantiles, and nothing else
	got := c.Stats()
	if len(got.Buckets) != 1 || got.Worker != c.self.ID || got.Workers < 1 || got.Transitions != 0 {
		t.Fatalf("%+v", got)
	}
	b := got.Buckets[0]
	if b.Key != "k" || b.Granted != 6 || b.Mode != ModeShared || b.Workers != 2 || b.Share != 500 || b.Calls < 1 || b.Failures != 0 || math.IsNaN(b.Level) {
		t.Errorf("%+v", b)
	}
	if b.Waits.Count != 3 || b.CallTimes.Count != uint64(b.Calls) || b.Waits.Buckets[900] != 3 || b.CallTimes.Sum <= 0 {
		t.Errorf("waits %+v, calls %+v", b.Waits, b.CallTimes)
	}
}

// What Redis refuses is refused to the bucket's own call, whoever else asks.
func TestStatsCountFailures(t *testing.T) {
	s := redistest.Start(t)
	do(t, s.Client(t), []any{"ACL", "SETUSER", "w", "on", ">p", "~*", "&*", "+@all", "-time"})
	c := patientClient(t, s, func(c *Config) { c.URL = "redis://w:p@" + s.Addr })
	if _, err := mustBucket(t, c, "k", PerSecond(10)).Allow(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := c.Stats()
	b := got.Buckets[0]
	if got.Transitions != 1 || b.Calls != 1 || b.Failures != 1 || b.Mode != ModeShare || b.Reason == "" || b.Since.IsZero() {
		t.Errorf("%+v", got)
	}
}

func TestDistributionsAreCumulative(t *testing.T) {
	var d distribution
	for _, v := range []time.Duration{0, time.Millisecond, 2 * time.Millisecond, time.Second, time.Hour} {
		d.add(waitBounds(), v)
	}
	h := d.histogram(waitBounds())
	for bound, want := range map[float64]uint64{0.001: 2, 0.005: 3, 0.5: 3, 1: 4, 900: 4} {
		if h.Buckets[bound] != want {
			t.Errorf("%d at %v s or less, want %d", h.Buckets[bound], bound, want)
		}
	}
	if h.Count != 5 || math.Abs(h.Sum-3601.003) > 1e-9 {
		t.Errorf("%d durations, %v s", h.Count, h.Sum)
	}
}
