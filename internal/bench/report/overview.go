package report

import (
	"math"

	"bucketop/internal/bench/peer"
	"bucketop/internal/bench/trial"
)

// column is one column of the overview: a figure in one shape.
type column struct {
	head    string
	setting trial.Setting
	shape   trial.Shape
	cell    func(r Report, c column, name string) string
}

// Overview is the one table for README: a line for each peer.
func (r Report) Overview() string {
	columns := r.columns()
	head := []string{""}
	for _, c := range columns {
		head = append(head, c.head)
	}
	var rows [][]string
	for _, name := range r.peers() {
		row := []string{name}
		for _, c := range columns {
			row = append(row, c.cell(r, c, name))
		}
		rows = append(rows, row)
	}
	return table(head, rows)
}

// columns are picked from what was measured: speed in each shape of one
// process, and in the largest of the most processes; what a grant costs in the
// shape nearest to 256 goroutines; and how one process and the most of them
// wait.
func (r Report) columns() []column {
	var out []column
	for _, s := range picked(r.shapes(trial.Plenty)) {
		out = append(out, column{"grants/s, " + title(s), trial.Plenty, s, ratioCell(speed, "/s")})
	}
	if s, ok := nearest(r.shapes(trial.Plenty)); ok {
		out = append(out,
			column{"server µs per grant, " + title(s), trial.Plenty, s, ratioCell(serverTime, " µs")},
			column{"allocs per grant", trial.Plenty, s, plainCell(func(o trial.Outcome) float64 { return o.Allocs }, number)})
	}
	for _, s := range ends(r.shapes(trial.Short)) {
		out = append(out,
			column{"short of tokens, " + title(s) + ": calls per grant", trial.Short, s, callsCell},
			column{"used", trial.Short, s, plainCell(func(o trial.Outcome) float64 { return o.Used }, percent)},
			column{"above the bound", trial.Short, s, plainCell(func(o trial.Outcome) float64 { return o.Over }, whole)})
		if s.Processes > 1 {
			out = append(out, column{"Jain", trial.Short, s, plainCell(func(o trial.Outcome) float64 { return o.Jain }, number)})
		}
	}
	return out
}

func speed(o trial.Outcome) float64      { return o.GrantsPerSecond }
func serverTime(o trial.Outcome) float64 { return o.Micros }

// ratioCell writes a figure relative to redis_rate's, and redis_rate's own as
// it is.
func ratioCell(get func(trial.Outcome) float64, unit string) func(Report, column, string) string {
	return func(r Report, c column, name string) string {
		own, base := r.find(c.setting, c.shape, name), r.find(c.setting, c.shape, peer.RedisRate)
		if len(own) == 0 || get(trial.Median(own)) == 0 {
			return nothing
		}
		if name == peer.RedisRate || len(base) == 0 {
			return number(get(trial.Median(own))) + unit
		}
		q, _ := relative(own, base, get)
		return times(q.median)
	}
}

func plainCell(get func(trial.Outcome) float64, write func(float64) string) func(Report, column, string) string {
	return func(r Report, c column, name string) string {
		own := r.find(c.setting, c.shape, name)
		if len(own) == 0 {
			return nothing
		}
		return write(get(trial.Median(own)))
	}
}

// callsCell tells takes apart where a peer sends much besides.
func callsCell(r Report, c column, name string) string {
	own := r.find(c.setting, c.shape, name)
	if len(own) == 0 {
		return nothing
	}
	m := trial.Median(own)
	if m.Takes > 0.95*m.Calls || m.Takes == 0 {
		return number(m.Calls)
	}
	return number(m.Calls) + " (" + number(m.Takes) + " takes)"
}

// whole writes how many grants were too many. Less than one is the grain of
// time, not a grant.
func whole(v float64) string {
	if math.IsNaN(v) {
		return nothing
	}
	return number(math.Floor(v + grain))
}

// grain is what rounding of times to microseconds may take from a whole grant.
const grain = 0.01

func title(s trial.Shape) string {
	if s.Processes == 1 {
		return grouped(s.Goroutines)
	}
	return grouped(s.Goroutines) + " in " + grouped(s.Processes) + " processes"
}

// picked are the shapes of the fewest processes, and the last.
func picked(shapes []trial.Shape) (out []trial.Shape) {
	for i, s := range shapes {
		if s.Processes == shapes[0].Processes || i == len(shapes)-1 {
			out = append(out, s)
		}
	}
	return out
}

// ends are the first and the last shape, once where they are the same.
func ends(shapes []trial.Shape) []trial.Shape {
	if len(shapes) < 2 {
		return shapes
	}
	return []trial.Shape{shapes[0], shapes[len(shapes)-1]}
}

// nearest is the shape of the fewest processes that is nearest to 256
// goroutines.
func nearest(shapes []trial.Shape) (best trial.Shape, ok bool) {
	const wanted = 256
	off := func(s trial.Shape) float64 { return math.Abs(math.Log(float64(s.Goroutines) / wanted)) }
	for _, s := range shapes {
		if s.Processes == shapes[0].Processes && (!ok || off(s) < off(best)) {
			best, ok = s, true
		}
	}
	return best, ok
}
