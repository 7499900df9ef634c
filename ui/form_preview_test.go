package ui

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// shortage is a bucket with a queue, whose workers all hear of changes.
func shortage(change func(*watch.Bucket)) watch.Bucket {
	b := geoBucket()
	b.Workers[3].Silent, b.LargestN = false, 1
	if change != nil {
		change(&b)
	}
	return b
}

func TestForesee(t *testing.T) {
	const drawnEnd = "15:32:05 back to declared, 300/min and 15 (not to 600/min)"
	for _, c := range []struct {
		name  string
		b     watch.Bucket
		typed editTexts
		then  []string
	}{
		{"as drawn", shortage(nil), editTexts{"450/min", "22", "1h"}, []string{
			"450/min at most; those 37 wait 5 s, the queue grows by 138/min",
			"at most 22 start at once (was 30); 0 tokens are cut off", drawnEnd}},
		{"faster", shortage(nil), editTexts{"900/min", "", "1h"}, []string{
			"900/min at most; those 37 wait 3 s", "at most 30 start at once, as now; 0 tokens are cut off", drawnEnd}},
		{"a factor", shortage(nil), editTexts{"x0.5", "", "1h"}, []string{
			"300/min at most; those 37 wait 8 s, the queue grows by 288/min",
			"at most 30 start at once, as now; 0 tokens are cut off", drawnEnd}},
		{"seconds of the new rate", shortage(nil), editTexts{"450/min", "2s", "1h"}, []string{
			"450/min at most; those 37 wait 5 s, the queue grows by 138/min",
			"at most 15 start at once (was 30); 0 tokens are cut off", drawnEnd}},
		{"its own end stays", shortage(nil), editTexts{"450/min"}, []string{
			"450/min at most; those 37 wait 5 s, the queue grows by 138/min",
			"at most 30 start at once, as now; 0 tokens are cut off",
			"14:58:05 back to declared, 300/min and 15 (not to 600/min); the end is the one it had"}},
		{"for ever", shortage(nil), editTexts{"450/min", "", "forever"}, []string{
			"450/min at most; those 37 wait 5 s, the queue grows by 138/min",
			"at most 30 start at once, as now; 0 tokens are cut off", "no end: it stays until somebody changes it"}},
		{"back to declared", shortage(nil), editTexts{"declared", "declared"}, []string{
			"300/min at most; those 37 wait 8 s, the queue grows by 288/min",
			"at most 15 start at once (was 30); 0 tokens are cut off", "back to declared, 300/min and 15, at once"}},
		{"over midnight", shortage(nil), editTexts{"450/min", "", "2d"}, []string{
			"450/min at most; those 37 wait 5 s, the queue grows by 138/min",
			"at most 30 start at once, as now; 0 tokens are cut off",
			"Mar 16 14:32 back to declared, 300/min and 15 (not to 600/min)"}},
		{"an end alone", shortage(nil), editTexts{"", "", "1h"}, []string{
			"600/min at most; those 37 wait 4 s", "at most 30 start at once, as now; 0 tokens are cut off", drawnEnd}},
		{"nobody waits", shortage(func(b *watch.Bucket) { b.Waiting, b.Granted, b.State.Level = 0, 5, 30 }),
			editTexts{"240/min", "", "1h"}, []string{"240/min at most; callers begin to wait, the queue grows by 60/min",
				"at most 30 start at once, as now; 0 tokens are cut off", drawnEnd}},
		{"nobody waits, nor will", shortage(func(b *watch.Bucket) { b.Waiting, b.Granted, b.State.Level = 0, 1, 30 }),
			editTexts{"240/min", "", "1h"}, []string{"240/min at most",
				"at most 30 start at once, as now; 0 tokens are cut off", drawnEnd}},
		{"unknown waiters", shortage(func(b *watch.Bucket) { b.Waiting, b.Granted = -1, math.NaN() }), editTexts{"450/min", "", "1h"},
			[]string{"450/min at most", "at most 30 start at once, as now; 0 tokens are cut off", drawnEnd}},
		{"tokens left", shortage(func(b *watch.Bucket) { b.Waiting, b.State.Level = 0, 30 }), editTexts{"", "22", "1h"}, []string{
			"600/min at most", "at most 22 start at once (was 30); 8 tokens are cut off", drawnEnd}},
		{"unknown level", shortage(func(b *watch.Bucket) { b.State.Level = math.NaN() }), editTexts{"450/min", "22", "1h"}, []string{
			"450/min at most; those 37 wait 5 s, the queue grows by 138/min", "at most 22 start at once (was 30)", drawnEnd}},
		{"a debt keeps its time", shortage(func(b *watch.Bucket) { b.State.Level = -30 }), editTexts{"300/min", "", "1h"}, []string{
			"300/min at most; those 37 wait 11 s, the queue grows by 288/min",
			"at most 30 start at once, as now; 0 tokens are cut off", drawnEnd}},
		{"held", shortage(func(b *watch.Bucket) { b.State.Hold.Active = true }), editTexts{"450/min", "", "1h"}, []string{
			"450/min at most, once it is no longer stopped", "at most 30 start at once, as now; 0 tokens are cut off", drawnEnd}},
		{"nothing known", watch.Bucket{Key: "a", State: bucketctl.State{Kind: bucketctl.KindNone, At: t0, Level: math.NaN()}, Granted: math.NaN(), Waiting: -1},
			editTexts{"450/min"}, []string{"what the workers declare is not known, so what will be in force is not either",
				"no end: it stays until somebody changes it"}},
		{"nothing typed", shortage(nil), editTexts{}, []string{"as now: nothing is changed yet"}},
		{"what is in force", shortage(nil), editTexts{"600/min", "30"}, []string{"as now: nothing is changed yet"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := foresee(c.b.State, c.b, c.typed, t0)
			if o.err != nil {
				t.Fatal(o.err)
			}
			if !slices.Equal(o.then, c.then) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(o.then, "\n  "), strings.Join(c.then, "\n  "))
			}
		})
	}
}

