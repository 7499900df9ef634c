package bucketctl

import (
	"testing"
	"time"
)

// TestFaults holds the limiter against every way in which Redis fails, each at a
// server of its own, all at once. How long everything takes is the soak's.
func TestFaults(t *testing.T) {
	const length = 2 * time.Second // three calls that time out one after another are an outage that is told
	var scenes []*scene
	for _, f := range faults() {
		scenes = append(scenes, f.stage(t, 2, PerSecond(40).Burst(8), length, 50*time.Millisecond))
	}
	for _, s := range scenes {
		s.act()
	}
	for _, s := range scenes {
		s.spoil()
	}
	sleep(t.Context(), length)
	for _, s := range scenes {
		if s.what != decideAlone { // the longer Redis comes and goes the longer it is left alone
			s.mend()
		}
	}
	for _, s := range scenes {
		if s.what == decideAlone {
			awaitTrue(t, s.allKnow)
			s.mend()
		}
	}
	awaitReturn(scenes)
	for _, s := range scenes {
		s.finish()
		if s.what == decideAlone {
			awaitTrue(t, func() bool { _, ended := s.events(); return ended > 0 })
		}
		s.check(s.measure())
	}
}
