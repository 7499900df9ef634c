package trial

import (
	"math"
	"time"

	"bucketop/internal/bench/child"
	"bucketop/internal/bench/figure"
)

// Outcome is what one trial, or the median of several, showed. NaN is for what
// does not apply.
type Outcome struct {
	GrantsPerSecond float64
	P50, P99        float64 // of a grant's latency, nanoseconds
	Allocs          float64 // per grant
	Calls           float64 // commands sent to Redis, per grant
	Takes           float64 // of these, runs of scripts
	Micros          float64 // of the server, for all commands, per grant
	TakeMicros      float64 // of the server, for runs of scripts, per grant
	Failures        float64 // failed calls per grant
	Used            float64 // part of capacity + rate x time that was granted
	Over            float64 // grants above the bound in the worst span
	Jain            float64 // over processes
	Failure         string  // one of the errors
}

func (t Trial) outcome(began time.Time, results []child.Result, commands figure.Commands) Outcome {
	var sum child.Result
	var parts []float64
	o := Outcome{Used: math.NaN(), Over: math.NaN(), Jain: math.NaN()}
	for _, r := range results {
		sum.Grants += r.Grants
		sum.Failures += r.Failures
		sum.Allocs += r.Allocs
		sum.Latency.Merge(&r.Latency)
		sum.Starts = append(sum.Starts, r.Starts...)
		parts = append(parts, float64(r.Grants))
		o.GrantsPerSecond += float64(r.Grants) / r.Elapsed.Seconds()
		if r.Failure != "" {
			o.Failure = r.Failure
		}
	}
	n := float64(sum.Grants)
	sent := t.Peer.Sent(commands)
	o.P50, o.P99 = float64(sum.Latency.Quantile(0.5)), float64(sum.Latency.Quantile(0.99))
	o.Allocs, o.Failures = float64(sum.Allocs)/n, float64(sum.Failures)/n
	o.Calls, o.Micros = sent.Total().Calls/n, sent.Total().Micros/n
	o.Takes, o.TakeMicros = sent.Scripts().Calls/n, sent.Scripts().Micros/n
	if len(parts) > 1 {
		o.Jain = figure.Jain(parts)
	}
	if t.Setting == Short {
		o.Used, o.Over = allowance(sum.Starts, began, t.Length)
	}
	return o
}

// allowance holds the starts against what the bucket allows.
func allowance(starts []int64, began time.Time, length time.Duration) (used, over float64) {
	limit := ShortLimit()
	end := began.Add(length).UnixMicro()
	within := 0
	for _, t := range starts {
		if t <= end {
			within++
		}
	}
	allowed := float64(limit.Capacity) + float64(limit.Rate)*length.Seconds()
	return float64(within) / allowed, figure.OverIssue(starts, float64(limit.Capacity), float64(limit.Rate))
}

// Median is the median of each figure on its own.
func Median(rounds []Outcome) Outcome {
	of := func(get func(Outcome) float64) float64 {
		values := make([]float64, len(rounds))
		for i, r := range rounds {
			values[i] = get(r)
		}
		return figure.Median(values)
	}
	m := Outcome{
		GrantsPerSecond: of(func(o Outcome) float64 { return o.GrantsPerSecond }),
		P50:             of(func(o Outcome) float64 { return o.P50 }),
		P99:             of(func(o Outcome) float64 { return o.P99 }),
		Allocs:          of(func(o Outcome) float64 { return o.Allocs }),
		Calls:           of(func(o Outcome) float64 { return o.Calls }),
		Takes:           of(func(o Outcome) float64 { return o.Takes }),
		Micros:          of(func(o Outcome) float64 { return o.Micros }),
		TakeMicros:      of(func(o Outcome) float64 { return o.TakeMicros }),
		Failures:        of(func(o Outcome) float64 { return o.Failures }),
		Used:            of(func(o Outcome) float64 { return o.Used }),
		Over:            of(func(o Outcome) float64 { return o.Over }),
		Jain:            of(func(o Outcome) float64 { return o.Jain }),
	}
	for _, r := range rounds {
		if r.Failure != "" {
			m.Failure = r.Failure
		}
	}
	return m
}
