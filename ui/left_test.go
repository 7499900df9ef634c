package ui

import (
	"testing"
	"time"

	"bucketop/bucketctl"
)

// What was just set to 10m has 10m left, and not 9m a second later.
func TestWhatIsLeftIsRoundedUpWhereItIsNear(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s left", time.Millisecond: "1s left", 59*time.Second + 1: "60s left", 99 * time.Second: "99s left",
		99*time.Second + 1: "2m left", 10*time.Minute - time.Second: "10m left", 9 * time.Minute: "9m left",
		99*time.Minute + 1: "2h left", 25*time.Hour + time.Minute: "25h left", 10 * 24 * time.Hour: "10d left",
	} {
		if got := left(t0.Add(d), t0); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestALatencyThatWasNotMeasuredIsNotZero(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "-", time.Microsecond * 400: "0.4ms", 12 * time.Millisecond: "12ms"} {
		if got := latency(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// A key that does nothing is not among those that are offered.
func TestResetOffersFullOnlyWhereTheCapacityIsKnown(t *testing.T) {
	for _, known := range []bool{true, false} {
		b := aBucket("k", bucketctl.PerMinute(60).Burst(20), 3)
		if !known {
			b.State.Kind, b.State.Effective = bucketctl.KindForeign, bucketctl.Limit{}
		}
		offered := false
		for _, k := range newResetDialog(nil, b).help() {
			offered = offered || k.Help().Key == "f"
		}
		if offered != known {
			t.Errorf("capacity known %v, full offered %v", known, offered)
		}
	}
}
