package bucketctl

import (
	"context"
	"errors"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// twoBuckets are requests and tokens of a language model, of which the first
// holds 10 and the second 1000; both fill slowly.
func twoBuckets(t *testing.T, c *Client) (requests, tokens *Limiter) {
	t.Helper()
	return mustBucket(t, c, "llm:{gpt}:requests", PerSecond(0.01).Burst(10)), mustBucket(t, c, "llm:{gpt}:tokens", PerSecond(0.01).Burst(1000))
}

func mustAll(t *testing.T, c *Client, needs ...Need) *All {
	t.Helper()
	all, err := c.All(needs...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wantLevels compares the levels of both, to a token in a hundred.
func wantLevels(t *testing.T, what string, wanted map[*Limiter]float64) {
	t.Helper()
	for l, want := range wanted {
		state, err := l.Peek(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if state.Level < want-0.001 || state.Level > want+0.5 {
			t.Errorf("%s: %q has %v, want %v", what, l.Key(), state.Level, want)
		}
	}
}

func TestAllTakesOfAllOrOfNone(t *testing.T) {
	c := patientClient(t, redistest.Start(t))
	requests, tokens := twoBuckets(t, c)
	if err := mustAll(t, c, tokens.Need(400), requests.Need(1)).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantLevels(t, "after one", map[*Limiter]float64{requests: 9, tokens: 600})
	d, err := mustAll(t, c, requests.Need(1), tokens.Need(601)).Allow(t.Context())
	if err != nil || d.OK || d.Key != tokens.Key() || d.Wait < 50*time.Second {
		t.Errorf("more than is there: %+v, %v", d, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err = mustAll(t, c, requests.Need(1), tokens.Need(700)).Wait(ctx)
	var late *DeadlineError
	if !errors.As(err, &late) || late.Key != tokens.Key() {
		t.Errorf("a wait that does not fit: %v", err)
	}
	err = mustAll(t, c, requests.Need(11), tokens.Need(1)).Wait(ctx)
	var small *ExceedsCapacityError
	if !errors.As(err, &small) || small.Key != requests.Key() || small.Capacity != 10 || small.N != 11 {
		t.Errorf("more than one of them can hold: %v", err)
	}
	wantLevels(t, "after refusals", map[*Limiter]float64{requests: 9, tokens: 600})
	if d, err := mustAll(t, c, requests.Need(9), tokens.Need(600)).Allow(t.Context()); err != nil || !d.OK || d.Mode != ModeShared {
		t.Errorf("all that is there: %+v, %v", d, err)
	}
	for _, b := range c.Stats().Buckets {
		if b.Refused != 3 || b.Calls == 0 || b.Granted != map[string]float64{requests.Key(): 10, tokens.Key(): 1000}[b.Key] {
			t.Errorf("%q counts %v granted, %d refused, %d calls", b.Key, b.Granted, b.Refused, b.Calls)
		}
	}
}
