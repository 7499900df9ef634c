package bucketctl

import (
	"testing"
	"time"
)

// A server that answers each probe and fails each call.
func TestFlappingIsDamped(t *testing.T) {
	var d damping
	now := simStart()
	var began []time.Duration
	for now.Before(simStart().Add(10 * time.Minute)) {
		began = append(began, now.Sub(simStart()))
		d.opens(now)
		now = now.Add(max(firstProbe, d.holdoff) * 3 / 4) // jitter's lower end
		d.back(now)
	}
	perMinute := make([]int, 10)
	for _, at := range began {
		perMinute[min(9, int(at/time.Minute))]++
	}
	if perMinute[0] > 8 || perMinute[0] < 4 {
		t.Errorf("%d outages began within the first minute, want at most 8: %v", perMinute[0], began)
	}
	for i, n := range perMinute[1:] {
		if n > 3 {
			t.Errorf("%d outages began within minute %d, want at most 3", n, i+2)
		}
	}
}

func TestStableReturnsAreNotDelayed(t *testing.T) {
	var d damping
	now := simStart()
	for range 5 {
		d.opens(now)
		if d.holdoff != 0 {
			t.Fatalf("a holdoff of %v after a return that lasted", d.holdoff)
		}
		d.back(now.Add(time.Second))
		now = now.Add(time.Second + stableAfter)
	}
}

func TestCallsThatFailNowAndThenAreNoOutageUntilTheyAreMany(t *testing.T) {
	var d damping
	now := simStart()
	for range 5 {
		if d.doubt(now) {
			t.Fatal("single failures far apart count as an outage")
		}
		now = now.Add(stableAfter + time.Second)
	}
	for i := range failuresToOpen {
		if often, want := d.doubt(now), i == failuresToOpen-1; often != want {
			t.Errorf("failure %d, a second after another: %v, want %v", i+1, often, want)
		}
		now = now.Add(time.Second)
	}
}
