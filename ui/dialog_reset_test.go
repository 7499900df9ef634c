package ui

import (
	"math"
	"testing"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

func TestResetKeys(t *testing.T) {
	for _, c := range []struct {
		name   string
		b      func() watch.Bucket
		keys   []string
		calls  []string
		target bucketctl.Target
		said   []string
		open   bool
	}{
		{"esc closes", stuckBucket, []string{"esc"}, nil, bucketctl.Target{}, nil, false},
		{"y alone does nothing", stuckBucket, []string{"y"}, nil, bucketctl.Target{}, []string{"Choose first"}, true},
		{"f alone does nothing", stuckBucket, []string{"f"}, nil, bucketctl.Target{}, []string{"> f", "y resets it to full, 30 tokens"}, true},
		{"f, enter does nothing", stuckBucket, []string{"f", "enter"}, nil, bucketctl.Target{}, []string{"> f"}, true},
		{"f, y", stuckBucket, []string{"f", "y"}, []string{"Reset geo:py"}, bucketctl.ToFull(), nil, false},
		{"e, y", stuckBucket, []string{"e", "y"}, []string{"Reset geo:py"}, bucketctl.ToEmpty(), nil, false},
		{"f, e, y", stuckBucket, []string{"f", "e", "y"}, []string{"Reset geo:py"}, bucketctl.ToEmpty(), nil, false},
		{"a number, y", stuckBucket, []string{"1", "2", ".", "5", "y"}, []string{"Reset geo:py"}, bucketctl.ToLevel(12.5), nil, false},
		{"a number is corrected", stuckBucket, []string{"1", "2", "backspace", "y"}, []string{"Reset geo:py"}, bucketctl.ToLevel(1), nil, false},
		{"a number taken back", stuckBucket, []string{"1", "backspace", "y"}, nil, bucketctl.Target{}, []string{"Choose first"}, true},
		{"not quite a number", stuckBucket, []string{"1", ".", "y"}, nil, bucketctl.Target{}, []string{`"1." is not a plain number`}, true},
		{"a number, then full", stuckBucket, []string{"7", "f", "y"}, []string{"Reset geo:py"}, bucketctl.ToFull(), nil, false},
		{"f, esc chooses again", stuckBucket, []string{"f", "esc", "y"}, nil, bucketctl.Target{}, []string{"Choose first"}, true},
		{"f, esc, esc closes", stuckBucket, []string{"f", "esc", "esc"}, nil, bucketctl.Target{}, nil, false},
		{"x deletes no bucket", stuckBucket, []string{"x", "y"}, nil, bucketctl.Target{}, []string{"Choose first"}, true},
		{"above the capacity", stuckBucket, []string{"9", "9"}, nil, bucketctl.Target{}, []string{"holds 30 at most, so it becomes that"}, true},
		{"foreign: no full", foreignBucket, []string{"f", "y"}, nil, bucketctl.Target{}, []string{"full is not offered"}, true},
		{"foreign: empty", foreignBucket, []string{"e", "y"}, []string{"Reset old:{bucket}"}, bucketctl.ToEmpty(), nil, false},
		{"foreign: a number", foreignBucket, []string{"5", "y"}, []string{"Reset old:{bucket}"}, bucketctl.ToLevel(5), nil, false},
		{"wrong type: y alone", wrongTypeBucket, []string{"y"}, nil, bucketctl.Target{}, []string{"Press x first"}, true},
		{"wrong type: no reset", wrongTypeBucket, []string{"f", "e", "1", "y"}, nil, bucketctl.Target{}, []string{"Press x first"}, true},
		{"wrong type: x, y", wrongTypeBucket, []string{"x", "y"}, []string{"Delete cfg:limits"}, bucketctl.Target{}, nil, false},
		{"held: H resumes", heldBucket, []string{"H"}, nil, bucketctl.Target{}, []string{"RESUME", "HELD by anna@ops1"}, true},
		{"held: H, y resumes", heldBucket, []string{"H", "y"}, []string{"Resume stripe:charge"}, bucketctl.Target{}, nil, false},
		{"not held: H does nothing", stuckBucket, []string{"H"}, nil, bucketctl.Target{}, []string{"RESET"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := opened(t, newResetDialog, c.b())
			b.press(c.keys...)
			b.wantCalls(c.calls...)
			if b.admin.target != c.target {
				t.Errorf("reset to %v, want %v", b.admin.target, c.target)
			}
			if open := b.top() != nil; open != c.open {
				t.Errorf("open: %v, want %v", open, c.open)
			}
			b.wantSaid(c.said...)
		})
	}
}

func TestResetTakesTheFrozenRevision(t *testing.T) {
	b := opened(t, newResetDialog, stuckBucket())
	b.press("f")
	newer := stuckBucket()
	newer.State.Rev, newer.State.By = 13, "bob@ops2"
	b.feed(snapshotOf(newer))
	b.wantSaid("bob@ops2 changed it (rev 13) meanwhile")
	b.admin.err = &bucketctl.ConflictError{Wanted: 12, State: newer.State}
	b.press("y")
	b.wantCalls("Reset geo:py")
	if b.admin.rev != 12 {
		t.Errorf("decided on rev %d, want 12", b.admin.rev)
	}
	b.wantSaid("Not written: bob@ops2 changed it (rev 13) meanwhile. This is the newer state: look again.")
	b.admin.err = nil
	b.press("y")
	b.wantCalls("Reset geo:py")
	b.press("f", "y")
	b.wantCalls("Reset geo:py", "Reset geo:py")
	if b.admin.rev != 13 {
		t.Errorf("decided on rev %d, want 13", b.admin.rev)
	}
}

func TestResetThatMayHaveLanded(t *testing.T) {
	b := opened(t, newResetDialog, stuckBucket())
	b.admin.err = bucketctl.ErrUnavailable
	b.press("f", "y")
	b.wantSaid("not known. Look at the level before you do it again", "not known whether written")
	b.wantUnsaid("Trying again is safe")
}

func TestResetTakesPastedNumbersAsText(t *testing.T) {
	for _, text := range []string{"NaN", "Inf", "-1", "0x1p4", "1_000", "1e400", "1,000", "12\ny\n", "f", "y", ""} {
		t.Run(text, func(t *testing.T) {
			b := opened(t, newResetDialog, stuckBucket())
			b.inOnePiece(pasteOf(text))
			b.wantCalls()
			b.press("y")
			b.wantCalls()
		})
	}
}

func TestResetOfKeysInOnePiece(t *testing.T) {
	b := opened(t, newResetDialog, stuckBucket())
	b.inOnePiece(keysOf(".", "f")...)
	b.press("backspace", "y")
	b.wantCalls()
	b.wantSaid("Choose first")
	b.press("f")
	b.inOnePiece(keysOf("x", "y")...)
	b.wantCalls()
	b.wantSaid("That key came in one piece with others")
	b.press("y")
	b.wantCalls("Reset geo:py")
}

func TestResetCause(t *testing.T) {
	now := t0
	full := aBucket("a", bucketctl.PerMinute(60).Burst(3), 3)
	cooling := stuckBucket()
	cooling.State.Cooldown = bucketctl.Cooldown{Until: t0.Add(25 * time.Second), By: "geo-7"}
	short := geoBucket()
	none := aBucket("a", bucketctl.PerMinute(60), math.NaN())
	none.State.Kind = bucketctl.KindNone
	ended := heldBucket()
	ended.State.Hold.Until = t0.Add(-time.Second)
	other := stuckBucket()
	other.State.Problems = nil
	window := foreignBucket()
	window.State.Kind = bucketctl.KindForeignWindow
	broken := geoBucket()
	broken.State.Problems = []bucketctl.Problem{{Code: bucketctl.ProblemRecord, Text: "it is no hash"}}
	for _, c := range []struct {
		name, want string
		b          watch.Bucket
		helps      bool
	}{
		{"time ahead", "ts is 9m ahead, no refill until 14:41. A reset mends that.", stuckBucket(), true},
		{"a record that is none", "it is no hash. A reset won't help.", broken, false},
		{"by its status", "ts is 9m ahead, no refill until 14:41", other, true},
		{"held", `it is HELD by anna@ops1 since 14:28:01 (4m), no end: "provider asked us to stop". A reset won't help: nothing is charged before it is resumed.`, heldBucket(), false},
		{"held no longer", "a plain shortage: more is asked for than the limit gives. A reset lets some start beyond the rate, then the queue is back.", ended, true},
		{"cooling", "it is in COOLDOWN by geo-7: the provider asked for a pause. A reset won't help, and does not end it: it ends by itself at 14:32:30, in 25 s.", cooling, false},
		{"short", "a plain shortage: more is asked for than the limit gives. A reset lets some start beyond the rate, then the queue is back.", short, true},
		{"full", "nothing: nobody waits, and it is full", full, false},
		{"no state", "there is no state: the next take begins a full bucket anyway", none, false},
		{"foreign", "not known: nobody reports here who waits for it", foreignBucket(), true},
		{"wrong type", "the key holds a string, which is no bucket: every take from it fails", wrongTypeBucket(), false},
		{"foreign window", "it is another program's window, a sorted set: all that can be done here is to delete it", window, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, helps := resetCause(c.b, now); got != c.want || helps != c.helps {
				t.Errorf("got  %q %v\nwant %q %v", got, helps, c.want, c.helps)
			}
		})
	}
}

