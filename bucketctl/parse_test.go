package bucketctl

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]Limit{
		"300/min":                 PerMinute(300),
		"300/min burst 15":        PerMinute(300).Burst(15),
		"  300/minute  burst  4 ": PerMinute(300).Burst(4),
		"300/m":                   PerMinute(300),
		"5/s":                     PerSecond(5),
		"5/sec":                   PerSecond(5),
		"7.5/second":              PerSecond(7.5),
		"0.5/s burst 1.5":         PerSecond(0.5).Burst(1.5),
		"7200/h":                  PerHour(7200),
		"7200/hours burst 2":      PerHour(7200).Burst(2),
		"25000/day":               PerDay(25000),
		"25000/d burst 1m30s":     PerDay(25000).Burst(90 * PerDay(25000).Rate),
		"10/10s burst 5":          Per(10, 10*time.Second).Burst(5),
		"1/1h30m":                 Per(1, 90*time.Minute),
		"1/100µs":                 Every(100 * time.Microsecond),
		"60/min burst 10s":        PerMinute(60).Burst(10),
		"007/s":                   PerSecond(7),
	} {
		got, err := ParseLimit(text)
		if err != nil || got.Per != want.Per || !close12(got.Rate, want.Rate) || !close12(got.Capacity, want.Capacity) {
			t.Errorf("ParseLimit(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
}

// Numbers that strconv takes and an operator never means, and everything else
// that is no limit: each refusal is one line that says what is wrong with what.
func TestTextsThatAreNoLimit(t *testing.T) {
	for text, says := range map[string]string{
		"":                          "write it as 300/min",
		"burst 15":                  "write it as 300/min",
		"300/min burst":             "write it as 300/min",
		"300/min peak 15":           "write it as 300/min",
		"300/min burst 15 16":       "write it as 300/min",
		"300 / min":                 "write it as 300/min",
		"300":                       "needs a unit",
		"/min":                      "the number is missing",
		"1,000/s":                   "without commas",
		"NaN/s":                     "not a plain number",
		"nan/s":                     "not a plain number",
		"Inf/s":                     "not a plain number",
		"infinity/s":                "not a plain number",
		"-1/s":                      "not a plain number",
		"+1/s":                      "not a plain number",
		"-0/s":                      "not a plain number",
		"0x1p4/s":                   "not a plain number",
		"1_000/s":                   "not a plain number",
		"5./s":                      "not a plain number",
		".5/s":                      "not a plain number",
		"1e3/s":                     "not a plain number",
		"1e400/s":                   "not a plain number",
		"٣/s":                       "not a plain number",
		"0/s":                       "to stop a bucket, hold it",
		"0.0/min":                   "to stop a bucket, hold it",
		"0.0000000001/s":            "it must be from",
		"99999999999999999999/s":    "it must be from",
		strings.Repeat("9", 400):    "needs a unit",
		"5/":                        "unknown unit",
		"5/fortnight":               "unknown unit",
		"5/S":                       "unknown unit",
		"5/min/s":                   "unknown unit",
		"5/-1s":                     "unknown unit",
		"5/+1s":                     "unknown unit",
		"5/0s":                      "unknown unit",
		"5/.5s":                     "unknown unit",
		"5/s burst 0":               "below 1 nobody could ever take 1",
		"5/s burst 0.5":             "below 1 nobody could ever take 1",
		"5/s burst NaN":             "not a plain number",
		"5/s burst 0.1s":            "below 1 nobody could ever take 1",
		"5/s burst -3s":             "not a plain number",
		"5/s burst 0s":              "not a plain number",
		"5/s burst 9999999999999":   "at most 1000000000000",
		"5/s burst 1,000":           "without commas",
		"5/s burst 999999h":         "ok",
		"1000000000/s burst 99999h": "at most 1000000000000",
	} {
		_, err := ParseLimit(text)
		if says == "ok" {
			if err != nil {
				t.Errorf("ParseLimit(%q): %v", text, err)
			}
			continue
		}
		if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("ParseLimit(%q): %v, want an ErrLimit that says %q", text, err, says)
		}
	}
	long := strings.Repeat("9", 400) + "/s"
	if _, err := ParseLimit(long); !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a number of 400 digits: %v", err)
	}
}

func TestParseCapacity(t *testing.T) {
	for _, tt := range []struct {
		text string
		rate float64
		want float64
	}{
		{"22", 0, 22},
		{"22.5", 5, 22.5},
		{"3s", 7.5, 22.5},
		{"1m", 5, 300},
		{"200ms", 10, 2},
	} {
		if got, err := ParseCapacity(tt.text, tt.rate); err != nil || !close12(got, tt.want) {
			t.Errorf("ParseCapacity(%q, %v) = %v, %v, want %v", tt.text, tt.rate, got, err, tt.want)
		}
	}
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := ParseCapacity("3s", rate)
		if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "the rate is not known") {
			t.Errorf("seconds of a rate of %v: %v", rate, err)
		}
	}
}

func TestFormatNumber(t *testing.T) {
	for x, want := range map[float64]string{
		300:               "300",
		5.000000000000001: "5",
		0.1 + 0.2:         "0.3",
		1e-9:              "0.000000001",
		1e12:              "1000000000000",
		-3.5:              "-3.5",
		math.Inf(1):       "+Inf",
		math.MaxFloat64:   "1797693134860000" + strings.Repeat("0", 293),
		1.0 / 3:           "0.333333333333",
	} {
		if got := formatNumber(x); got != want {
			t.Errorf("formatNumber(%v) = %q, want %q", x, got, want)
		}
	}
	if got := formatNumber(math.NaN()); got != "NaN" {
		t.Errorf("formatNumber(NaN) = %q", got)
	}
}
