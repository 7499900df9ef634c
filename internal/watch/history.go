package watch

import (
	"math"
	"time"
)

// historyLen is how many points, one a second, a History has at most.
const historyLen = 60

// history is the growing end of a History. Points are only ever appended, and a
// full buffer is replaced instead of moved, so what window returned stays as it
// was although it shares memory.
type history struct {
	end     int64 // server time of the newest point, whole seconds
	levels  []float64
	granted []float64

	last  reading // of the tokens granted, at the newest point
	level float64 // at the newest point
}

// add takes a reading of the level and of the tokens granted so far. Within one
// second the first reading counts. Seconds that were skipped are filled in where
// the readings lie no further apart than gap, since the counter tells what was
// granted in between; else they are gaps.
func (h *history) add(at time.Time, level, granted float64, gap time.Duration) {
	second := at.Unix()
	now := reading{at, granted}
	steps := second - h.end
	switch {
	case len(h.levels) == 0 || steps < 0 || steps > historyLen:
		*h = history{end: second}
		h.push(level, math.NaN())
	case steps == 0:
		return
	default:
		h.advance(now, level, int(steps), at.Sub(h.last.at) <= gap)
	}
	h.end, h.last, h.level = second, now, level
}

// advance appends the points of steps seconds.
func (h *history) advance(now reading, level float64, steps int, smooth bool) {
	rate := math.NaN()
	if smooth {
		rate = between(h.last, now)
	}
	for i := 1; i < steps; i++ {
		point := math.NaN()
		if smooth {
			point = h.level + (level-h.level)*float64(i)/float64(steps)
		}
		h.push(point, rate)
	}
	h.push(level, rate)
}

func (h *history) push(level, granted float64) {
	if len(h.levels) == cap(h.levels) {
		h.levels = lastPoints(h.levels)
		h.granted = lastPoints(h.granted)
	}
	h.levels = append(h.levels, level)
	h.granted = append(h.granted, granted)
}

// lastPoints is a copy of what can still be seen, with room for as much again.
func lastPoints(points []float64) []float64 {
	fresh := make([]float64, 0, 2*historyLen)
	return append(fresh, tail(points)...)
}

func tail(points []float64) []float64 {
	n := max(0, len(points)-historyLen)
	return points[n:len(points):len(points)]
}

// window is the last minute, without marks; zero when there is none.
func (h *history) window(now time.Time) History {
	if h == nil || len(h.levels) == 0 || now.Unix()-h.end >= historyLen {
		return History{}
	}
	return History{
		End:     time.Unix(h.end, 0).UTC(),
		Levels:  tail(h.levels),
		Granted: tail(h.granted),
	}
}
