package bucketctl

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// changing is a bucket of 300/min, 15, with an override of 600/min that ends in
// 26 minutes.
func changing() State {
	at := time.UnixMicro(1_700_000_000_000_000).UTC()
	override := Override{Rate: 10, Per: time.Minute, Capacity: 30, Until: at.Add(26 * time.Minute)}
	declared := PerMinute(300).Burst(15)
	return State{At: at, Declared: declared, Override: override, Effective: override.Over(declared)}
}

// plain is the same bucket as declared.
func plain() State {
	s := changing()
	s.Override, s.Effective = Override{}, s.Declared
	return s
}

func TestParseLimitChange(t *testing.T) {
	kept := 26 * time.Minute
	for _, tt := range []struct {
		name                string
		state               State
		rate, capacity, end string
		want                Limit
		left                time.Duration // of the override; 0: no end, or none
	}{
		{"a rate keeps the rest", changing(), "450/min", "", "", PerMinute(450).Burst(30), kept},
		{"another unit", changing(), "7.5/s", "", "", PerSecond(7.5).Burst(30), kept},
		{"a day", changing(), "25000/day", "", "", PerDay(25000).Burst(30), kept},
		{"a span", changing(), "10/10s", "", "", Per(10, 10*time.Second).Burst(30), kept},
		{"half of what is in force", changing(), "x0.5", "", "", PerMinute(300).Burst(30), kept},
		{"twice as declared", plain(), "x2", "", "", PerMinute(600).Burst(15), 0},
		{"twice the capacity", changing(), "", "x2", "", PerMinute(600).Burst(60), kept},
		{"rate as declared", changing(), "declared", "", "", PerMinute(300).Burst(30), kept},
		{"capacity as declared", changing(), "", "declared", "", PerMinute(600).Burst(15), kept},
		{"all as declared", changing(), "declared", "declared", "", PerMinute(300).Burst(15), 0},
		{"a capacity", changing(), "", "22", "", PerMinute(600).Burst(22), kept},
		{"seconds of the new rate", changing(), "450/min", "3s", "", PerMinute(450).Burst(22.5), kept},
		{"seconds of the rate there is", changing(), "", "3s", "", PerMinute(600).Burst(30), kept},
		{"seconds of the declared rate", changing(), "declared", "3s", "", PerMinute(300).Burst(15), kept},
		{"seconds of a multiple", plain(), "x2", "3s", "", PerMinute(600).Burst(30), 0},
		{"a new end", changing(), "", "", "1h", PerMinute(600).Burst(30), time.Hour},
		{"days", changing(), "", "", "2d", PerMinute(600).Burst(30), 48 * time.Hour},
		{"hours and minutes", changing(), "", "", "1h30m", PerMinute(600).Burst(30), 90 * time.Minute},
		{"for ever", changing(), "", "", "forever", PerMinute(600).Burst(30), 0},
		{"spaces", changing(), " 450/min ", " 22 ", " 30m ", PerMinute(450).Burst(22), 30 * time.Minute},
		{"nothing", changing(), "", "", "", PerMinute(600).Burst(30), kept},
		{"all of an unknown bucket", State{}, "450/min", "3s", "", PerMinute(450).Burst(22.5), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := ParseLimitChange(tt.state, tt.rate, tt.capacity, tt.end)
			if err != nil {
				t.Fatal(err)
			}
			o, after, err := c.Preview(tt.state)
			if err != nil {
				t.Fatal(err)
			}
			if after.Per != tt.want.Per || !close12(after.Rate, tt.want.Rate) || !close12(after.Capacity, tt.want.Capacity) {
				t.Errorf("in force after it: %v, want %v", after, tt.want)
			}
			left := time.Duration(0)
			if !o.Until.IsZero() {
				left = o.Until.Sub(tt.state.At)
			}
			if left != tt.left {
				t.Errorf("it ends in %v, want %v", left, tt.left)
			}
		})
	}
}

func TestTextsThatAreNoChange(t *testing.T) {
	for _, tt := range []struct {
		state               State
		rate, capacity, end string
		says                string
	}{
		{changing(), "fast", "", "", "needs a unit"},
		{changing(), "NaN/s", "", "", "not a plain number"},
		{changing(), "0/s", "", "", "hold it"},
		{changing(), "x0", "", "", "hold it"},
		{changing(), "x", "", "", "the number is missing"},
		{changing(), "x-1", "", "", "not a plain number"},
		{changing(), "x1,5", "", "", "without commas"},
		{changing(), "x999999999999", "", "", "it must be from"},
		{State{}, "x2", "", "", "the rate in force is not known"},
		{changing(), "", "many", "", "seconds of rate such as 3s"},
		{changing(), "", "0", "", "below 1"},
		{changing(), "", "x0.001", "", "below 1"},
		{State{}, "", "x2", "", "the capacity in force is not known"},
		{State{}, "", "3s", "", "the rate is not known"},
		{changing(), "", "x0", "", "hold it"},
		{changing(), "2000000000/s", "3s", "", "it must be from"},
		{changing(), "", "", "soon", "no duration"},
		{changing(), "", "", "-5m", "no duration"},
		{changing(), "", "", "+5m", "no duration"},
		{changing(), "", "", "5", "no duration"},
		{changing(), "", "", "d", "no duration"},
		{changing(), "", "", "0s", "it must be from 1s to 366d"},
		{changing(), "", "", "500ms", "it must be from 1s to 366d"},
		{changing(), "", "", "367d", "it must be from 1s to 366d"},
		{changing(), "", "", "99999999999d", "it must be from 1s to 366d"},
		{changing(), "", "", "2000000h", "it must be from 1s to 366d"},
		{changing(), "", "", "99999999h", "no duration"},
	} {
		_, err := ParseLimitChange(tt.state, tt.rate, tt.capacity, tt.end)
		if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q %q %q: %v, want an ErrLimit that says %q", tt.rate, tt.capacity, tt.end, err, tt.says)
		}
	}
}

func TestPreview(t *testing.T) {
	s := changing()
	for _, tt := range []struct {
		name   string
		change LimitChange
		want   Override
	}{
		{"nothing", LimitChange{}, s.Override},
		{"a moment", LimitChange{End: EndAt(s.At.Add(time.Hour))}, Override{Rate: 10, Per: time.Minute, Capacity: 30, Until: s.At.Add(time.Hour)}},
		{"a rate without a unit", LimitChange{Rate: To(2)}, Override{Rate: 2, Capacity: 30, Until: s.Override.Until}},
		{"away", LimitChange{Rate: ToDeclared(), Capacity: ToDeclared(), End: EndAfter(time.Hour)}, Override{}},
	} {
		if got, _, err := tt.change.Preview(s); err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
	for name, change := range map[string]LimitChange{
		"an end in the past":  {End: EndAt(s.At)},
		"no time at all":      {End: EndAfter(0)},
		"rate 0":              {Rate: To(0.0)},
		"a rate out of range": {Rate: To(-1)},
		"a capacity below 1":  {Capacity: To(0.5)},
		"a negative unit":     {Rate: To(1), Per: -time.Second},
	} {
		if _, _, err := change.Preview(s); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !Keep().IsKeep() || To(0).IsKeep() || ToDeclared().IsKeep() || !(End{}).IsKeep() || NoEnd().IsKeep() {
		t.Error("IsKeep is true of the zero values alone")
	}
}
