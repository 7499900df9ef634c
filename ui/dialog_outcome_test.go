package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
)

// conflicting is a form that was typed into while somebody else wrote.
func conflicting(t *testing.T) *bench {
	b := opened(t, newEditDialog, geoBucket())
	typeEdit(b)
	b.admin.err = &bucketctl.ConflictError{Wanted: 12, State: theirState()}
	b.press("enter", "tab", "enter")
	b.wantCalls("SetLimit geocode:{acme}:eu")
	b.admin.err, b.admin.calls = nil, nil
	return b
}

func TestConflictShowsAllThree(t *testing.T) {
	b := conflicting(t)
	b.wantSaid("CONFLICT", "bob@ops2 changed it at 14:31:58 (rev 13), after you opened it",
		"rate 600/min 500/min 450/min", "capacity 30 30 22", "for 14:58:05 no end 15:32:0", `reason "backlog" "their ticket" "429s, #8812"`,
		"> Cancel, keep theirs")
}

// TestConflictKeepsApartWhatWasTyped holds that mine is what would be written:
// the rest is theirs, and a factor is one of theirs.
func TestConflictKeepsApartWhatWasTyped(t *testing.T) {
	b := opened(t, newEditDialog, geoBucket())
	b.typed("x0.5")
	b.admin.err = &bucketctl.ConflictError{Wanted: 12, State: theirState()}
	b.press("enter", "tab", "enter")
	b.wantSaid("rate 600/min 500/min 250/min", "capacity 30 30 theirs", "for 14:58:05 no end theirs")
}

func TestConflictAnswers(t *testing.T) {
	for _, c := range []struct {
		name  string
		keys  []string
		calls []string
		rev   bucketctl.Rev
		said  []string
		open  bool
	}{
		{"cancel", []string{"enter"}, nil, 0, nil, false},
		{"mine on theirs is reviewed first", []string{"tab", "enter"}, nil, 0,
			[]string{"REVIEW", "500/min", "450/min", "429s, #8812", "> Cancel"}, true},
		{"mine on theirs, applied", []string{"tab", "enter", "tab", "enter"}, []string{"SetLimit geocode:{acme}:eu"}, 13, nil, false},
		{"esc edits on theirs", []string{"esc"}, nil, 0, []string{"EDIT", "was 500/min", "450/min", "rev 13"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := conflicting(t)
			b.press(c.keys...)
			b.wantCalls(c.calls...)
			if b.admin.rev != c.rev && c.calls != nil {
				t.Errorf("decided on rev %d, want %d", b.admin.rev, c.rev)
			}
			if open := b.top() != nil; open != c.open {
				t.Errorf("open: %v, want %v", open, c.open)
			}
			b.wantSaid(c.said...)
		})
	}
}

// TestConflictWithOneself is what a write looks like whose reply was lost, and
// that is tried again.
func TestConflictWithOneself(t *testing.T) {
	b := opened(t, newEditDialog, geoBucket())
	typeEdit(b)
	mine := theirState()
	mine.Override = bucketctl.Override{Capacity: 22, Rate: 7.5, Per: time.Minute, Until: t0.Add(time.Hour)}
	mine.Effective = bucketctl.PerMinute(450).Burst(22)
	b.admin.err = &bucketctl.ConflictError{Wanted: 12, State: mine}
	b.press("enter", "tab", "enter")
	b.wantSaid("Theirs already has the rate and the capacity that you want")
}

func TestConflictByAHold(t *testing.T) {
	b := opened(t, newEditDialog, geoBucket())
	typeEdit(b)
	held := geoBucket().State
	held.Rev = 13
	held.Hold = bucketctl.Hold{Active: true, By: "eve@ops3", At: t0.Add(-time.Second)}
	b.admin.err = &bucketctl.ConflictError{Wanted: 12, State: held}
	b.press("enter", "tab", "enter")
	b.wantSaid("eve@ops3 held it at 14:32:04 (rev 13)", "hold not held held, no end theirs")
}

