//go:build soak

package bucketctl

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestSoakFaults takes the figures of each fault, one after the other: four
// workers that saturate a bucket of 100/s burst 100.
func TestSoakFaults(t *testing.T) {
	rows := []string{"fault | what workers see | decisions: shared, alone | over-issue, tokens | falls back | longest call | p99 alone | past its ctx | back | idle back | lines"}
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			length := 5 * time.Second
			if f.name == "up and down" {
				length = time.Minute
			}
			s := f.stage(t, 4, PerSecond(100).Burst(100), length, 2*time.Millisecond)
			s.act()
			sleep(t.Context(), 2*time.Second)
			before := s.weigh()
			s.spoil()
			sleep(t.Context(), length)
			s.mend()
			awaitReturn([]*scene{s})
			sleep(t.Context(), 2*time.Second)
			awaitTrue(t, func() bool { return f.absent || s.weigh().atMost(before) })
			s.finish()
			m := s.measure()
			s.check(m)
			s.checkTimes(m)
			rows = append(rows, s.row(m))
		})
	}
	t.Log("\n" + strings.Join(rows, "\n"))
}

// weight is what a scene keeps open.
type weight struct{ goroutines, connections int }

func (s *scene) weigh() weight {
	s.t.Helper()
	var w weight
	w.goroutines = runtime.NumGoroutine()
	for line := range strings.Lines(s.owner.Info(s.t.Context(), "clients").Val()) {
		if text, ok := strings.CutPrefix(line, "connected_clients:"); ok {
			w.connections, _ = strconv.Atoi(strings.TrimSpace(text))
		}
	}
	return w
}

// atMost allows for calls that are under way, and for the idle connections of five
// clients that a busier moment has left in their pools.
func (w weight) atMost(before weight) bool {
	return w.goroutines <= before.goroutines+10 && w.connections <= before.connections+25
}

// checkTimes holds what a machine that does nothing else shows with room to spare.
func (s *scene) checkTimes(m measured) {
	s.t.Helper()
	if m.p99 > 5*time.Millisecond || m.overrun > 50*time.Millisecond+m.late || m.longest > 2*callTimeout+m.late {
		s.t.Errorf("p99 alone %v, past its ctx %v, the longest call %v, the machine itself %v late", m.p99, m.overrun, m.longest, m.late)
	}
	if s.what != comeAndGo && s.what != returnEarly && (m.back > 2*time.Second || m.idle > 2*time.Second) {
		s.t.Errorf("back after %v, the idle worker after %v", m.back, m.idle)
	}
}

// row is a line of README's table.
func (s *scene) row(m measured) string {
	ms := func(d time.Duration) string {
		return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64) + " ms"
	}
	mode := "share"
	if m.local == 0 {
		mode = "shared"
	}
	return fmt.Sprintf("| %s | %s: %s | %d, %d | %.1f | %s | %s | %s | %s | %s | %s | %d |", s.name, mode, strings.Join(m.reasons, "; "),
		m.shared, m.local, max(0, m.beyond), ms(m.fell), ms(m.longest), ms(m.p99), ms(m.overrun), ms(m.back), ms(m.idle), m.lines)
}
