package report

import (
	"fmt"
	"strings"

	"bucketop/internal/bench/peer"
	"bucketop/internal/bench/trial"
)

// target is what bucketctl is to reach: a figure, relative to a peer's where
// one is named, that is at least or at most the bound.
type target struct {
	what    string
	setting trial.Setting
	shape   trial.Shape
	get     func(trial.Outcome) float64
	peer    string // empty: the figure itself
	to      trial.Shape
	atLeast bool
	bound   float64
}

func targets() []target {
	one, many, most := trial.Shape{Processes: 1, Goroutines: 1}, trial.Shape{Processes: 1, Goroutines: 256}, trial.Shape{Processes: 1, Goroutines: 1024}
	perTake := func(o trial.Outcome) float64 { return o.TakeMicros / o.Takes }
	perGrant := func(o trial.Outcome) float64 { return o.TakeMicros }
	return []target{
		{"256 goroutines: grants/s, relative to redis_rate", trial.Plenty, many, speed, peer.RedisRate, many, true, 25},
		{"256 goroutines: allocs per grant", trial.Plenty, many, func(o trial.Outcome) float64 { return o.Allocs }, "", many, false, 2},
		{"1 goroutine: latency (p50), relative to redis_rate", trial.Plenty, one, func(o trial.Outcome) float64 { return o.P50 }, peer.RedisRate, one, false, 1.3},
		{"1 goroutine, so batches of 1: server time of a take, relative to the article's script", trial.Plenty, one, perTake, peer.Article, one, false, 1.8},
		{"1,024 goroutines, so batches of 256: server time of takes per grant, relative to the article's script", trial.Plenty, most, perGrant, peer.Article, most, false, 0.06},
		{"1,024 waiters, shortage: takes per grant (reports come on top)", trial.Short, most, func(o trial.Outcome) float64 { return o.Takes }, "", most, false, 0.1},
		{"1,024 waiters, shortage: part of the allowance used", trial.Short, most, func(o trial.Outcome) float64 { return o.Used }, "", most, true, 0.99},
		{"1,024 waiters, shortage: grants above the bound, by server time", trial.Short, most, func(o trial.Outcome) float64 { return o.Over }, "", most, false, grain},
	}
}

// Targets lists what bucketctl is to reach, and whether it did.
func (r Report) Targets() string {
	var b strings.Builder
	for _, t := range targets() {
		b.WriteString("- " + r.judge(t) + "\n")
	}
	return b.String()
}

func (r Report) judge(t target) string {
	q, ok := r.measured(t)
	if !ok {
		return "not measured: " + t.what
	}
	verdict, word, reached := "MISSED", "at most", q.median <= t.bound
	if t.atLeast {
		word, reached = "at least", q.median >= t.bound
	}
	if reached { // not so where the figure is NaN
		verdict = "met"
	}
	return fmt.Sprintf("%s: %s: %s, wanted %s %s (rounds: %s to %s)",
		verdict, t.what, digits(q.median), word, digits(t.bound), digits(q.least), digits(q.most))
}

func (r Report) measured(t target) (ratio, bool) {
	own := r.find(t.setting, t.shape, peer.Bucketctl)
	if t.peer == "" {
		return absolute(own, t.get)
	}
	return relative(own, r.find(t.setting, t.to, t.peer), t.get)
}
