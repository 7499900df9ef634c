package figure

import (
	"math"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3, 1, 2}, 2},
		{[]float64{4, 1, 2, 3}, 2.5},
		{[]float64{7, math.NaN()}, 7},
	} {
		if got := Median(c.values); got != c.want {
			t.Errorf("the median of %v is %v, not %v", c.values, got, c.want)
		}
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}

func TestJain(t *testing.T) {
	if got := Jain([]float64{5, 5, 5, 5}); got != 1 {
		t.Errorf("equal parts have %v, not 1", got)
	}
	if got := Jain([]float64{8, 0, 0, 0}); got != 0.25 {
		t.Errorf("one of four having everything has %v, not a quarter", got)
	}
}

// A bucket of 2 at 10 per second.
func TestOverIssue(t *testing.T) {
	const tenth = 100_000
	for name, c := range map[string]struct {
		starts []int64
		want   float64
	}{
		"nothing":             {nil, 0},
		"full, then the rate": {[]int64{0, 0, tenth, 2 * tenth, 3 * tenth}, 0},
		"slower":              {[]int64{0, 10 * tenth, 20 * tenth}, 0},
		"unsorted":            {[]int64{2 * tenth, 0, tenth, 0}, 0},
		"one too many":        {[]int64{0, 0, 0}, 1},
		"late, after a pause": {[]int64{0, 50 * tenth, 50 * tenth, 50 * tenth, 51 * tenth, 51 * tenth}, 2},
		"twice the rate":      {[]int64{0, tenth / 2, tenth, 3 * tenth / 2, 2 * tenth, 5 * tenth / 2}, 6 - 2 - 2.5},
	} {
		if got := OverIssue(c.starts, 2, 10); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v above, not %v", name, got, c.want)
		}
	}
}

func TestLatencyKnowsEachDurationToItsStep(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 63, 64, 127, 128, 1000, 123456, time.Millisecond, 3 * time.Second, time.Minute} {
		var l Latency
		l.Add(d)
		got := l.Quantile(0.5)
		if off := math.Abs(float64(got - d)); off > float64(d)/fine {
			t.Errorf("%v is told as %v", d, got)
		}
	}
	var l Latency
	l.Add(time.Hour) // beyond the last step
	if got := l.Quantile(1); got < time.Minute {
		t.Errorf("an hour is told as %v", got)
	}
}

func TestQuantilesOfSeveralLatencies(t *testing.T) {
	var a, b Latency
	for i := range 98 {
		a.Add(time.Duration(i % 10))
	}
	b.Add(time.Second)
	b.Add(time.Second)
	a.Merge(&b)
	if got := a.Quantile(0.5); got > 10 {
		t.Errorf("p50 is %v", got)
	}
	if got := a.Quantile(0.99); got < 900*time.Millisecond {
		t.Errorf("p99 is %v", got)
	}
	if got := new(Latency).Quantile(0.5); got != 0 {
		t.Errorf("nothing has a p50 of %v", got)
	}
}

func TestCommands(t *testing.T) {
	before := ParseCommands("# Commandstats\r\ncmdstat_get:calls=1,usec=2,usec_per_call=2.00,rejected_calls=0,failed_calls=0\r\n")
	after := ParseCommands("cmdstat_get:calls=4,usec=11,usec_per_call=2.75\r\n" +
		"cmdstat_evalsha:calls=2,usec=20,usec_per_call=10.00\r\ncmdstat_client|setinfo:calls=1,usec=1\r\n")
	done := after.Since(before)
	if got := done["get"]; got != (Command{3, 9}) {
		t.Errorf("get did %v", got)
	}
	if got := done.Without("client|setinfo").Total(); got != (Command{5, 29}) {
		t.Errorf("together %v", got)
	}
	if got := done.Scripts(); got != (Command{2, 20}) {
		t.Errorf("scripts did %v", got)
	}
	if got := done.Only("get", 1)["get"]; got != (Command{1, 3}) {
		t.Errorf("a third of get did %v", got)
	}
	if got := done.Only("get", 0).Total().Calls; got != 3 {
		t.Errorf("without get %v calls", got)
	}
	if got := after.Since(after); len(got) > 0 {
		t.Errorf("nothing was done, but %v is told", got)
	}
}
