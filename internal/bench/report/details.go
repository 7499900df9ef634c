package report

import (
	"bucketop/internal/bench/peer"
	"bucketop/internal/bench/trial"
)

// Details is every figure of a setting: a line for each shape and peer.
func (r Report) Details(setting trial.Setting) string {
	head := []string{
		"", "processes", "goroutines", "grants/s", "server µs", "grants/s", "p50", "p99",
		"allocs", "Redis calls", "of them takes", "server µs", "failed calls",
	}
	if setting == trial.Short {
		head = append(head, "used", "above", "clock")
	}
	head = append(head, "Jain")
	var rows [][]string
	for _, shape := range r.shapes(setting) {
		for _, name := range r.peers() {
			if rounds := r.find(setting, shape, name); len(rounds) > 0 {
				rows = append(rows, r.detail(setting, shape, name))
			}
		}
	}
	return table(head, rows)
}

func (r Report) detail(setting trial.Setting, shape trial.Shape, name string) []string {
	rounds := r.find(setting, shape, name)
	base := r.find(setting, shape, peer.RedisRate)
	m := trial.Median(rounds)
	cells := []string{
		name, grouped(shape.Processes), grouped(shape.Goroutines),
		relativeCell(rounds, base, speed), relativeCell(rounds, base, serverTime),
		number(m.GrantsPerSecond), latency(m.P50), latency(m.P99), number(m.Allocs),
		number(m.Calls), number(m.Takes), number(m.Micros), number(m.Failures),
	}
	if setting == trial.Short {
		cells = append(cells, percent(m.Used), whole(m.Over), clockOf(name))
	}
	return append(cells, number(m.Jain))
}

func relativeCell(own, base []trial.Outcome, get func(trial.Outcome) float64) string {
	q, ok := relative(own, base, get)
	if !ok || q.median == 0 {
		return nothing
	}
	return times(q.median)
}

// clockOf says whose clock a peer's starts were taken by.
func clockOf(name string) string {
	for _, p := range peer.All() {
		if p.Name == name && p.Stamps {
			return "server"
		}
	}
	return "receiver"
}
