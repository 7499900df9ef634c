package bucketctl

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"bucketop/internal/schema"
)

// readAt is the server's clock in the readings below: 2023-11-14 22:13:20 UTC.
func readAt() time.Time { return time.UnixMicro(1_700_000_000_000_000).UTC() }

// soundBucket is 300/min, 15, with 4 tokens a second ago: 9 by now.
func soundBucket() map[string]string {
	return map[string]string{
		"tokens": "4", "ts": "1699999999.000000", "granted": "120",
		"capacity": "15", "rate": "5", "per": "60000000", "gen": "7", "exp": "1700090000000000",
	}
}

// with returns the fields with pairs of name and value set over them; a value
// of "-" takes the field away.
func with(fields map[string]string, pairs ...string) map[string]string {
	out := maps.Clone(fields)
	if out == nil {
		out = map[string]string{}
	}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
		if pairs[i+1] == "-" {
			delete(out, pairs[i])
		}
	}
	return out
}

func readingOf(fields, record map[string]string) reading {
	typ := "hash"
	if len(fields) == 0 {
		typ = "none"
	}
	return reading{key: "k", at: readAt(), typ: typ, fields: fields, record: record}
}

func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		typ    string
		fields map[string]string
		record map[string]string
		want   Kind
	}{
		{"nothing", "none", nil, nil, KindNone},
		{"nothing but an override", "none", nil, with(nil, "capacity", "5"), KindNone},
		{"a bucket", "hash", soundBucket(), nil, KindBucket},
		{"a bucket that says so", "hash", with(soundBucket(), "kind", "bucket"), nil, KindBucket},
		{"a new bucket", "hash", with(nil, "capacity", "15", "rate", "5", "gen", "1"), nil, KindBucket},
		{"a window", "hash", with(nil, "kind", "window", "gen", "1"), nil, KindWindow},
		{"a kind of a later version", "hash", with(soundBucket(), "kind", "leaky"), nil, KindWrongType},
		{"another program's", "hash", with(nil, "tokens", "3", "ts", "1699999999.5"), nil, KindForeign},
		{"half of another program's", "hash", with(nil, "tokens", "3"), nil, KindForeign},
		{"another program's window", "zset", nil, nil, KindForeignWindow},
		{"a sorted set where a bucket was", "zset", nil, with(nil, "rev", "5"), KindWrongType},
		{"a hash of no kind", "hash", with(nil, "name", "bob"), nil, KindWrongType},
		{"a string", "string", nil, nil, KindWrongType},
		{"a list", "list", nil, nil, KindWrongType},
	} {
		r := reading{key: "k", at: readAt(), typ: tt.typ, fields: tt.fields, record: tt.record}
		s := r.state()
		if s.Kind != tt.want || s.Type != tt.typ || s.Key != "k" || !s.At.Equal(readAt()) {
			t.Errorf("%s: %+v, want kind %s", tt.name, s, tt.want)
		}
		if wrong := len(s.Problems) > 0 && s.Problems[0].Code == ProblemWrongType; wrong != (tt.want == KindWrongType) {
			t.Errorf("%s: problems %+v", tt.name, s.Problems)
		}
		if known := s.Known(); known && tt.want != KindBucket && tt.want != KindForeign {
			t.Errorf("%s: a level of %v", tt.name, s.Level)
		}
	}
}

func TestStateOfASoundBucket(t *testing.T) {
	r := readingOf(soundBucket(), with(nil, "rev", "12", "by", "anna", "at", "1699999990000000", "reason", "backlog"))
	r.ttl = time.Hour
	s := r.state()
	if s.Level != 9 || s.Granted != 120 || s.Gen != 7 || s.TTL != time.Hour {
		t.Errorf("level %v, granted %v, gen %v, TTL %v", s.Level, s.Granted, s.Gen, s.TTL)
	}
	if s.Declared != PerMinute(300) || s.Effective != s.Declared || !s.Override.IsZero() {
		t.Errorf("declared %v, in force %v", s.Declared, s.Effective)
	}
	if s.Rev != 12 || s.By != "anna" || s.Reason != "backlog" || s.ChangedAt != readAt().Add(-10*time.Second) {
		t.Errorf("rev %d by %q at %v: %q", s.Rev, s.By, s.ChangedAt, s.Reason)
	}
	if s.Hold.Active || !s.Cooldown.Until.IsZero() || len(s.Problems) != 0 || !maps.Equal(s.Raw, soundBucket()) {
		t.Errorf("state %+v", s)
	}
}

