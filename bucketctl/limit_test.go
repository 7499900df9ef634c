package bucketctl

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// close12 compares to the 12 digits that texts carry.
func close12(a, b float64) bool {
	return math.Abs(a-b) <= 1e-11*math.Max(math.Abs(a), math.Abs(b))
}

func TestConstructors(t *testing.T) {
	for name, tt := range map[string]struct {
		limit          Limit
		rate, capacity float64
		text           string
	}{
		"per second":           {PerSecond(5), 5, 15, "5/s burst 15"},
		"per minute":           {PerMinute(300), 5, 15, "300/min burst 15"},
		"per hour":             {PerHour(7200), 2, 6, "7200/h burst 6"},
		"per day":              {PerDay(25000), 25000.0 / 86400, 1, "25000/day burst 1"},
		"less than one a span": {PerMinute(1), 1.0 / 60, 1, "1/min burst 1"},
		"a fraction":           {PerSecond(7.5), 7.5, 22.5, "7.5/s burst 22.5"},
		"in a span":            {Per(10, 10*time.Second), 1, 3, "10/10s burst 3"},
		"each span":            {Every(200 * time.Millisecond), 5, 15, "1/200ms burst 15"},
		"each short span":      {Every(100 * time.Microsecond), 10_000, 30_000, "1/100µs burst 30000"},
		"with a burst":         {PerMinute(300).Burst(4), 5, 4, "300/min burst 4"},
		"a third":              {PerMinute(1.0 / 3), 1.0 / 180, 1, "0.333333333333/min burst 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if !close12(tt.limit.Rate, tt.rate) || !close12(tt.limit.Capacity, tt.capacity) {
				t.Errorf("got %+v, want rate %v and capacity %v", tt.limit, tt.rate, tt.capacity)
			}
			if got := tt.limit.String(); got != tt.text {
				t.Errorf("String() = %q, want %q", got, tt.text)
			}
			if err := tt.limit.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLimitsOutOfRangeAreRefused(t *testing.T) {
	for _, tt := range []struct {
		limit Limit
		says  string
	}{
		{PerSecond(0), "to stop a bucket, hold it"},
		{PerSecond(-1), "it must be from 0.000000001 to 1000000000"},
		{PerSecond(math.NaN()), "the rate is NaN"},
		{PerSecond(math.Inf(1)), "the rate is +Inf"},
		{PerSecond(1e-10), "the rate is 0.0000000001"},
		{PerSecond(2e9), "the rate is 2000000000"},
		{Every(0), "the rate is +Inf"},
		{Every(-time.Second), "the rate is -1"},
		{Per(0, 0), "the rate is NaN"},
		{PerSecond(1).Burst(0), "below 1 nobody could ever take 1"},
		{PerSecond(1).Burst(0.999), "the capacity is 0.999"},
		{PerSecond(1).Burst(-5), "the capacity is -5"},
		{PerSecond(1).Burst(math.NaN()), "the capacity is NaN"},
		{PerSecond(1).Burst(math.Inf(1)), "at most 1000000000000"},
		{PerSecond(1).Burst(2e12), "at most 1000000000000"},
		{Limit{Capacity: 1, Rate: 1, Per: -time.Second}, "must not be negative"},
		{Limit{}, "the rate is 0"},
	} {
		err := tt.limit.Validate()
		if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v, want an ErrLimit that says %q", tt.limit, err, tt.says)
		}
	}
	for _, good := range []Limit{
		PerSecond(MinRate), PerSecond(MaxRate), PerSecond(1).Burst(MinCapacity), PerSecond(1).Burst(MaxCapacity),
	} {
		if err := good.Validate(); err != nil {
			t.Errorf("at the bound: %v", err)
		}
	}
}

func TestInUnit(t *testing.T) {
	for _, tt := range []struct {
		limit Limit
		n     float64
		unit  time.Duration
	}{
		{PerMinute(300), 300, time.Minute},
		{PerDay(1), 1, 24 * time.Hour},
		{Per(10, 10*time.Second), 10, 10 * time.Second},
		{Limit{Capacity: 1, Rate: 5}, 5, time.Second},
	} {
		if n, unit := tt.limit.InUnit(); !close12(n, tt.n) || unit != tt.unit {
			t.Errorf("%v: %v in %v, want %v in %v", tt.limit, n, unit, tt.n, tt.unit)
		}
	}
	if got := (Limit{}).String(); got != "unknown" {
		t.Errorf("the zero limit is called %q", got)
	}
}

// someLimit draws a limit that Validate accepts, a little away from the
// bounds, where rounding to 12 digits decides.
func someLimit() *rapid.Generator[Limit] {
	return rapid.Custom(func(t *rapid.T) Limit {
		per := rapid.SampledFrom([]time.Duration{
			time.Microsecond, time.Millisecond, time.Second, 1500 * time.Millisecond, 10 * time.Second,
			time.Minute, 90 * time.Second, time.Hour, 24 * time.Hour, 30 * 24 * time.Hour,
		}).Draw(t, "per")
		rate := math.Pow(10, rapid.Float64Range(-8.9, 8.9).Draw(t, "log rate"))
		capacity := math.Pow(10, rapid.Float64Range(0.001, 11.9).Draw(t, "log capacity"))
		return Limit{Capacity: capacity, Rate: rate, Per: per}
	})
}

func TestStringIsWhatParseLimitReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := someLimit().Draw(t, "limit")
		got, err := ParseLimit(limit.String())
		if err != nil {
			t.Fatalf("%+v: %v", limit, err)
		}
		if got.Per != limit.Per || !close12(got.Rate, limit.Rate) || !close12(got.Capacity, limit.Capacity) {
			t.Fatalf("%+v is written %q and read %+v", limit, limit, got)
		}
		if again := got.String(); again != limit.String() {
			t.Fatalf("%q is read and written %q", limit, again)
		}
	})
}

func TestOverride(t *testing.T) {
	declared := PerMinute(300).Burst(15)
	for _, tt := range []struct {
		name     string
		override Override
		declared Limit
		want     Limit
	}{
		{"none", Override{}, declared, declared},
		{"rate alone", Override{Rate: 10, Per: time.Second}, declared, PerSecond(10).Burst(15)},
		{"capacity alone", Override{Capacity: 4}, declared, PerMinute(300).Burst(4)},
		{"both over nothing known", Override{Rate: 10, Per: time.Second, Capacity: 4}, Limit{}, PerSecond(10).Burst(4)},
		{"rate over nothing known", Override{Rate: 10}, Limit{}, Limit{}},
		{"capacity over nothing known", Override{Capacity: 10}, Limit{}, Limit{}},
	} {
		if got := tt.override.Over(tt.declared); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
