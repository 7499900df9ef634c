//go:build soak

package bucketctl

import (
	"testing"
	"time"
)

func TestSoakOutageOfHalfAMinuteIsFewLines(t *testing.T) {
	lines, calls := outageLines(t, 30*time.Second, 1000)
	t.Logf("%d calls, %d lines", calls, lines)
	if lines >= 10 || calls < 10_000 {
		t.Errorf("%d lines for %d calls", lines, calls)
	}
}