func TestLevels(t *testing.T) {
	over := func(pairs ...string) map[string]string { return with(nil, append(pairs, "rev", "1")...) }
	for _, tt := range []struct {
		name           string
		fields, record map[string]string
		want           float64
	}{
		{"refilled", soundBucket(), nil, 9},
		{"full", with(soundBucket(), "ts", "1699990000"), nil, 15},
		{"just now", with(soundBucket(), "ts", "1700000000"), nil, 4},
		{"from long ago", with(soundBucket(), "ts", "0"), nil, 15},
		{"from before all time", with(soundBucket(), "ts", "-9e15"), nil, 15},
		{"a debt", with(soundBucket(), "tokens", "-20"), nil, -15},
		{"new", with(soundBucket(), "tokens", "-", "ts", "-"), nil, 15},
		{"new, under an override", with(soundBucket(), "tokens", "-", "ts", "-"), over("capacity", "40"), 40},
		{"under a faster rate", soundBucket(), over("rate", "10", "capacity", "30"), 14},
		{"under a smaller capacity", soundBucket(), over("capacity", "6"), 6},
		{"under an override that ended before", soundBucket(), over("rate", "1000", "until", "1699999990000000"), 9},
		{"under one that ended on the way", soundBucket(), over("rate", "2", "until", "1699999999500000"), 4 + 0.5*2 + 0.5*5},
		{"in debt when it ended", with(soundBucket(), "tokens", "-3"), over("rate", "2", "until", "1699999999500000"), -2*5/2.0 + 0.5*5},
		{"under an end that can't be read", soundBucket(), over("rate", "1000", "until", "soon"), 9},
		{"in a cooldown", with(soundBucket(), "blocked", "1700000060000000"), nil, 4},
		{"after a cooldown", with(soundBucket(), "blocked", "1699999999600000"), nil, 6},
		{"ts a little ahead", with(soundBucket(), "ts", "1700000000.5"), nil, 4},
		{"ts far ahead", with(soundBucket(), "ts", "1700000600"), nil, 4},
		{"ts ahead and too full", with(soundBucket(), "ts", "1700000600", "tokens", "400"), nil, 15},
		{"ts in microseconds", with(soundBucket(), "ts", "1700000000000000"), nil, 4},
		{"ts in nanoseconds", with(soundBucket(), "ts", "1700000000000000000"), nil, 0},
		{"another program's", with(nil, "tokens", "3", "ts", "1699999000"), nil, 3},
	} {
		s := readingOf(tt.fields, tt.record).state()
		if math.Abs(s.Level-tt.want) > 1e-9 {
			t.Errorf("%s: level %v, want %v", tt.name, s.Level, tt.want)
		}
	}
	if s := readingOf(with(nil, "gen", "1", "rate", "5"), nil).state(); s.Known() {
		t.Errorf("a new bucket whose capacity nobody knows holds %v", s.Level)
	}
}

func TestCorruptFields(t *testing.T) {
	for _, field := range []string{"tokens", "ts", "granted", "capacity", "rate", "per", "gen", "blocked"} {
		for _, value := range []string{"nan", "-nan", "inf", "-inf", "abc", "", "1e400", "0x10", "1_000", "9.1e15", "1p3", "1,5", "\xff"} {
			s := readingOf(with(soundBucket(), field, value), nil).state()
			if s.Level != 0 {
				t.Errorf("%s %q: level %v, and the next take begins from 0", field, value, s.Level)
			}
			if len(s.Problems) != 1 || s.Problems[0].Code != ProblemCorrupt || s.Problems[0].Field != field {
				t.Errorf("%s %q: problems %+v", field, value, s.Problems)
				continue
			}
			if want := fmt.Sprintf("%s is %q", field, value); !strings.HasPrefix(s.Problems[0].Text, want) {
				t.Errorf("%s %q: %q does not begin with %q", field, value, s.Problems[0].Text, want)
			}
		}
	}
	for field, values := range map[string][]string{"capacity": {"0", "-5"}, "rate": {"0", "-5"}, "per": {"abc"}, "gen": {"abc"}} {
		for _, value := range values {
			if s := readingOf(with(soundBucket(), field, value), nil).state(); len(s.Problems) != 1 || !s.Declared.IsZero() {
				t.Errorf("%s %s: %+v", field, value, s)
			}
		}
	}
	for _, field := range []string{"tokens", "ts"} {
		s := readingOf(with(soundBucket(), field, "-"), nil).state()
		if len(s.Problems) != 1 || s.Problems[0].Field != field || !strings.Contains(s.Problems[0].Text, "is missing") || s.Level != 0 {
			t.Errorf("without %s: %+v", field, s)
		}
	}
	// What decides nothing can be wrong without anything beginning again.
	for _, field := range []string{"exp", "turn", "need"} {
		if s := readingOf(with(soundBucket(), field, "abc"), nil).state(); len(s.Problems) != 0 || s.Level != 9 {
			t.Errorf("%s abc: level %v, problems %+v", field, s.Level, s.Problems)
		}
	}
	long := strings.Repeat("x", 10_000)
	if s := readingOf(with(soundBucket(), "tokens", long), nil).state(); len(s.Problems[0].Text) > 200 {
		t.Errorf("a problem of %d bytes", len(s.Problems[0].Text))
	}
}

