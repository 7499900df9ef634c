// Package figure turns what a trial counted into the figures of its table:
// quantiles, medians, fairness, over-issue, and what a Redis server did. It does
// no I/O.
package figure

import (
	"math"
	"slices"
)

// Median is the middle of the values, or the mean of the two in the middle; NaN
// where there is none. NaNs are left out.
func Median(values []float64) float64 {
	known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(known) == 0 {
		return math.NaN()
	}
	slices.Sort(known)
	half := len(known) / 2
	if len(known)%2 == 1 {
		return known[half]
	}
	return (known[half-1] + known[half]) / 2
}

// Jain is Jain's index of fairness, (sum x)^2 / (n * sum x^2): 1 where all
// parts are equal, 1/n where one has everything, NaN where there is nothing.
func Jain(parts []float64) float64 {
	var sum, squares float64
	for _, x := range parts {
		sum += x
		squares += x * x
	}
	return sum * sum / (float64(len(parts)) * squares)
}

// OverIssue is by how many grants the worst span of time exceeds what a token
// bucket allows in it, capacity + rate x span; 0 where none does. Starts are in
// microseconds, in any order, the rate is per second.
//
// A span begins and ends with a grant, so with grants in order it is the
// largest (j - i + 1) - capacity - rate x (t[j] - t[i]), found in one pass.
func OverIssue(starts []int64, capacity, rate float64) float64 {
	const second = 1e6
	sorted := slices.Sorted(slices.Values(starts))
	worst, lowest := 0.0, math.Inf(1)
	for i, t := range sorted {
		// Relative to the first, so that no digit is lost.
		accrued := rate * float64(t-sorted[0]) / second
		lowest = min(lowest, float64(i)-accrued)
		worst = max(worst, float64(i)+1-accrued-lowest-capacity)
	}
	return worst
}
