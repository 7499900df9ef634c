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
	first, second := mustBucket(t, patientClient(t, s), "k", limit), mustBucket(t, patientClient(t, s), "k", limit)
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

// Who comes to a long queue looks whether it lives before its turn. Who was
// served a moment ago has seen it live.
func TestWhoWasServedAMomentAgoDoesNotLook(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(1_700_000_000_000_000)
	booked := func() verdict {
		ticket := now.Add(10 * time.Second).UnixMicro()
		return verdict{circumstances: &circumstances{at: now, ask: 300 * time.Millisecond, ticket: ticket}, code: codeWaits}
	}
	served := func(ago time.Duration) verdict {
		return verdict{circumstances: &circumstances{at: now.Add(-ago)}, code: codeCharged}
	}
	for name, tt := range map[string]struct {
		ticket int64 // shown
		before []verdict
		looks  bool
	}{
		"a newcomer":          {looks: true},
		"served just now":     {before: []verdict{served(200 * time.Millisecond)}},
		"served long ago":     {before: []verdict{served(2 * time.Second)}, looks: true},
		"it had a place":      {ticket: 1, before: []verdict{served(200 * time.Millisecond)}, looks: true},
		"it waited meanwhile": {before: []verdict{served(2 * time.Second), booked()}, looks: true},
	} {
		l := &Limiter{ticket: tt.ticket}
		for _, v := range tt.before {
			l.overlook(v)
		}
		v := booked()
		l.overlook(v)
		if looks := v.ask == 300*time.Millisecond; looks != tt.looks || !looks && v.ask != 10*time.Second {
			t.Errorf("%s asks again after %v, want a look: %t", name, v.ask, tt.looks)
		}
	}
}

// Whoever finds the queue gone wakes those who sleep until turns behind it.
func TestWhoFindsTheQueueGoneWakesTheOthers(t *testing.T) {
	s := redistest.Start(t)
	limit := PerSecond(1).Burst(5)
	client := patientClient(t, s)
	gone, first, second := mustBucket(t, client, "k", limit), mustBucket(t, patientClient(t, s), "k", limit), mustBucket(t, patientClient(t, s), "k", limit)
	acquireN(t, gone, 5)
	waitFor := func(l *Limiter) chan error {
		served := make(chan error, 1)
		go func() { served <- l.Wait(t.Context()) }()
		awaitResting(t, l)
		return served
	}
	for range 3 {
		go func() { _ = gone.WaitN(t.Context(), 5) }()
	}
	awaitTrue(t, func() bool { return gone.queue.waiting() == 3 })
	awaitResting(t, gone)
	_ = client.Close()
	one, two := waitFor(first), waitFor(second)

	do(t, s.Client(t), []any{"HSET", "k", "tokens", "5"}) // as if nobody had claimed what came
	began := time.Now()
	first.wake()
	if err := <-one; err != nil {
		t.Fatal(err)
	}
	if err := <-two; err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 2*time.Second { // its own turn is 5 s from now
		t.Errorf("the other one was served after %v", took)
	}
}