func TestProblems(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fields map[string]string
		code   ProblemCode // "": none
		says   string
	}{
		{"sound", soundBucket(), "", ""},
		{"ts under a second ahead", with(soundBucket(), "ts", "1700000000.9"), "", ""},
		{"ts ahead", with(soundBucket(), "ts", "1700000540"), ProblemAhead, "ts is 9m ahead, the next take sets it to now"},
		{"ts a year ahead", with(soundBucket(), "ts", "1731600000"), ProblemAhead, "ts is 1y ahead"},
		{"ts in microseconds", with(soundBucket(), "ts", "1700000000000000"), ProblemAhead, "ahead"},
		{"another program's ts ahead", with(nil, "tokens", "0", "ts", "1700000540"), ProblemAhead, "ts is 9m ahead, no refill until 22:22"},
		{"another program's ts days ahead", with(nil, "tokens", "0", "ts", "1700300000"), ProblemAhead, "until 2023-11-18 09:33"},
		{"a light debt", with(soundBucket(), "tokens", "-200"), "", ""},
		{"a heavy debt", with(soundBucket(), "tokens", "-3605"), ProblemDebt, "the level is -3600, nothing is granted for 12m"},
		{"another program's debt", with(nil, "tokens", "-1", "ts", "1699999999"), ProblemDebt, "its limit is unknown"},
		{"blocked a year ahead", with(soundBucket(), "blocked", "1731600000000000"), ProblemCorrupt, "blocked lies 1y ahead"},
		{"blocked for a day", with(soundBucket(), "blocked", "1700086400000000"), "", ""},
	} {
		s := readingOf(tt.fields, nil).state()
		switch {
		case tt.code == "" && len(s.Problems) != 0:
			t.Errorf("%s: problems %+v", tt.name, s.Problems)
		case tt.code != "" && (len(s.Problems) == 0 || s.Problems[0].Code != tt.code || !strings.Contains(s.Problems[0].Text, tt.says)):
			t.Errorf("%s: problems %+v, want %s that says %q", tt.name, s.Problems, tt.code, tt.says)
		}
	}
}

func TestCooldowns(t *testing.T) {
	s := readingOf(with(soundBucket(), "blocked", "1700000060000000", "blocked_by", "geo-7"), nil).state()
	if s.Cooldown != (Cooldown{Until: readAt().Add(time.Minute), By: "geo-7"}) {
		t.Errorf("cooldown %+v", s.Cooldown)
	}
	for _, blocked := range []string{"1700000000000000", "0", "1731600000000000", "abc"} {
		if s := readingOf(with(soundBucket(), "blocked", blocked), nil).state(); !s.Cooldown.Until.IsZero() {
			t.Errorf("blocked %s: %+v", blocked, s.Cooldown)
		}
	}
}

func TestHolds(t *testing.T) {
	at := readAt()
	for hold, want := range map[string]Hold{
		"forever":          {Active: true},
		"1700000600000000": {Active: true, Until: at.Add(10 * time.Minute)},
		"1700000000000000": {},
		"0":                {},
		"abc":              {Active: true}, // stopping is the safe side
		"":                 {Active: true},
		"nan":              {Active: true},
	} {
		record := with(nil, schema.FieldHold, hold, "hold_by", "anna", "hold_at", "1699999999000000", "hold_reason", "asked to", "rev", "3")
		if want.Active {
			want.By, want.At, want.Reason = "anna", at.Add(-time.Second), "asked to"
		}
		if got := readingOf(soundBucket(), record).state(); got.Hold != want || got.Rev != 3 {
			t.Errorf("hold %q: %+v at rev %d, want %+v", hold, got.Hold, got.Rev, want)
		}
	}
}

func TestOverridesInForce(t *testing.T) {
	at := readAt()
	for _, tt := range []struct {
		name   string
		record map[string]string
		want   Override
	}{
		{"none", nil, Override{}},
		{"both, no end", with(nil, "capacity", "30", "rate", "10", "per", "60000000"), Override{Capacity: 30, Rate: 10, Per: time.Minute}},
		{"with an end", with(nil, "capacity", "30", "until", "1700000060000000"), Override{Capacity: 30, Until: at.Add(time.Minute)}},
		{"ended", with(nil, "capacity", "30", "until", "1700000000000000"), Override{}},
		{"an end that can't be read", with(nil, "capacity", "30", "until", "soon"), Override{}},
		{"an end alone", with(nil, "until", "1700000060000000"), Override{}},
		{"no numbers", with(nil, "capacity", "abc", "rate", "-1"), Override{}},
		{"one number", with(nil, "capacity", "nan", "rate", "3"), Override{Rate: 3}},
	} {
		if s := readingOf(soundBucket(), tt.record).state(); s.Override != tt.want || s.Effective != tt.want.Over(s.Declared) {
			t.Errorf("%s: %+v, in force %v, want %+v", tt.name, s.Override, s.Effective, tt.want)
		}
	}
}
