package bucketctl

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// localUnits is how many units of the local limiter make a token: it counts in
// whole units, and tokens come in fractions.
const localUnits = 1000

// share is what one worker may use of a bucket without Redis: an equal part of
// the limit in force, from a limiter that starts empty, so that the moment
// Redis goes away hands nothing out.
type share struct {
	mu      sync.Mutex
	limiter *rate.Limiter
	limit   Limit // this worker's part
	spent   spending
	total   float64 // granted since the fallback began
}

// partOf is one worker's part of a limit. Its burst is at least one token, so
// that a share below one token a second still makes progress, late.
func partOf(limit Limit, workers int) Limit {
	return Limit{
		Capacity: math.Max(1, limit.Capacity/float64(workers)),
		Rate:     limit.Rate / float64(workers),
		Per:      limit.Per,
	}
}

// take reserves n tokens at now if the wait for them is at most longest.
// Otherwise it reserves nothing and tells the wait.
func (s *share) take(now time.Time, part Limit, n float64, longest time.Duration) (wait time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow(now, part)
	pieces, wait := s.reserve(now, n, longest)
	if wait <= longest {
		return wait, true
	}
	cancelAll(now, pieces)
	return wait, false
}

// reserve reserves n tokens, as far as the wait is at most longest, and tells
// the wait. A request larger than the share's burst is reserved piece by piece:
// it waits until its last piece is there. Needs s.mu.
func (s *share) reserve(now time.Time, n float64, longest time.Duration) (pieces []*rate.Reservation, wait time.Duration) {
	burst := s.limiter.Burst()
	for left := n * localUnits; left > 0; left -= float64(burst) {
		piece := s.limiter.ReserveN(now, min(burst, units(left/localUnits)))
		pieces = append(pieces, piece)
		wait = piece.DelayFrom(now)
		if rest := left - float64(burst); wait > longest && rest > 0 { // no need to book what is given up anyway
			return pieces, addWaits(wait, seconds(rest/float64(s.limiter.Limit())))
		}
	}
	return pieces, wait
}

func cancelAll(now time.Time, pieces []*rate.Reservation) {
	for i := len(pieces) - 1; i >= 0; i-- {
		pieces[i].CancelAt(now)
	}
}

// reservation is what a share has put aside for a request on several buckets.
type reservation struct {
	share  *share
	pieces []*rate.Reservation
	units  float64
	wait   time.Duration
}

// hold is take for who has yet to see whether other shares do as well: what it
// reserved is kept or released.
func (s *share) hold(now time.Time, part Limit, n float64, longest time.Duration) reservation {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow(now, part)
	pieces, wait := s.reserve(now, n, longest)
	return reservation{s, pieces, n * localUnits, wait}
}

// release puts back what was reserved.
func (r reservation) release(now time.Time) {
	r.share.mu.Lock()
	defer r.share.mu.Unlock()
	cancelAll(now, r.pieces)
}

// keepUntil keeps it for a start after wait. What would flow over the brim until
// then is dropped, as if it were taken at the start.
func (r reservation) keepUntil(now time.Time, wait time.Duration) {
	s := r.share
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limiter == nil {
		return // Redis answers again
	}
	burst := float64(s.limiter.Burst())
	atStart := s.limiter.TokensAt(now) + wait.Seconds()*float64(s.limiter.Limit())
	if over := atStart - max(0, burst-r.units); over >= 1 {
		s.limiter.ReserveN(now, int(min(over, burst)))
	}
}

// addWaits saturates: where a token takes centuries, so do two.
func addWaits(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// follow makes the limiter what part says, keeping what it holds.
func (s *share) follow(now time.Time, part Limit) {
	burst := units(part.Capacity)
	perSecond := rate.Limit(part.Rate * localUnits)
	switch {
	case s.limiter == nil:
		s.limiter = rate.NewLimiter(perSecond, burst)
		s.limiter.AllowN(now, burst) // start empty
	case s.limit != part:
		s.limiter.SetLimitAt(now, perSecond)
		s.limiter.SetBurstAt(now, burst)
	}
	s.limit = part
}

// spend counts n tokens as granted at t out of window, the span that a return
// to Redis looks back over.
func (s *share) spend(t time.Time, n float64, window time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent.add(t, n, window)
	s.total += n
}

// settle ends the fallback: it returns what was granted within the window and
// in all, and forgets the limiter, so that the next outage starts empty again.
func (s *share) settle(t time.Time) (recent, total float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	recent, total = s.spent.since(t), s.total
	s.limiter, s.spent, s.total = nil, spending{}, 0
	return recent, total
}

func units(tokens float64) int {
	return int(math.Max(1, math.Min(math.Round(tokens*localUnits), math.MaxInt32)))
}

// spending remembers grants of the last window, in slots.
type spending struct {
	window time.Duration
	slots  [spendingSlots]struct {
		index int64
		sum   float64
	}
}

const spendingSlots = 16

func (s *spending) add(t time.Time, n float64, window time.Duration) {
	window = max(window, spendingSlots) // at least a nanosecond each
	if window != s.window {             // slots of another length can't be told apart any more
		n += s.since(t)
		*s = spending{window: window}
	}
	index := s.index(t)
	slot := &s.slots[index%spendingSlots]
	if slot.index != index {
		slot.index, slot.sum = index, 0
	}
	slot.sum += n
}

func (s *spending) index(t time.Time) int64 {
	return t.UnixNano() / int64(s.window/spendingSlots)
}

// since sums up the window that ends at t.
func (s *spending) since(t time.Time) float64 {
	if s.window == 0 {
		return 0
	}
	newest, sum := s.index(t), 0.0
	for _, slot := range s.slots {
		if slot.index > newest-spendingSlots {
			sum += slot.sum
		}
	}
	return sum
}
