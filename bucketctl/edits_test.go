package bucketctl

import (
	"context"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// operation is what an operator does, and what shows that it has reached a
// caller who would wait for an hour.
type operation struct {
	before  func(t *testing.T, a *Admin) // while nobody waits yet
	do      func(ctx context.Context, a *Admin) (Change, error)
	reached func(l *Limiter, served <-chan struct{}) bool
}

func isServed(_ *Limiter, served <-chan struct{}) bool {
	select {
	case <-served:
		return true
	default:
		return false
	}
}

func operations() map[string]operation {
	return map[string]operation{
		"edit": {
			do: func(ctx context.Context, a *Admin) (Change, error) {
				return a.SetLimit(ctx, "b:edit", AnyRev, LimitChange{Rate: To(1000)})
			},
			reached: isServed,
		},
		"hold": {
			do: func(ctx context.Context, a *Admin) (Change, error) {
				return a.Hold(ctx, "b:hold", AnyRev, NoEnd(), "")
			},
			reached: func(l *Limiter, _ <-chan struct{}) bool {
				l.mu.Lock()
				defer l.mu.Unlock()
				return l.seen.stop == stopHeld
			},
		},
		"resume": {
			before: func(t *testing.T, a *Admin) {
				t.Helper()
				if _, err := a.Reset(t.Context(), "b:resume", AnyRev, Target{full: true}, ""); err != nil {
					t.Fatal(err)
				}
				if _, err := a.Hold(t.Context(), "b:resume", AnyRev, EndAfter(time.Hour), ""); err != nil {
					t.Fatal(err)
				}
			},
			do: func(ctx context.Context, a *Admin) (Change, error) {
				return a.Resume(ctx, "b:resume", AnyRev, "")
			},
			reached: isServed,
		},
		"reset": {
			do: func(ctx context.Context, a *Admin) (Change, error) {
				return a.Reset(ctx, "b:reset", AnyRev, Target{full: true}, "")
			},
			reached: isServed,
		},
	}
}

// wantReached asserts how long the operation takes to reach a caller who waits.
func (o operation) wantReached(t *testing.T, l *Limiter, a *Admin, within time.Duration) {
	t.Helper()
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o.before != nil {
		o.before(t, a)
	}
	waiter, leave := context.WithCancel(t.Context())
	served, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		if err := l.Wait(waiter); err == nil {
			close(served)
		}
	}()
	defer func() { leave(); <-left }()
	awaitResting(t, l)
	began := time.Now()
	if _, err := o.do(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, func() bool { return o.reached(l, served) })
	took := time.Since(began)
	t.Logf("it reached who waits for an hour after %v", took)
	if took > within {
		t.Errorf("it took %v to reach who waits, at most %v is wanted", took, within)
	}
}

// Unwoken it would be seconds.
func TestOperatorsChangeReachesWhoWaitsForAnHour(t *testing.T) {
	s := redistest.Start(t)
	c, a := patientClient(t, s), openAdmin(t, s)
	awaitSubscription(t, s)
	for name, o := range operations() {
		t.Run(name, func(t *testing.T) {
			o.wantReached(t, mustBucket(t, c, "b:"+name, PerHour(1).Burst(1)), a, 3*time.Second)
		})
	}
}

// awaitSubscription returns when somebody hears what operators change.
func awaitSubscription(t *testing.T, s *redistest.Server) {
	t.Helper()
	root := s.Client(t)
	awaitTrue(t, func() bool {
		n, err := root.PubSubNumSub(t.Context(), "bucketctl:wake").Result()
		return err == nil && n["bucketctl:wake"] > 0
	})
}
