package report

import (
	"math"
	"strings"
	"testing"

	"bucketop/internal/bench/peer"
	"bucketop/internal/bench/trial"
)

func TestFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{number(0), "0"},
		{number(0.08123), "0.0812"},
		{number(0.00001), "0"},
		{number(1), "1"},
		{number(9876), "9876"},
		{number(31415), "31.4k"},
		{number(2_500_000), "2.5M"},
		{number(math.NaN()), nothing},
		{times(33.333), "33.3x"},
		{times(math.Inf(1)), nothing},
		{percent(0.998), "99.8 %"},
		{latency(195), "195 ns"},
		{latency(31_100), "31.1 µs"},
		{latency(1_990_000_000), "1.99 s"},
		{latency(0), nothing},
		{grouped(1), "1"},
		{grouped(1024), "1,024"},
		{whole(0.9), "0"},
		{whole(0.9999), "1"},
		{whole(44.3), "44"},
	} {
		if c.got != c.want {
			t.Errorf("%q, not %q", c.got, c.want)
		}
	}
}

func named(name string) peer.Peer { return peer.Peer{Name: name} }

// measured is a report of two peers in two rounds: bucketctl is 30 and 40 times
// as fast.
func measured() Report {
	shape := trial.Shape{Processes: 1, Goroutines: 256}
	none := math.NaN()
	var r Report
	for _, speed := range []struct{ ours, theirs float64 }{{300, 10}, {800, 20}} {
		r.Add(trial.Trial{Setting: trial.Plenty, Shape: shape, Peer: named(peer.RedisRate)},
			trial.Outcome{GrantsPerSecond: speed.theirs, Micros: 8, Allocs: 22, Used: none, Over: none, Jain: none})
		r.Add(trial.Trial{Setting: trial.Plenty, Shape: shape, Peer: named(peer.Bucketctl)},
			trial.Outcome{GrantsPerSecond: speed.ours, Micros: 2, Allocs: 3, Used: none, Over: none, Jain: none})
	}
	return r
}

func TestOverviewHasRatiosFirst(t *testing.T) {
	want := `|  | grants/s, 256 | server µs per grant, 256 | allocs per grant |
| --- | --: | --: | --: |
| bucketctl | 36.7x | 0.25x | 3 |
| redis_rate | 15/s | 8 µs | 22 |
`
	if got := measured().Overview(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestOverviewTellsTakesApart(t *testing.T) {
	for want, o := range map[string]trial.Outcome{
		"508":                {Calls: 508, Takes: 508},
		"0.137 (0.09 takes)": {Calls: 0.137, Takes: 0.09},
		"0":                  {},
	} {
		r := Report{{trial.Short, trial.Shape{Processes: 1, Goroutines: 1}, "x", []trial.Outcome{o}}}
		if got := callsCell(r, column{setting: trial.Short, shape: trial.Shape{Processes: 1, Goroutines: 1}}, "x"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestDetailsHaveALineForEachPeer(t *testing.T) {
	r := measured()
	lines := strings.Split(strings.TrimSpace(r.Details(trial.Plenty)), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines, not a head, a rule and two peers", len(lines))
	}
	for _, line := range lines {
		if strings.Count(line, "|") != strings.Count(lines[0], "|") {
			t.Errorf("%q has not as many cells as the head", line)
		}
	}
	if !strings.HasPrefix(lines[2], "| bucketctl | 1 | 256 | 36.7x | 0.25x | 550 |") {
		t.Errorf("bucketctl's line is %q", lines[2])
	}
}

func TestTargetsSayMetMissedOrNotMeasured(t *testing.T) {
	got := strings.Split(strings.TrimSpace(measured().Targets()), "\n")
	for i, want := range []string{
		"- met: 256 goroutines: grants/s, relative to redis_rate: 36.7, wanted at least 25 (rounds: 30 to 40)",
		"- MISSED: 256 goroutines: allocs per grant: 3, wanted at most 2 (rounds: 3 to 3)",
	} {
		if got[i] != want {
			t.Errorf("got  %s\nwant %s", got[i], want)
		}
	}
	for _, line := range got[2:] {
		if !strings.HasPrefix(line, "- not measured: ") {
			t.Errorf("nothing is known of %q", line)
		}
	}
}

// Figures that are none must not pass for a target that is met.
func TestATargetWithoutAFigureIsMissed(t *testing.T) {
	r := measured()
	for i := range r {
		for j := range r[i].Rounds {
			r[i].Rounds[j].GrantsPerSecond = math.NaN()
		}
	}
	if got := r.Targets(); !strings.HasPrefix(got, "- MISSED: ") {
		t.Errorf("got %s", got)
	}
}
