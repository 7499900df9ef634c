package bucketctl

import (
	"math"
	"sync"
	"time"
)

// stats are one bucket's counters for the report. Counters only grow.
type stats struct {
	mu       sync.Mutex
	granted  float64
	local    float64
	refused  int64
	calls    int64
	largestN float64
	waiting  int
	headDue  time.Time // when the first of those who wait is due, by this machine's clock
	waits    histogram
	callTime histogram
}

// enter counts a caller who waits.
func (s *stats) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting++
}

// leave counts a caller who stops waiting.
func (s *stats) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
}

// count counts a request for n tokens that was granted after wait, or refused.
func (s *stats) count(ok, local bool, n float64, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.largestN = math.Max(s.largestN, n)
	if !ok {
		s.refused++
		return
	}
	s.granted += n
	if local {
		s.local += n
	}
	s.waits.add(wait)
}

func (s *stats) called(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.callTime.add(d)
}

// waitingNow is how many callers wait.
func (s *stats) waitingNow() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting
}

// setHead tells when the first of those who wait is due.
func (s *stats) setHead(due time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.headDue = due
}

// report fills in what is counted, and begins the next interval's quantiles.
func (s *stats) report(b *WorkerBucket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.Granted, b.Local, b.Refused, b.Calls = s.granted, s.local, s.refused, s.calls
	b.LargestN, b.Waiting = s.largestN, s.waiting
	if s.waiting > 0 && !s.headDue.IsZero() {
		b.HeadWait = max(0, time.Until(s.headDue))
	}
	b.WaitP50, b.WaitP99 = s.waits.quantile(0.5), s.waits.quantile(0.99)
	b.CallP99 = s.callTime.quantile(0.99)
	s.waits, s.callTime = histogram{}, histogram{}
}

// histogram counts durations in buckets that grow by a fifth: a quantile is at
// most 20 % too high, from 10 µs to hours.
type histogram struct {
	counts [histogramBuckets]uint32
	total  int
}

const (
	histogramBuckets = 128
	histogramFirst   = float64(10 * time.Microsecond)
	histogramGrowth  = 1.2
)

func (h *histogram) add(d time.Duration) {
	i := 0
	if ratio := float64(d) / histogramFirst; ratio > 1 {
		i = min(int(math.Ceil(math.Log(ratio)/math.Log(histogramGrowth))), histogramBuckets-1)
	}
	h.counts[i]++
	h.total++
}

// quantile is the upper bound of the bucket where the q-th part is reached; 0
// where nothing was counted or it lies in the first bucket.
func (h *histogram) quantile(q float64) time.Duration {
	rank := int(math.Ceil(q * float64(h.total)))
	for i, count := range h.counts {
		if rank -= int(count); rank <= 0 {
			if i == 0 {
				return 0
			}
			return time.Duration(histogramFirst * math.Pow(histogramGrowth, float64(i)))
		}
	}
	return 0
}
