package figure

import (
	"math/bits"
	"time"
)

const (
	// fine is how many steps each doubling has: a latency is known to 1.6 %.
	fine     = 64
	fineBits = 6
	// doublings reach from 64 ns, below which steps are single nanoseconds, to
	// more than a minute.
	doublings = 31
)

// Latency counts durations in steps that grow with them. It allocates nothing
// while it counts. Each goroutine has its own.
type Latency struct {
	Counts [fine * doublings]uint32
}

// Add counts one duration.
func (l *Latency) Add(d time.Duration) { l.Counts[step(d)]++ }

// Merge adds what another one counted.
func (l *Latency) Merge(other *Latency) {
	for i, n := range other.Counts {
		l.Counts[i] += n
	}
}

// Quantile returns the duration that the part q of all that were counted does
// not exceed; 0 where none was.
func (l *Latency) Quantile(q float64) time.Duration {
	var total float64
	for _, n := range l.Counts {
		total += float64(n)
	}
	var seen float64
	for i, n := range l.Counts {
		seen += float64(n)
		if n > 0 && seen >= q*total {
			return middle(i)
		}
	}
	return 0
}

// step is the index of a duration's step.
func step(d time.Duration) int {
	ns := max(0, d.Nanoseconds())
	if ns < fine {
		return int(ns)
	}
	doubling := bits.Len64(uint64(ns)) - fineBits // 1 for 64 to 127 ns
	i := fine*doubling + int(ns>>(doubling-1)) - fine
	return min(i, fine*doublings-1)
}

// middle is the duration in the middle of a step.
func middle(i int) time.Duration {
	if i < fine {
		return time.Duration(i)
	}
	doubling, part := i/fine, i%fine
	width := int64(1) << (doubling - 1)
	return time.Duration(int64(fine+part)*width + width/2)
}
