package bucketctl

import (
	"context"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

func awaitResting(t *testing.T, l *Limiter) {
	t.Helper()
	awaitTrue(t, func() bool { _, short := l.queue.shortage(); return short })
}

// A process that is woken keeps its place, and its callers are not refused
// because others booked more than their deadlines behind them.
func TestAWokenProcessKeepsItsPlace(t *testing.T) {
	s := redistest.Start(t)
	limit := PerSecond(1).Burst(10)
	first, second := mustBucket(t, openClient(t, s), "k", limit), mustBucket(t, openClient(t, s), "k", limit)
	acquireN(t, first, 10)

	served := make(chan error, 1)
	soon, cancelSoon := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancelSoon()
	go func() { served <- first.WaitN(soon, 1) }()
	awaitResting(t, first)

	late, cancelLate := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- second.WaitN(late, 10) }() // paid 11 s from now
	awaitResting(t, second)

	first.wake()
	if err := <-served; err != nil {
		t.Errorf("the one who came first: %v", err)
	}
	cancelLate()
	if err := <-left; err == nil {
		t.Error("ten tokens were there at once")
	}
}