func TestStarts(t *testing.T) {
	queue := func(waiting int, n float64) watch.Bucket {
		b := aBucket("a", bucketctl.PerMinute(600).Burst(30), 0)
		b.Waiting, b.LargestN = waiting, n
		return b
	}
	for _, c := range []struct {
		want   string
		b      watch.Bucket
		tokens float64
	}{
		{"30 of the 37 callers waiting start at once", queue(37, 1), 30},
		{"30 of the 37 callers waiting start at once", queue(37, 1), 500}, // the capacity bounds it
		{"all of the 12 callers waiting start at once", queue(12, 1), 30},
		{"all of the 1 caller waiting start at once", queue(1, 1), 30},
		{"at most 30 of the 37 callers waiting start at once; some ask for up to 25 tokens", queue(37, 25), 30},
		{"nobody starts at once; the first after 100 ms", queue(37, 1), 0},
		{"nobody starts at once; the first after 50 ms", queue(37, 1), 0.5},
		{"nobody waits; the next 30 tokens are there at once", queue(0, 1), 30},
		{"at most 30 callers start at once; how many wait is not known", queue(-1, 0), 30},
		{"nobody starts before the stop is over", heldBucket(), 25},
		{"nobody starts at once", foreignBucket(), 0},
	} {
		if got := startsText(c.b, c.tokens, t0); got != c.want {
			t.Errorf("%v tokens, %d waiting: %q, want %q", c.tokens, c.b.Waiting, got, c.want)
		}
	}
}

func TestParseTokens(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "12": 12, "7.5": 7.5, "1000000000000": 1e12} {
		if got, err := parseTokens(text); err != nil || got != want {
			t.Errorf("parseTokens(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "NaN", "Inf", "-1", "+1", "0x1p4", "1_000", "1e3", "1e400", "1,000", ".5", "5.", "1000000000001", " 1"} {
		if got, err := parseTokens(text); err == nil {
			t.Errorf("parseTokens(%q) = %v, want an error", text, got)
		}
	}
}
