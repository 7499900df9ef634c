package ui

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

func TestShort(t *testing.T) {
	for _, c := range []struct {
		x     float64
		width int
		want  string
	}{
		{0, 4, "0"}, {0.04, 4, "0"}, {0.5, 4, "0.5"}, {7, 4, "7"}, {7.52, 4, "7.5"}, {12.6, 4, "13"}, {588, 5, "588"},
		{999.4, 4, "999"}, {999.6, 4, "1k"}, {1234, 5, "1.23k"}, {1234, 4, "1.2k"}, {1234, 3, "1k"}, {24000, 4, "24k"},
		{24400, 5, "24.4k"}, {588000, 5, "588k"}, {999600, 5, "1M"}, {1.75e6, 5, "1.75M"}, {1.8e6, 5, "1.8M"},
		{2e9, 4, "2G"}, {3e12, 4, "3T"}, {-12, 4, "-12"}, {-1234, 5, "-1.2k"}, {-0.01, 4, "0"}, {math.NaN(), 4, "?"},
		{math.Inf(1), 4, "inf"},
	} {
		if got := short(c.x, c.width); got != c.want {
			t.Errorf("short(%v, %d) = %q, want %q", c.x, c.width, got, c.want)
		}
	}
}

func TestShortFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0, 999e12).Draw(t, "x")
		if got := short(x, 4); len(got) > 4 {
			t.Errorf("short(%v, 4) = %q", x, got)
		}
	})
}

func TestLevelOf(t *testing.T) {
	for _, c := range []struct {
		level, capacity float64
		want            string
	}{
		{0, 0, "0/?"}, {12.7, 30, "12/30"}, {3.75, 5, "3.8/5"}, {24e3, 90e3, "24k/90k"}, {-12, 30, "-12/30"},
		{-123456, 1500, "<0/1.5k"}, {math.NaN(), 30, "?/30"}, {1234, 1500, "1k/1.5k"},
	} {
		got := levelOf(c.level, c.capacity)
		if got != c.want || len(got) > levelCells {
			t.Errorf("levelOf(%v, %v) = %q, want %q in %d cells", c.level, c.capacity, got, c.want, levelCells)
		}
	}
}

func TestGrantedOf(t *testing.T) {
	for _, c := range []struct {
		rate     float64
		limit    bucketctl.Limit
		reported bool
		want     string
	}{
		{9.8, bucketctl.PerMinute(600), false, "588 of 600/min"},
		{1.75e6 / 60, bucketctl.PerMinute(1.8e6), false, "1.75M of 1.8M/min"},
		{0.3, bucketctl.Per(10, 10*time.Second), false, "3 of 10/10s"},
		{0, bucketctl.Limit{}, false, "0 of ?"},
		{math.NaN(), bucketctl.PerSecond(25), false, "? of 25/s"},
		{123456, bucketctl.Per(12345678, 90*time.Second), false, "11M of 12M/1m30s"},
		{1, bucketctl.PerMinute(300), true, "60 of (300/min)"},
		{123456, bucketctl.PerMinute(12345678), true, "7.4M of (12M/min)"},
		{math.NaN(), bucketctl.PerSecond(25), true, "? of (25/s)"},
	} {
		b := watch.Bucket{State: bucketctl.State{Effective: c.limit}, Granted: c.rate, Reported: c.reported}
		if got := grantedOf(&b, grantedCells); got != c.want || len(got) > grantedCells {
			t.Errorf("grantedOf(%v, %v) = %q, want %q", c.rate, c.limit, got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 400 * time.Millisecond: "0.4s", 9 * time.Second: "9s", 42 * time.Second: "42s",
		4*time.Minute + 59*time.Second: "4m", 99 * time.Minute: "99m", 26 * time.Hour: "26h", 12 * 24 * time.Hour: "12d",
		math.MaxInt64: ">2y",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestClockTime(t *testing.T) {
	for at, want := range map[time.Time]string{
		t0.Add(-4 * time.Minute): "14:28:05", t0.Add(-24 * time.Hour): "Mar 13 14:32", t0.AddDate(-1, 0, 0): "2025-03-14 14:32",
		{}: "?",
	} {
		if got := clockTime(at, t0); got != want {
			t.Errorf("clockTime(%v) = %q, want %q", at, got, want)
		}
	}
}
