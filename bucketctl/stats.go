package bucketctl

import (
	"math"
	"math/bits"
	"sync"
	"time"
)

// stats are one bucket's counters, for reports and metrics. Counters only grow.
type stats struct {
	mu       sync.Mutex
	granted  float64
	local    float64
	refused  int64
	calls    int64
	failures int64 // of these
	largestN float64

	waits, callTime       histogram // of the interval between two reports
	allWaits, allCallTime distribution
}

// count counts requests of a service's i-th bucket that were answered at now.
func (s *stats) count(all []served, i int, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range all {
		s.countOne(a.answer, a.tokens(i), now.Sub(a.joined))
	}
}

// countOne counts a request for n tokens that was answered after a time. Needs s.mu.
func (s *stats) countOne(a answer, n float64, after time.Duration) {
	s.largestN = math.Max(s.largestN, n)
	if a.err != nil || a.code != codeCharged {
		s.refused++
		return
	}
	s.granted += n
	if a.local {
		s.local += n
	}
	waited := after + a.wait
	s.waits.add(waited)
	s.allWaits.add(waitBounds(), waited)
}

// refuse counts a request that was given up before it was answered.
func (s *stats) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused++
}

// called counts a call to Redis.
func (s *stats) called(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.callTime.add(d)
	s.allCallTime.add(callBounds(), d)
}

// failed counts that a call was not answered, or refused.
func (s *stats) failed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
}

// counted fills in what is counted.
func (s *stats) counted(b *WorkerBucket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.Granted, b.Local, b.Refused, b.Calls = s.granted, s.local, s.refused, s.calls
	b.LargestN = s.largestN
}

// report fills in what is counted, and begins the next interval's quantiles.
func (s *stats) report(b *WorkerBucket) {
	s.counted(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	b.WaitP50, b.WaitP99 = s.waits.quantile(0.5), s.waits.quantile(0.99)
	b.CallP99 = s.callTime.quantile(0.99)
	s.waits, s.callTime = histogram{}, histogram{}
}

// histogram counts durations in eight buckets for each doubling: a quantile is
// at most an eighth too high, from 10 µs to hours. Counting is a shift, since
// each grant is counted.
type histogram struct {
	counts [histogramBuckets]uint32
	total  int
}

const (
	histogramParts   = 8 // of a doubling
	histogramBuckets = 1 + 32*histogramParts
	histogramFirst   = 10 * time.Microsecond
)

func (h *histogram) add(d time.Duration) {
	i := 0
	if d > histogramFirst {
		part := int64((d - 1) / (histogramFirst / histogramParts))  // 8 to 15 in the first doubling
		doubling := bits.Len64(uint64(part / (2 * histogramParts))) // #nosec G115 -- positive
		i = min(1+histogramParts*doubling+int(part>>doubling)%histogramParts, histogramBuckets-1)
	}
	h.counts[i]++
	h.total++
}

// upperBound is the longest duration of a bucket.
func upperBound(i int) time.Duration {
	if i == 0 {
		return 0
	}
	doubling, part := (i-1)/histogramParts, (i-1)%histogramParts
	return time.Duration(histogramParts+part+1) << doubling * (histogramFirst / histogramParts)
}

// quantile is the upper bound of the bucket where the q-th part is reached; 0
// where nothing was counted or it lies in the first bucket.
func (h *histogram) quantile(q float64) time.Duration {
	rank := int(math.Ceil(q * float64(h.total)))
	for i, count := range h.counts {
		if rank -= int(count); rank <= 0 {
			return upperBound(i)
		}
	}
	return 0
}