func TestWhatBecameOfIt(t *testing.T) {
	for _, c := range []struct {
		err  error
		said string
	}{
		{fmt.Errorf("setting: %w: i/o timeout", bucketctl.ErrUnavailable), "Redis did not answer: whether it is written is not known"},
		{context.DeadlineExceeded, "Redis did not answer"},
		{fmt.Errorf("%w: NOPERM", bucketctl.ErrDenied), "Redis refuses. NOPERM"},
		{bucketctl.ErrReadOnly, "opened read-only"},
		{bucketctl.ErrNotFound, "the bucket is gone"},
		{bucketctl.ErrForeign, "another program owns this bucket"},
		{bucketctl.ErrWrongType, "no bucket. R shows what"},
		{bucketctl.ErrNothing, "Nothing to change"},
		{fmt.Errorf("%w: the end lies in the past", bucketctl.ErrLimit), "Not written: the end lies in the past"},
		{errors.New("odd \x1b[2J thing"), `Not written: odd \x1b[2J thing`},
	} {
		t.Run(c.said, func(t *testing.T) {
			b := opened(t, newEditDialog, geoBucket())
			typeEdit(b)
			b.admin.err = c.err
			b.press("enter", "tab", "enter")
			b.wantSaid(c.said, "450/min", "> Cancel")
			b.press("enter", "enter")
			b.wantCalls("SetLimit geocode:{acme}:eu")
		})
	}
}

// TestLostAudit holds that a change without its event is a change.
func TestLostAudit(t *testing.T) {
	b := opened(t, newEditDialog, geoBucket())
	typeEdit(b)
	b.admin.err = &bucketctl.AuditError{Event: bucketctl.ErrUnavailable}
	b.press("enter", "tab", "enter")
	if b.top() != nil {
		t.Errorf("still open:\n%s", b.dialogText(80, 24))
	}
}

// TestWhileWriting looks at the moment between a change and its reply.
func TestWhileWriting(t *testing.T) {
	b := opened(t, newEditDialog, geoBucket())
	typeEdit(b)
	b.press("enter", "tab")
	b.local = b.local.Add(time.Second)
	b.send(keyMsg("enter"))
	reply := b.send(settledMsg{b.app.pendingGen})
	b.wantSaid("writing... esc stops waiting; the change may still land")
	b.wantUnsaid("Apply")
	b.press("enter", "y", "tab", "x")
	b.wantSaid("writing...")

	stranger := changeDone{id: 999, err: bucketctl.ErrConflict}
	b.send(stranger)
	b.wantSaid("writing...")

	b.press("esc")
	if b.top() != nil {
		t.Fatal("esc does not stop waiting")
	}
	b.answer(reply)
	b.wantCalls("SetLimit geocode:{acme}:eu")
}

// TestEscapes gives a dialog texts that would repaint the terminal.
func TestEscapes(t *testing.T) {
	const nasty = "a\x1b[2J\x1b]0;t\x07\u202eb\n"
	for _, scene := range scenes {
		t.Run(scene.name, func(t *testing.T) {
			bucket := scene.bucket()
			bucket.Key += nasty
			bucket.State.Key = bucket.Key
			s := &bucket.State
			s.By, s.Reason, s.Type, s.Hold.By, s.Hold.Reason = nasty, nasty, nasty, nasty, nasty
			bucket.Status.Cause = nasty
			for i := range bucket.Workers {
				bucket.Workers[i].Name = nasty
			}
			for i := range s.Problems {
				s.Problems[i].Text = nasty
			}
			b := newBench(t, snapshotOf(bucket), 80, 24)
			b.open(scene.make(b.app, bucket))
			scene.play(b)
			for _, size := range [][2]int{{80, 24}, {40, 12}, {7, 3}} {
				drawn := b.top().view(b.app, size[0], size[1])
				if strings.ContainsAny(drawn, "\x1b\x07\u202e") {
					t.Fatalf("something is not escaped: %q", drawn)
				}
				checkFits(t, drawn, size[0], size[1])
			}
		})
	}
}

// TestNoDialogAnswersToNoise presses every key a keyboard has, one by one,
// except for those that confirm; nothing may be written.
func TestNoDialogAnswersToNoise(t *testing.T) {
	t.Parallel()
	for _, scene := range scenes {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			played := func() *bench {
				b := opened(t, scene.make, scene.bucket())
				b.blind = true
				scene.play(b)
				b.blind, b.admin.calls = false, nil
				return b
			}
			for r := ' '; r <= '~'; r++ {
				if r == 'y' {
					continue
				}
				b := played()
				b.press(string(r))
				b.wantCalls()
			}
			b := played()
			b.inOnePiece(pasteOf("y\ny\nf\ny"))
			b.wantCalls()
			b.inOnePiece(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("yyfy")})
			b.wantCalls()
			b.inOnePiece(keysOf("f", "y", "enter", "x", "y", "tab", "enter")...)
			b.wantCalls()
		})
	}
}
