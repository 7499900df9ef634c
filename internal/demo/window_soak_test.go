//go:build soak

package demo

import (
	"testing"
	"time"
)

// TestSoakTheWindowKeepsGranting to requests of mixed sizes, a small one and a large
// one waiting for each other's tokens: no span and a half goes by without a grant,
// and most of what the limit allows is used.
func TestSoakTheWindowKeepsGranting(t *testing.T) {
	const length = time.Minute
	var window job
	for _, r := range cast() {
		for _, j := range r.jobs {
			if j.window {
				window = j
			}
		}
	}
	if !(window.least < window.most) {
		t.Errorf("all requests of %s are of one size", window.bucket)
	}
	span := time.Duration(window.limit.Capacity / window.limit.Rate * float64(time.Second))
	c := startWorkers(t, startKind(t, withPath(t, kinds(t)[0])))
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	began := time.Now()
	last, before, longest := began, 0.0, time.Duration(0)
	for now := range ticker.C {
		granted, _, _ := c.tally.read()
		if got := granted[window.bucket]; got > before {
			last, before = now, got
		}
		longest = max(longest, now.Sub(last))
		if now.Sub(began) > length {
			break
		}
	}
	t.Logf("%v tokens in %v, the longest pause %v", before, length, longest)
	if most := window.limit.Rate * length.Seconds(); before < 0.8*most || longest > span*3/2 {
		t.Errorf("%v tokens in %v, want 80 %% of %v; the longest pause %v, want %v at most", before, length, most, longest, span*3/2)
	}
}
