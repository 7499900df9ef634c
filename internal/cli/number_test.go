package cli

import (
	"testing"
	"time"

	"bucketop/bucketctl"
)

func TestARateHasFourDigits(t *testing.T) {
	for _, c := range []struct {
		rate float64
		per  time.Duration
		want string
	}{
		{100. / 12, time.Second, "8.333/s"}, {2.5, time.Minute, "150/min"}, {0.1 + 0.2, 0, "0.3/s"},
		{123456.7, time.Second, "123457/s"}, {1. / 3, time.Minute, "20/min"}, {0.00012345, time.Second, "0.0001234/s"}, {0, time.Minute, "0/min"},
	} {
		got := showRate(c.rate, bucketctl.Limit{Per: c.per})
		if got != c.want {
			t.Errorf("%v per %v: %q, want %q", c.rate, c.per, got, c.want)
		}
	}
}
