// Package report writes what a run measured as markdown: the table for README,
// all figures, and the targets. It does no I/O.
package report

import (
	"math"
	"slices"

	"bucketop/internal/bench/peer"
	"bucketop/internal/bench/trial"
)

// Row is one peer in one shape and setting, with the outcome of each round in
// order. The rounds of different rows belong together by their index.
type Row struct {
	Setting trial.Setting
	Shape   trial.Shape
	Peer    string
	Rounds  []trial.Outcome
}

// Report is all that a run measured, in the order of the table.
type Report []Row

// Add appends one round's outcome to its row, and makes the row where it is the
// first.
func (r *Report) Add(t trial.Trial, o trial.Outcome) {
	for i := range *r {
		row := &(*r)[i]
		if row.is(t.Setting, t.Shape, t.Peer.Name) {
			row.Rounds = append(row.Rounds, o)
			return
		}
	}
	*r = append(*r, Row{t.Setting, t.Shape, t.Peer.Name, []trial.Outcome{o}})
}

func (r Row) is(setting trial.Setting, shape trial.Shape, name string) bool {
	return r.Setting == setting && r.Shape == shape && r.Peer == name
}

// find returns the row's rounds; none where it was not measured.
func (r Report) find(setting trial.Setting, shape trial.Shape, name string) []trial.Outcome {
	for _, row := range r {
		if row.is(setting, shape, name) {
			return row.Rounds
		}
	}
	return nil
}

// shapes are those measured in a setting, by processes and then by goroutines.
func (r Report) shapes(setting trial.Setting) []trial.Shape {
	var out []trial.Shape
	for _, row := range r {
		if row.Setting == setting && !slices.Contains(out, row.Shape) {
			out = append(out, row.Shape)
		}
	}
	return out
}

// peers are those measured, each once.
func (r Report) peers() []string {
	var out []string
	for _, p := range peer.All() {
		if slices.ContainsFunc(r, func(row Row) bool { return row.Peer == p.Name }) {
			out = append(out, p.Name)
		}
	}
	return out
}

// ratio is a figure of one row relative to another's: of the medians, and the
// least and largest of the rounds, each of which ran the two close together.
type ratio struct {
	median, least, most float64
}

// absolute is a figure of one row, relative to nothing.
func absolute(of []trial.Outcome, get func(trial.Outcome) float64) (ratio, bool) {
	return summary(of, get(trial.Median(of)), func(i int) float64 { return get(of[i]) })
}

// relative returns false where one of the two was not measured.
func relative(of, to []trial.Outcome, get func(trial.Outcome) float64) (ratio, bool) {
	of, to = of[:min(len(of), len(to))], to[:min(len(of), len(to))]
	return summary(of, get(trial.Median(of))/get(trial.Median(to)), func(i int) float64 { return get(of[i]) / get(to[i]) })
}

func summary(rounds []trial.Outcome, median float64, each func(round int) float64) (ratio, bool) {
	if len(rounds) == 0 {
		return ratio{}, false
	}
	out := ratio{median, math.Inf(1), math.Inf(-1)}
	for i := range rounds {
		out.least, out.most = min(out.least, each(i)), max(out.most, each(i))
	}
	return out, true
}
