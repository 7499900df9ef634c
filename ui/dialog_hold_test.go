package ui

import (
	"testing"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

func TestHoldKeys(t *testing.T) {
	retype := func(text string) func(*bench) {
		return func(b *bench) { b.press("ctrl+u"); b.typed(text); b.press("enter") }
	}
	for _, c := range []struct {
		name  string
		play  func(*bench)
		calls []string
		end   bucketctl.End
		said  []string
		open  bool
	}{
		{"it proposes 10 minutes", func(b *bench) { b.press("enter") }, nil, bucketctl.End{}, []string{"for 10m", "14:42:0", "> Cancel"}, true},
		{"enter, enter is harmless", func(b *bench) { b.press("enter", "enter") }, nil, bucketctl.End{}, []string{"[ 10m_"}, true},
		{"tab to Hold", func(b *bench) { b.press("enter", "tab", "enter") }, []string{"Hold geocode:{acme}:eu"},
			bucketctl.EndAfter(10 * time.Minute), nil, false},
		{"forever", func(b *bench) { retype("forever")(b); b.press("tab", "enter") }, []string{"Hold geocode:{acme}:eu"}, bucketctl.NoEnd(), nil, false},
		{"forever says so", retype("forever"), nil, bucketctl.End{}, []string{"no end: it stays until somebody resumes it (H)"}, true},
		{"nothing is no answer", retype(""), nil, bucketctl.End{}, []string{"how long? Write 10m, 2h, 1d or forever"}, true},
		{"a wrong duration", retype("soon"), nil, bucketctl.End{}, []string{`"soon" is no duration`, "[ soon_"}, true},
		{"NaN", retype("NaN"), nil, bucketctl.End{}, []string{`"NaN" is no duration`}, true},
		{"0s", retype("0s"), nil, bucketctl.End{}, []string{`"0s": it must be from 1s to 366d`}, true},
		{"esc closes", func(b *bench) { b.press("esc") }, nil, bucketctl.End{}, nil, false},
		{"esc keeps typed text once", func(b *bench) { b.press("tab"); b.typed("why"); b.press("esc") }, nil, bucketctl.End{}, []string{"esc again"}, true},
		{"esc from the review", func(b *bench) { b.press("enter", "tab", "esc") }, nil, bucketctl.End{}, []string{"[ 10m_"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := opened(t, newHoldDialog, geoBucket())
			c.play(b)
			b.wantCalls(c.calls...)
			if b.admin.end != c.end {
				t.Errorf("end %+v, want %+v", b.admin.end, c.end)
			}
			if open := b.top() != nil; open != c.open {
				t.Errorf("open: %v, want %v", open, c.open)
			}
			b.wantSaid(c.said...)
		})
	}
}

func TestHoldGivesTheReason(t *testing.T) {
	b := opened(t, newHoldDialog, geoBucket())
	b.press("tab")
	b.typed("yes, 429s")
	b.press("enter", "tab", "enter")
	if b.admin.reason != "yes, 429s" || b.admin.rev != 12 {
		t.Errorf("held for %q on rev %d", b.admin.reason, b.admin.rev)
	}
}

func TestHoldSaysWhoWaits(t *testing.T) {
	for waiting, want := range map[int]string{
		37: "the 37 callers waiting go on waiting", 1: "the 1 caller waiting", 0: "nobody waits now", -1: "how many wait is not known",
	} {
		bucket := geoBucket()
		bucket.Waiting = waiting
		b := opened(t, newHoldDialog, bucket)
		b.wantSaid(want, "those charged already still start, within 250 ms", "this hold reaches 3 of 4 workers")
	}
}

func TestHoldRefusals(t *testing.T) {
	known := foreignBucket()
	known.Seen = t0 // a worker of ours has it too, and reads holds
	for _, c := range []struct {
		name string
		b    watch.Bucket
		said string
	}{
		{"foreign", foreignBucket(), "its workers read no holds"},
		{"foreign, and ours", known, "accepts 10m"},
		{"wrong type", wrongTypeBucket(), "The key holds a string"},
		{"unread", watch.Bucket{Key: "new"}, "not read yet"},
		{"denied", watch.Bucket{Key: "hers", State: bucketctl.State{Kind: bucketctl.KindDenied}}, "Redis' ACL keeps this bucket"},
	} {
		t.Run(c.name, func(t *testing.T) { opened(t, newHoldDialog, c.b).wantSaid(c.said) })
	}
}

func TestHoldConflict(t *testing.T) {
	b := opened(t, newHoldDialog, geoBucket())
	b.admin.err = &bucketctl.ConflictError{Wanted: 12, State: theirState()}
	b.press("enter", "tab", "enter")
	b.wantSaid("Not written: bob@ops2 changed it at 14:31:58 (rev 13) meanwhile", "[ 10m_", "rev 13")
}

func TestResume(t *testing.T) {
	b := opened(t, newResumeDialog, heldBucket())
	b.wantSaid("HELD by anna@ops1 since 14:28:01 (4m), no end", `"provider asked us to stop"`,
		"25 of the 61 callers waiting start at once; after that 25/s at most", "the last of those who wait starts after 2 s")
	b.press("enter", "n", "f")
	b.wantCalls()
	b.press("y")
	b.wantCalls("Resume stripe:charge")
	if b.admin.rev != 7 || b.top() != nil {
		t.Errorf("on rev %d, open: %v", b.admin.rev, b.top() != nil)
	}
}

func TestResumeOfWhatIsHeldNoMore(t *testing.T) {
	bucket := heldBucket()
	bucket.State.Hold.Until = t0.Add(time.Second)
	b := opened(t, newResumeDialog, bucket)
	b.pass(2 * time.Second)
	b.wantSaid("It is not held any more")
	b.press("y")
	b.wantCalls()
}

func TestResumeUnderCooldown(t *testing.T) {
	bucket := heldBucket()
	bucket.State.Cooldown.Until = t0.Add(time.Minute)
	opened(t, newResumeDialog, bucket).wantSaid("it is in COOLDOWN too, until 14:33:05", "nobody starts before the stop is over")
}

func TestDelete(t *testing.T) {
	b := opened(t, newDeleteDialog, geoBucket())
	b.wantSaid("Stays the override and the hold", "begin a new one, full (30 tokens)", "at most 30 of the 37 callers waiting")
	b.press("enter", "X", "x", "d")
	b.wantCalls()
	b.press("y")
	b.wantCalls("Delete geocode:{acme}:eu")
}

func TestDeleteSaysWhatIsLost(t *testing.T) {
	cooling := geoBucket()
	cooling.State.Cooldown.Until = t0.Add(time.Minute)
	opened(t, newDeleteDialog, cooling).wantSaid("the COOLDOWN until 14:33:05 goes with it")
	opened(t, newDeleteDialog, wrongTypeBucket()).wantSaid("the string in the key", "is lost, for whatever program wrote it")

	unread := opened(t, newDeleteDialog, watch.Bucket{Key: "new"}) // nobody knows what would be lost
	unread.wantSaid("not read yet")
	unread.press("y")
	unread.wantCalls()

	none := geoBucket()
	none.State.Kind = bucketctl.KindNone
	b := opened(t, newDeleteDialog, none)
	b.wantSaid("its place in the list alone", "y forgets the bucket")
	b.press("y")
	b.wantCalls("Delete geocode:{acme}:eu")
}
