package bucketctl

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bucketop/internal/redistest"
)

// near reports whether two levels differ by rounding alone.
func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-6*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

// drawField sets a field to a sound value, to one that can't be, or not at all.
func drawField(t *rapid.T, fields map[string]any, name string, sound *rapid.Generator[string]) {
	switch rapid.SampledFrom([]string{"sound", "sound", "sound", "sound", "absent", "wrong"}).Draw(t, name+" is") {
	case "sound":
		fields[name] = sound.Draw(t, name)
	case "wrong":
		fields[name] = rapid.SampledFrom([]string{
			"nan", "-nan", "inf", "-inf", "abc", "", " ", "1e400", "0x10", "1p3", "9.1e15", "1,5", "1_000", "\xff", "-9e15", "9e15", " 5 ", "5.", ".5", "+5", "1e-400",
		}).Draw(t, name)
	}
}

// around draws moments near now, as microseconds.
func around(now time.Time) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		reach := rapid.SampledFrom([]int64{1e3, 1e6, 60e6, 3600e6, 400 * 86400e6}).Draw(t, "reach")
		return fmt.Sprint(now.UnixMicro() + rapid.Int64Range(-reach, reach).Draw(t, "offset"))
	})
}

func between(low, high float64) *rapid.Generator[string] {
	return rapid.Map(rapid.Float64Range(low, high), func(x float64) string { return fmt.Sprintf("%.17g", x) })
}

func someStored(t *rapid.T, now time.Time) map[string]any {
	fields := map[string]any{}
	drawField(t, fields, "tokens", between(-100, 200))
	drawField(t, fields, "ts", rapid.Map(around(now), func(us string) string { return us[:len(us)-6] + "." + us[len(us)-6:] }))
	drawField(t, fields, "granted", between(0, 1e6))
	drawField(t, fields, "capacity", between(1, 100))
	drawField(t, fields, "rate", between(0.01, 50))
	drawField(t, fields, "per", rapid.Just("60000000"))
	drawField(t, fields, "gen", between(1, 1e15))
	if rapid.Bool().Draw(t, "booked") {
		drawField(t, fields, "turn", around(now))
		drawField(t, fields, "need", between(0.1, 100))
	}
	if rapid.Bool().Draw(t, "cooled") {
		drawField(t, fields, "blocked", around(now))
	}
	if rapid.Bool().Draw(t, "named") {
		fields["kind"] = "bucket"
	}
	return fields
}

func someRecord(t *rapid.T, now time.Time) map[string]any {
	record := map[string]any{}
	if rapid.Bool().Draw(t, "override") {
		drawField(t, record, "capacity", between(1, 200))
		drawField(t, record, "rate", between(0.01, 100))
		if rapid.Bool().Draw(t, "ends") {
			drawField(t, record, "until", around(now))
		}
	}
	if rapid.Bool().Draw(t, "hold") {
		drawField(t, record, "hold", rapid.OneOf(rapid.Just("forever"), around(now)))
	}
	drawField(t, record, "rev", rapid.Just("17"))
	return record
}

// What readers work out from the stored fields is what the take script works
// out from them, at the same server time, whatever the fields hold.
func TestStateIsWhatTheTakeScriptSees(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	ctx := t.Context()
	keys := []string{"k", a.keys.Limit("k")}
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		now, err := c.Time(ctx).Result()
		if err != nil {
			t.Fatal(err)
		}
		for i, fields := range []map[string]any{someStored(t, now), someRecord(t, now)} {
			if err := c.Del(ctx, keys[i]).Err(); err != nil {
				t.Fatal(err)
			}
			if len(fields) > 0 {
				if err := c.HSet(ctx, keys[i], fields).Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
		states, err := a.GetMany(ctx, []string{"k"})
		if err != nil {
			t.Fatal(err)
		}
		s := states[0]
		if s.Kind != KindBucket {
			return // nothing of ours: the script would begin a bucket
		}
		// The lowest generation of all leaves the stored limit alone.
		args := takeArguments(PerSecond(3).Burst(7), -maxNumber, 0, 1e-6, 0)
		r, err := runScript(ctx, c, a.scripts.take, keys, args...)
		if err != nil {
			t.Fatal(err)
		}
		v, err := decodeOne(r, args)
		if err != nil {
			t.Fatal(err)
		}
		if v.code == codeCharged {
			v.level += 1e-6
		}
		s = reading{key: "k", at: v.at, typ: s.Type, fields: s.Raw, record: s.RawLimit}.state()
		compareWithTake(t, s, v)
		compared++
	})
	if compared < 20 {
		t.Errorf("only %d states were compared", compared)
	}
}

func compareWithTake(t *rapid.T, s State, v verdict) {
	corrupt := len(s.Problems) > 0 && s.Problems[0].Code == ProblemCorrupt
	ahead := len(s.Problems) > 0 && s.Problems[0].Code == ProblemAhead
	if corrupt != (v.mended == 1) || ahead != (v.mended == mendedAhead) {
		t.Fatalf("mended %d, problems %+v", v.mended, s.Problems)
	}
	if corrupt && s.Level != 0 {
		t.Fatalf("corrupt, and the level is %v", s.Level)
	}
	if !s.Declared.IsZero() || corrupt {
		if !near(s.Level, v.level) {
			t.Fatalf("level %v, the script says %v\n%+v\n%+v", s.Level, v.level, s, v)
		}
	}
	if !s.Declared.IsZero() && (s.Effective.Capacity != v.limit.Capacity || s.Effective.Rate != v.limit.Rate) {
		t.Fatalf("in force %+v, the script says %+v", s.Effective, v.limit)
	}
	if s.Override.IsZero() == v.override || !s.Override.Until.Equal(v.overEnd) || s.Rev != v.rev {
		t.Fatalf("override %+v at rev %d, the script says %v until %v at rev %d", s.Override, s.Rev, v.override, v.overEnd, v.rev)
	}
	stop, end := int64(stopNone), time.Time{}
	switch {
	case s.Hold.Active:
		stop, end = stopHeld, s.Hold.Until
	case !s.Cooldown.Until.IsZero():
		stop, end = stopCooldown, s.Cooldown.Until
	}
	if stop != v.stop || !end.Equal(v.stopEnd) {
		t.Fatalf("stop %d until %v, the script says %d until %v", stop, end, v.stop, v.stopEnd)
	}
}
