package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// scenes are the dialogs as the goldens draw them.
var scenes = []struct {
	name   string
	bucket func() watch.Bucket
	make   func(*app, watch.Bucket) dialog
	play   func(*bench)
}{
	{"edit", geoBucket, newEditDialog, func(*bench) {}},
	{"edit_typed", geoBucket, newEditDialog, typeEdit},
	{"edit_bad", geoBucket, newEditDialog, func(b *bench) { b.typed("450") }},
	{"edit_review", geoBucket, newEditDialog, func(b *bench) { typeEdit(b); b.press("enter") }},
	{"edit_conflict", geoBucket, newEditDialog, func(b *bench) {
		typeEdit(b)
		b.admin.err = &bucketctl.ConflictError{Wanted: 12, State: theirState()}
		b.press("enter", "tab", "enter")
	}},
	{"edit_unavailable", geoBucket, newEditDialog, func(b *bench) {
		typeEdit(b)
		b.admin.err = errors.Join(bucketctl.ErrUnavailable)
		b.press("enter", "tab", "enter")
	}},
	{"edit_foreign", foreignBucket, newEditDialog, func(*bench) {}},
	{"reset", geoBucket, newResetDialog, func(*bench) {}},
	{"reset_number", geoBucket, newResetDialog, func(b *bench) { b.typed("12") }},
	{"reset_stuck", stuckBucket, newResetDialog, func(b *bench) { b.press("f") }},
	{"reset_held", heldBucket, newResetDialog, func(*bench) {}},
	{"reset_wrong_type", wrongTypeBucket, newResetDialog, func(b *bench) { b.press("x") }},
	{"reset_foreign", foreignBucket, newResetDialog, func(*bench) {}},
	{"hold", geoBucket, newHoldDialog, func(*bench) {}},
	{"hold_review", geoBucket, newHoldDialog, func(b *bench) { b.press("tab"); b.typed("429s"); b.press("enter", "tab") }},
	{"resume", heldBucket, newResumeDialog, func(*bench) {}},
	{"undo", geoBucket, newUndoDialog, func(b *bench) { b.app.snap.Events = []bucketctl.Event{geoEvent()} }},
	{"delete", geoBucket, newDeleteDialog, func(*bench) {}},
}

// typeEdit types the drawn edit.
func typeEdit(b *bench) {
	b.typed("450/min")
	b.press("tab")
	b.typed("22")
	b.press("tab")
	b.typed("1h")
	b.press("tab")
	b.typed("429s, #8812")
	b.press("tab")
}

// theirState is what another operator wrote meanwhile.
func theirState() bucketctl.State {
	s := geoBucket().State
	s.Rev, s.By, s.ChangedAt, s.Reason = 13, "bob@ops2", t0.Add(-7*time.Second), "their ticket"
	s.Override.Rate, s.Override.Until = 500.0/60, time.Time{}
	s.Effective = bucketctl.PerMinute(500).Burst(30)
	return s
}

// geoEvent is the change that led to geoBucket's override.
func geoEvent() bucketctl.Event {
	s := geoBucket().State
	return bucketctl.Event{
		ID: "1-0", At: s.ChangedAt, Kind: bucketctl.EventLimit, Key: s.Key, By: s.By, Reason: s.Reason, Rev: s.Rev,
		After: bucketctl.Record{Override: s.Override},
	}
}

func TestDialogsAsDrawn(t *testing.T) {
	for _, scene := range scenes {
		t.Run(scene.name, func(t *testing.T) {
			b := opened(t, scene.make, scene.bucket())
			scene.play(b)
			wantDrawn(t, scene.name+"_80x22", b.dialogText(80, 22))
			wantDrawn(t, scene.name+"_40x10", b.dialogText(40, 10))
		})
	}
}

func TestDialogsInASCII(t *testing.T) {
	for _, scene := range scenes {
		t.Run(scene.name, func(t *testing.T) {
			bucket := scene.bucket()
			bucket.State.By, bucket.State.Reason, bucket.State.Hold.By = "änna", "日本", "änna"
			b := newBenchWith(t, snapshotOf(bucket), 80, 24, Config{ASCII: true})
			b.open(scene.make(b.app, bucket))
			scene.play(b)
			for _, r := range b.dialogText(80, 22) {
				if r > '~' {
					t.Fatalf("%q is drawn:\n%s", r, b.dialogText(80, 22))
				}
			}
		})
	}
}

// TestDialogsFit draws every scene in all sizes around those where something is
// dropped, and some others; none may panic, or be wider or taller than it was
// given.
func TestDialogsFit(t *testing.T) {
	t.Parallel()
	widths := slices.Concat(sizes(120, 13, 5, tableLabel+2, tableLabel+5), []int{35, 36, 37, 48, 49, 50, 59, 60, 61, 72, 73, 74, 80})
	for _, scene := range scenes {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			b := opened(t, scene.make, scene.bucket())
			scene.play(b)
			for _, width := range widths {
				for _, height := range sizes(40, 8, 5, 8, 12) {
					checkFits(t, b.dialogText(width, height), width, height)
				}
			}
		})
	}
}

func checkFits(t *testing.T, text string, width, height int) {
	t.Helper()
	lines := strings.Split(text, "\n")
	if text == "" {
		lines = nil
	}
	if len(lines) > height {
		t.Fatalf("%dx%d: %d lines", width, height, len(lines))
	}
	for _, line := range lines {
		if w := textCells(line); w > width {
			t.Fatalf("%dx%d: a line of %d: %q", width, height, w, line)
		}
	}
}