func TestNow(t *testing.T) {
	unlimited := aBucket("a", bucketctl.Limit{}, 0)
	unlimited.Granted = 2
	strange := aBucket("a", bucketctl.Limit{}, 0)
	strange.Granted, strange.Waiting = math.NaN(), -1
	for want, b := range map[string]watch.Bucket{
		"588 of 600/min granted, 37 waiting; the last of them waits 4 s":         shortage(nil),
		"588 of 600/min granted, 37 waiting; the last of them waits 4 s or more": geoBucket(),
		"588 of 600/min granted, 37 waiting; the last of them waits 30 s":        shortage(func(b *watch.Bucket) { b.HeadWait = 30 * time.Second }),
		"588 of 600/min granted, nobody waits":                                   shortage(func(b *watch.Bucket) { b.Waiting = 0 }),
		"588 of 600/min granted, how many wait is not known":                     shortage(func(b *watch.Bucket) { b.Waiting = -1 }),
		"what is granted of 600/min is not known, nobody waits":                  shortage(func(b *watch.Bucket) { b.Granted, b.Waiting = math.NaN(), 0 }),
		"limit 600/min; nothing is known of grants or who waits":                 shortage(func(b *watch.Bucket) { b.Granted, b.Waiting = math.NaN(), -1 }),
		"nothing is known of grants, limit or who waits":                         strange,
		"2/s granted of a limit that is not known, nobody waits":                 unlimited,
		"0 of 25/s granted, 61 waiting":                                          heldBucket(),
	} {
		if got := nowText(b); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	typed := editTexts{"450/min", "22", "1h"}
	for _, c := range []struct {
		name  string
		b     watch.Bucket
		typed editTexts
		want  []string
	}{
		{"none", shortage(nil), typed, nil},
		{"silent", shortage(func(b *watch.Bucket) { b.Workers[3].Silent = true }), typed,
			[]string{"geo-7 is SILENT 42s: this edit reaches 3 of 4 workers; geo-7 may be drawing up to 150/min on its own until Redis answers it"}},
		{"two silent", shortage(func(b *watch.Bucket) { b.Workers[2].Silent, b.Workers[3].Silent = true, true }), typed,
			[]string{"geo-6 and geo-7 are SILENT 42s: this edit reaches 2 of 4 workers; geo-6 and geo-7 may be drawing up to 300/min on their own until Redis answers them"}},
		{"fallback", shortage(func(b *watch.Bucket) { b.Workers[0].Mode, b.Workers[0].Share = bucketctl.ModeClosed, 0 }), typed,
			[]string{"geo-4 is in FALLBACK: this edit reaches 3 of 4 workers; geo-4 may be deciding on its own until Redis answers it"}},
		{"both", shortage(func(b *watch.Bucket) { b.Workers[0].Mode, b.Workers[3].Silent = bucketctl.ModeShare, true }), typed,
			[]string{"geo-7 is SILENT 42s, geo-4 is in FALLBACK: this edit reaches 2 of 4 workers; geo-7 and geo-4 may be drawing up to 300/min on their own until Redis answers them"}},
		{"large requests", shortage(func(b *watch.Bucket) { b.LargestN = 25 }), typed,
			[]string{"workers ask for up to 25 at once: with capacity 22 those calls fail at once"}},
		{"large requests that fit", shortage(func(b *watch.Bucket) { b.LargestN = 22 }), typed, nil},
		{"less than a second", shortage(nil), editTexts{"600/min", "9", ""},
			[]string{"capacity 9 is only 0.9 s of rate: it stalls on jitter; 3 s is usual"}},
		{"a second", shortage(nil), editTexts{"600/min", "10", ""}, nil},
		{"a minute", shortage(nil), editTexts{"600/min", "600", ""}, []string{"capacity 600 is 1 min of rate: all of that can start at once"}},
		{"one token an hour", shortage(nil), editTexts{"1/h", "1", ""}, []string{"1/h is 36k times less than what is in force (600/min): is the unit right?"}},
		{"a slip of the unit", shortage(nil), editTexts{"450/s", "1350", ""}, []string{"450/s is 45 times what is in force (600/min): is the unit right?"}},
		{"tokens cut off", shortage(func(b *watch.Bucket) { b.Waiting, b.State.Level = 0, 30 }), typed, []string{"8 tokens are cut off: 30 are in it, 22 fit"}},
		{"held", shortage(func(b *watch.Bucket) { b.State.Hold = bucketctl.Hold{Active: true, By: "eve"} }), typed,
			[]string{"it is HELD by eve: an edit does not resume it (H does)"}},
		{"cooling", shortage(func(b *watch.Bucket) { b.State.Cooldown.Until = t0.Add(time.Minute) }), typed,
			[]string{"it is in COOLDOWN until 14:33:05: an edit does not end that"}},
		{"held, nothing typed", shortage(func(b *watch.Bucket) { b.State.Hold.Active = true }), editTexts{},
			[]string{"it is HELD: an edit does not resume it (H does)"}},
		{"a window is a window", shortage(func(b *watch.Bucket) { b.State.Kind = bucketctl.KindWindow }), editTexts{"600/min", "600", ""}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := foresee(c.b.State, c.b, c.typed, t0)
			if o.err != nil {
				t.Fatal(o.err)
			}
			if !slices.Equal(o.warnings, c.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(o.warnings, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

// TestForeseeKnowsTheTime lets the override in force end while the form is
// open: what is typed lies over the declared limit then.
func TestForeseeKnowsTheTime(t *testing.T) {
	b := shortage(nil)
	o := foresee(b.State, b, editTexts{"x2", "", "1h"}, t0.Add(27*time.Minute))
	if o.err != nil || o.limit != bucketctl.PerMinute(600).Burst(15) {
		t.Errorf("%v, %v; want twice the declared 300/min", o.limit, o.err)
	}
	if want := t0.Add(87 * time.Minute); !o.override.Until.Equal(want) {
		t.Errorf("ends %v, want %v", o.override.Until, want)
	}
}
