package bucketctl

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// fleet is how many clients, each as a process of its own, draw from one bucket
// with how many callers that always wait.
type fleet struct {
	processes, callers int
	limit              Limit
	window             Window // instead of limit
	length             time.Duration
}

// outcome is what a fleet got, and what it cost Redis.
type outcome struct {
	starts    []time.Time
	perClient []float64
	calls     int64
}

// run lets the fleet wait for its length.
func (f fleet) run(t *testing.T) outcome {
	t.Helper()
	s := redistest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var (
		all sync.WaitGroup
		mu  sync.Mutex
		out = outcome{perClient: make([]float64, f.processes)}
	)
	limiters := make([]*Limiter, f.processes)
	for p := range limiters {
		limiters[p] = f.draw(t, patientClient(t, s))
		for range f.callers {
			all.Go(func() {
				for {
					v, err := limiters[p].acquire(ctx, 1)
					if err != nil {
						return
					}
					if v.local {
						t.Errorf("a start without Redis: %s", v.reason)
					}
					mu.Lock()
					out.starts = append(out.starts, v.start())
					out.perClient[p]++
					mu.Unlock()
				}
			})
		}
	}
	time.Sleep(f.length) // the measure itself, not a wait for an event
	cancel()
	all.Wait()
	for _, l := range limiters {
		out.calls += l.report().Calls
	}
	return out
}

func (f fleet) name() string {
	if f.window.Limit > 0 {
		return "a window of " + f.window.String()
	}
	return f.limit.String()
}

func (f fleet) draw(t *testing.T, c *Client) *Limiter {
	t.Helper()
	if f.window.Limit > 0 {
		return mustWindow(t, c, "fleet", f.window)
	}
	return mustBucket(t, c, "fleet", f.limit)
}

// bound is the most that may start in a second, and in the fleet's length.
func (f fleet) bound() (second, length float64) {
	if f.window.Limit > 0 {
		spans := f.length.Seconds() / f.window.Per.Seconds()
		return f.window.Limit * math.Ceil(time.Second.Seconds()/f.window.Per.Seconds()), f.window.Limit * math.Ceil(spans)
	}
	return f.limit.Capacity + f.limit.Rate, f.limit.Capacity + f.limit.Rate*f.length.Seconds()
}

// used is the part of what the fleet could get that was granted.
func (o outcome) used(f fleet) float64 {
	_, most := f.bound()
	return float64(len(o.starts)) / most
}

func (o outcome) callsPerGrant() float64 { return float64(o.calls) / float64(len(o.starts)) }

// jain is Jain's fairness index over the processes: 1 is perfectly fair.
func (o outcome) jain() float64 {
	var sum, squares float64
	for _, x := range o.perClient {
		sum += x
		squares += x * x
	}
	return sum * sum / (float64(len(o.perClient)) * squares)
}

// check holds the bound, and the three figures that a queue across processes
// is for.
func (f fleet) check(t *testing.T, calls, used, fair float64) {
	t.Helper()
	o := f.run(t)
	t.Logf("%d x %d at %s: %d grants, %.3f calls per grant, %.1f %% used, Jain %.3f, worst second %d",
		f.processes, f.callers, f.name(), len(o.starts), o.callsPerGrant(), 100*o.used(f), o.jain(), worstSpan(o.starts, time.Second))
	most, _ := f.bound()
	if worst := worstSpan(o.starts, time.Second); float64(worst) > most {
		t.Errorf("%d starts in one second of server time", worst)
	}
	if got := o.callsPerGrant(); got > calls {
		t.Errorf("%.3f calls per grant, at most %v are wanted", got, calls)
	}
	if got := o.used(f); got < used {
		t.Errorf("%.3f of the allowance used, at least %v is wanted", got, used)
	}
	if got := o.jain(); got < fair {
		t.Errorf("a fairness of %.3f over the processes, at least %v is wanted", got, fair)
	}
}

// Without turns each grant of ten waiting processes costs ten calls: all ask at
// once, and one gets it. The bounds are wide; the figures are the soak's.
func TestWaitingProcessesTakeTurns(t *testing.T) {
	t.Parallel()
	fleet{processes: 10, callers: 20, limit: PerSecond(50).Burst(5), length: 5 * time.Second}.check(t, 1, 0.75, 0.7)
}

// worstSpan is the most starts that any half-open span of that length sees.
func worstSpan(starts []time.Time, span time.Duration) int {
	slices.SortFunc(starts, time.Time.Compare)
	worst, first := 0, 0
	for i, start := range starts {
		for start.Sub(starts[first]) >= span {
			first++
		}
		worst = max(worst, i-first+1)
	}
	return worst
}

func TestWaitingProcessesTakeTurnsAtAWindow(t *testing.T) {
	t.Parallel()
	fleet{processes: 10, callers: 20, window: Window{Limit: 50, Per: time.Second}, length: 5 * time.Second}.check(t, 1, 0.7, 0.4)
}
