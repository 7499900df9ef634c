package watch

import (
	"math"
	"slices"
	"testing"
	"time"
)

// same compares with NaN equal to NaN, to a millionth.
func same(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-6
}

func TestCounterTellsTheRateOfTheLastFiveSeconds(t *testing.T) {
	nan := math.NaN()
	type step struct {
		at, value   float64
		grown, rate float64 // after the step
	}
	tests := []struct {
		name  string
		steps []step
	}{
		{"one reading tells nothing", []step{{0, 100, nan, nan}}},
		{"two tell the rate between them", []step{{0, 100, nan, nan}, {1, 110, 10, 10}}},
		{"what is older than 5 s no longer counts", []step{
			{0, 0, nan, nan}, {1, 100, 100, 100}, {2, 100, 0, 50}, {3, 100, 0, 100. / 3},
			{4, 100, 0, 25}, {5, 100, 0, 20}, {6, 100, 0, 0}}},
		{"a quick refresh does not shorten the span", []step{
			{0, 0, nan, nan}, {0.25, 10, 10, nan}, {0.5, 20, 10, nan}, {0.75, 30, 10, 40}, {1, 40, 10, 40}}},
		{"going down is a restart, not a negative rate", []step{
			{0, 1000, nan, nan}, {1, 1010, 10, 10}, {2, 3, nan, nan}, {3, 8, 5, 5}}},
		{"so is a clock that goes back", []step{{100, 10, nan, nan}, {101, 20, 10, 10}, {50, 30, nan, nan}, {51, 31, 1, 1}}},
		{"an average over minutes is not lately", []step{{0, 0, nan, nan}, {100, 500, 500, nan}, {101, 505, 5, 5}}},
		{"a value that is no number is no reading", []step{{0, 0, nan, nan}, {1, nan, nan, nan}, {2, 10, 10, 5}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var c counter
			for _, step := range test.steps {
				grown := c.add(at(step.at), step.value)
				rate := c.rate(at(step.at), 15*time.Second)
				if !same(grown, step.grown) || !same(rate, step.rate) {
					t.Fatalf("at %v s: grown %v, rate %v, want %v and %v", step.at, grown, rate, step.grown, step.rate)
				}
			}
		})
	}
}

func TestCounterKeepsTheSpanHoweverOftenItIsRead(t *testing.T) {
	var c counter
	for i := range 1000 { // 10/s, read each 100 ms
		c.add(at(float64(i)/10), float64(i))
		if i < 60 {
			continue
		}
		if rate := c.rate(at(float64(i)/10), 15*time.Second); !same(rate, 10) {
			t.Fatalf("reading %d: rate %v", i, rate)
		}
		if span := c.last.at.Sub(c.kept[0].at); span < 4*time.Second || span > 7*time.Second {
			t.Fatalf("reading %d: the span is %v", i, span)
		}
	}
}

func TestCounterGoesStale(t *testing.T) {
	var c counter
	c.add(at(0), 0)
	c.add(at(1), 10)
	if got := c.rate(at(16), 15*time.Second); !same(got, 10) {
		t.Errorf("after 15 s: %v", got)
	}
	if got := c.rate(at(17), 15*time.Second); !math.IsNaN(got) {
		t.Errorf("after 16 s: %v", got)
	}
}

func TestHistoryHasOnePointASecond(t *testing.T) {
	nan := math.NaN()
	type step struct{ at, level, granted float64 }
	tests := []struct {
		name    string
		steps   []step
		levels  []float64
		granted []float64
	}{
		{"readings each second", []step{{0, 30, 0}, {1, 20, 10}, {2, 15, 20}},
			[]float64{30, 20, 15}, []float64{nan, 10, 10}},
		{"several within one count once", []step{{0, 30, 0}, {0.25, 1, 5}, {0.9, 2, 8}, {1, 20, 10}},
			[]float64{30, 20}, []float64{nan, 10}},
		{"a second between two readings is no gap", []step{{0.99, 30, 0}, {2.01, 10, 20}},
			[]float64{30, 20, 10}, []float64{nan, 20 / 1.02, 20 / 1.02}},
		{"ten are", []step{{0, 30, 0}, {5, 10, 100}, {6, 9, 101}},
			[]float64{30, nan, nan, nan, nan, 10, 9}, []float64{nan, nan, nan, nan, nan, nan, 1}},
		{"a restart is one, of what was granted", []step{{0, 30, 100}, {1, 20, 3}, {2, 20, 5}},
			[]float64{30, 20, 20}, []float64{nan, nan, 2}},
		{"a clock that goes back begins anew", []step{{50, 30, 0}, {51, 20, 10}, {3, 10, 11}},
			[]float64{10}, []float64{nan}},
		{"after more than a minute nothing is left", []step{{0, 30, 0}, {61, 20, 10}},
			[]float64{20}, []float64{nan}},
		{"of a foreign bucket the level alone", []step{{0, 3, nan}, {1, 2, nan}},
			[]float64{3, 2}, []float64{nan, nan}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var h history
			last := 0.0
			for _, step := range test.steps {
				last = step.at
				h.add(at(step.at), step.level, step.granted, 3*time.Second)
			}
			got := h.window(at(last))
			if !slices.EqualFunc(got.Levels, test.levels, same) {
				t.Errorf("levels %v, want %v", got.Levels, test.levels)
			}
			if !slices.EqualFunc(got.Granted, test.granted, same) {
				t.Errorf("granted %v, want %v", got.Granted, test.granted)
			}
			if want := at(math.Floor(last)); !got.End.Equal(want) {
				t.Errorf("it ends at %v, want %v", got.End, want)
			}
		})
	}
}

func TestHistoryNeverChangesWhatWasHandedOut(t *testing.T) {
	var h history
	var handed []History
	var copies [][]float64
	for i := range 300 {
		h.add(at(float64(i)), float64(i), 0, 3*time.Second)
		w := h.window(at(float64(i)))
		handed, copies = append(handed, w), append(copies, slices.Clone(w.Levels))
	}
	if most := cap(h.levels) + cap(h.granted); most > 4*historyLen {
		t.Errorf("%d points are kept", most)
	}
	for i, w := range handed {
		if !slices.Equal(w.Levels, copies[i]) {
			t.Fatalf("window %d changed", i)
		}
		if want := min(i+1, historyLen); len(w.Levels) != want || w.Levels[len(w.Levels)-1] != float64(i) {
			t.Fatalf("window %d has %d points up to %v", i, len(w.Levels), w.Levels[len(w.Levels)-1])
		}
	}
	if got := h.window(at(360)); len(got.Levels) != 0 {
		t.Errorf("a minute later there are %d points", len(got.Levels))
	}
}
