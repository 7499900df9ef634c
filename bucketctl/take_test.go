package bucketctl

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// takeReply is a reply as the script gives it: charged, start in 1.5 ms, under
// an override without end.
func takeReply() reply {
	return reply{
		int64(1_700_000_000_000_000), int64(mendedAhead), int64(stopCooldown), int64(1_700_000_001_000_000),
		int64(250), int64(1_700_000_000_000_250), int64(42), int64(7), int64(-1),
		"-2.5", "15", "0.5",
		int64(codeCharged), int64(1500),
	}
}

func TestDecodeTake(t *testing.T) {
	v, err := decodeOne(takeReply(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.code != codeCharged || v.wait != 1500*time.Microsecond {
		t.Errorf("code %d, wait %v", v.code, v.wait)
	}
	want := circumstances{
		ask: 250 * time.Microsecond, ticket: 1_700_000_000_000_250,
		at: time.UnixMicro(1_700_000_000_000_000).UTC(), level: -2.5, limit: Limit{Capacity: 15, Rate: 0.5},
		stop: stopCooldown, stopEnd: time.UnixMicro(1_700_000_001_000_000).UTC(),
		mended: mendedAhead, rev: 7, override: true, gen: 42,
	}
	if *v.circumstances != want {
		t.Errorf("decoded\n%+v, want\n%+v", *v.circumstances, want)
	}
	if got := v.start(); got != want.at.Add(1500*time.Microsecond) {
		t.Errorf("start at %v", got)
	}
}

// Where all may start at once the script says no more of each.
func TestDecodeTakeOfAllAtOnce(t *testing.T) {
	v, err := decodeTake(takeReply()[:takeHead], nil, 3, nil)
	if err != nil || len(v) != 3 {
		t.Fatalf("%d verdicts, %v", len(v), err)
	}
	for _, got := range v {
		if got.code != codeCharged || got.wait != 0 || got.due.IsZero() {
			t.Errorf("code %d, wait %v, due %v", got.code, got.wait, got.due)
		}
	}
}

// In the plain case it says nothing of what the call itself said.
func TestDecodeTakeOfThePlainCase(t *testing.T) {
	args := takeArguments(PerSecond(0.5).Burst(15), 42, 0, 1, 0)
	v, err := decodeOne(reply{int64(1_700_000_000_000_000), int64(7), "2.5"}, args)
	if err != nil {
		t.Fatal(err)
	}
	want := circumstances{at: time.UnixMicro(1_700_000_000_000_000).UTC(), level: 2.5, limit: Limit{Capacity: 15, Rate: 0.5}, rev: 7, gen: 42}
	if *v.circumstances != want || v.code != codeCharged || v.wait != 0 {
		t.Errorf("decoded\n%+v, %+v, want\n%+v", *v.circumstances, v, want)
	}
}

func TestDecodeTakeReadsEndsAndLongWaits(t *testing.T) {
	r := takeReply()
	r[8] = int64(1_700_000_060_000_000) // the override's end
	r[3] = int64(0)                     // the stop has none
	r[13] = unlimited
	v, err := decodeOne(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !v.override || !v.overEnd.Equal(time.UnixMicro(1_700_000_060_000_000)) || !v.stopEnd.IsZero() {
		t.Errorf("override %v until %v, stopped until %v", v.override, v.overEnd, v.stopEnd)
	}
	if v.wait <= 0 {
		t.Errorf("an unlimited wait is %v", v.wait)
	}
	r[8], r[13] = int64(0), int64(math.MaxInt64)
	if v, err = decodeOne(r, nil); err != nil || v.override || !v.overEnd.IsZero() || v.wait != math.MaxInt64 {
		t.Errorf("without an override: %+v, %v", v, err)
	}
}

func TestTakeReplyOfAnotherShapeIsAnError(t *testing.T) {
	for i := range takeReply() {
		for _, wrong := range []any{nil, "text", []any{}, true, map[any]any{}} {
			r := takeReply()
			r[i] = wrong
			if _, err := decodeOne(r, nil); err == nil {
				t.Errorf("item %d as %T is taken", i+1, wrong)
			}
		}
		if _, err := decodeOne(takeReply()[:i], takeArguments(PerSecond(1), 1, 0, 1, 0)); err == nil && i != takeHead {
			t.Errorf("a reply of %d items is taken", i)
		}
	}
	for _, code := range []int64{-1, codeImpossible + 1, math.MaxInt64} {
		r := takeReply()
		r[12] = code
		if _, err := decodeOne(r, nil); err == nil {
			t.Errorf("code %d is taken", code)
		}
	}
	for _, level := range []string{"nan", "inf", "", "0x10", "1e400"} {
		r := takeReply()
		r[9] = level
		if _, err := decodeOne(r, nil); err == nil || !strings.Contains(err.Error(), "item 10") {
			t.Errorf("level %q: %v", level, err)
		}
	}
}

func TestTakeArgumentsHaveNoExponents(t *testing.T) {
	args := takeArguments(PerDay(0.001).Burst(1e12), 5, 250*time.Millisecond, 1e-6, unlimited)
	want := []any{"1000000000000", "0.000000011574074074074074", int64(86_400_000_000), int64(5), int64(250_000), int64(0), "0.000001:9000000000000000"}
	if !slices.Equal(args, want) {
		t.Errorf("arguments %q, want %q", args, want)
	}
	args = appendTake(nil, 250*time.Millisecond, 1_700_000_000_000_250, nil, time.Time{})
	if args[1] != int64(1_700_000_000_000_250) {
		t.Errorf("the ticket is %v", args[5])
	}
}

func TestPatienceOfARequest(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		name string
		r    request
		want int64
	}{
		{"without a deadline", request{}, unlimited},
		{"with an hour left", request{deadline: now.Add(time.Hour)}, 3_600_000_000},
		{"past the deadline", request{deadline: now.Add(-time.Second)}, 0},
		{"none at all", request{allow: true}, 0},
	} {
		if got := tt.r.patience(now); got != tt.want {
			t.Errorf("%s: %d µs, want %d", tt.name, got, tt.want)
		}
	}
}
