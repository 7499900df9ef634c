package bucketctl

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

func mustWindow(t *testing.T, c *Client, key string, w Window) *Limiter {
	t.Helper()
	l, err := c.Window(key, w)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// weighted is one start and its tokens.
type weighted struct {
	at time.Time
	n  float64
}

// heaviestSpan is the most tokens that any half-open span of that length sees.
func heaviestSpan(starts []weighted, span time.Duration) (most float64) {
	slices.SortFunc(starts, func(a, b weighted) int { return a.at.Compare(b.at) })
	first, sum := 0, 0.0
	for _, s := range starts {
		for s.at.Sub(starts[first].at) >= span {
			sum -= starts[first].n
			first++
		}
		sum += s.n
		most = max(most, sum)
	}
	return most
}

// No span of the window's length sees more than its limit start, whoever asks
// for how much, gives up, or finds that it needed less.
func TestSwarmAtAWindowStaysWithinItsLimit(t *testing.T) {
	t.Parallel()
	const workers, callers = 8, 4
	w := Window{Limit: 20, Per: 700 * time.Millisecond}
	s := redistest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var (
		all    sync.WaitGroup
		mu     sync.Mutex
		starts []weighted
	)
	keep := func(g *Grant, n float64) {
		mu.Lock()
		defer mu.Unlock()
		starts = append(starts, weighted{g.At, n})
	}
	for range workers {
		l := mustWindow(t, patientClient(t, s), "swarm", w)
		for i := range callers {
			random := rand.New(rand.NewPCG(uint64(i), 7))
			all.Go(func() {
				for ctx.Err() == nil {
					impatient, stop := context.WithTimeout(ctx, time.Duration(random.IntN(900))*time.Millisecond+time.Millisecond)
					n := []float64{1, 1, 0.5, 2.25, 6}[random.IntN(5)]
					g, err := l.Acquire(impatient, n)
					stop()
					switch {
					case errors.Is(err, context.DeadlineExceeded):
						continue
					case err != nil || g.Mode != ModeShared:
						t.Errorf("a worker of the swarm: %+v, %v", g, err)
						return
					case random.IntN(4) == 0:
						if g.Settle(ctx, n/2) == nil {
							n /= 2
						}
					}
					keep(g, n)
				}
			})
		}
	}
	all.Wait()
	if most := heaviestSpan(starts, w.Per); most > w.Limit+1e-6 {
		t.Errorf("%v tokens started in one span of %v, at most %v are allowed", most, w.Per, w.Limit)
	}
	var sum float64
	for _, s := range starts {
		sum += s.n
	}
	if least := 0.6 * w.Limit * 5 / w.Per.Seconds(); sum < least {
		t.Errorf("only %v tokens in 5 s, want at least %v", sum, least)
	}
	t.Logf("%d starts, %.1f tokens, %v in the heaviest span", len(starts), sum, heaviestSpan(starts, w.Per))
}

func TestWindowsAreDeclared(t *testing.T) {
	c := patientClient(t, redistest.Start(t))
	for _, w := range []Window{{}, {Limit: 0.5, Per: time.Second}, {Limit: 2e9, Per: time.Hour}, {Limit: 1, Per: time.Microsecond}, {Limit: 1, Per: 1e6 * time.Hour}} {
		if _, err := c.Window("w", w); !errors.Is(err, ErrLimit) {
			t.Errorf("%+v: %v, want ErrLimit", w, err)
		}
	}
	w := Window{Limit: 10, Per: 10 * time.Second}
	l := mustWindow(t, c, "w", w)
	if again := mustWindow(t, c, "w", w); again != l {
		t.Error("the same window is another Limiter")
	}
	if _, err := c.Bucket("w", l.Declared()); !errors.Is(err, ErrLimit) {
		t.Errorf("the window's key as a bucket: %v", err)
	}
	if _, err := c.Window("w", Window{Limit: 11, Per: w.Per}); !errors.Is(err, ErrLimit) {
		t.Errorf("another limit: %v", err)
	}
	if err := l.WaitN(t.Context(), 10.5); !errors.Is(err, ErrExceedsCapacity) {
		t.Errorf("more than a window holds: %v", err)
	}
}

// Who wrote a key first decides what it is.
func TestAKeyIsABucketOrAWindow(t *testing.T) {
	s := redistest.Start(t)
	w := Window{Limit: 10, Per: time.Second}
	for _, err := range []error{
		mustWindow(t, patientClient(t, s), "w", w).Wait(t.Context()),
		mustBucket(t, patientClient(t, s), "b", PerSecond(1)).Wait(t.Context()),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := mustBucket(t, patientClient(t, s), "w", PerSecond(1)).Wait(t.Context()); !errors.Is(err, ErrWrongType) {
		t.Errorf("a window as a bucket: %v", err)
	}
	if err := mustWindow(t, patientClient(t, s), "b", w).Wait(t.Context()); !errors.Is(err, ErrWrongType) {
		t.Errorf("a bucket as a window: %v", err)
	}
}

// Ten wait for the same moment. Those who come once a turn is booked are told a
// wait at the window's rate from that moment on, 80 ms for each, which they may
// be refused for; none waits longer.
func TestADeadlineIsHeldAgainstTheWindow(t *testing.T) {
	c := patientClient(t, redistest.Start(t))
	w := Window{Limit: 10, Per: 800 * time.Millisecond}
	l := mustWindow(t, c, "w", w)
	if err := l.WaitN(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 1800*time.Millisecond)
	defer cancel()
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := l.Wait(ctx); err != nil {
				t.Errorf("a wait that fits: %v", err)
			}
		})
	}
	all.Wait()
	day := mustWindow(t, c, "day", Window{Limit: 10, Per: 24 * time.Hour})
	if err := day.WaitN(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := day.Wait(short); !errors.Is(err, ErrDeadline) {
		t.Errorf("a wait that does not fit: %v", err)
	}
}
