package ui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// geoBucket is the bucket of the drawn edit form: overridden, short of tokens,
// one of its four workers silent.
func geoBucket() watch.Bucket {
	b := aBucket("geocode:{acme}:eu", bucketctl.PerMinute(300).Burst(15), 0)
	b.State.Override = bucketctl.Override{Capacity: 30, Rate: 10, Per: time.Minute, Until: t0.Add(26 * time.Minute)}
	b.State.Effective = bucketctl.PerMinute(600).Burst(30)
	b.State.By, b.State.Reason, b.State.ChangedAt = "anna@ops1", "backlog", t0.Add(-4*time.Minute)
	b.Granted, b.Used = 9.8, 0.98
	b.Waiting, b.HeadWait, b.LargestN = 37, 4*time.Second, 25
	for _, name := range []string{"geo-4", "geo-5", "geo-6", "geo-7"} {
		b.Workers = append(b.Workers, watch.WorkerRow{Name: name, Seen: t0, WorkerBucket: bucketctl.WorkerBucket{
			Mode: bucketctl.ModeShared, Share: 2.5, Rev: 12,
		}})
	}
	b.Workers[3].Silent, b.Workers[3].Seen = true, t0.Add(-42*time.Second)
	b.Status = watch.Status{Code: watch.Silent, Text: "1 of 4"}
	return b
}

// heldBucket is held by an operator, with callers waiting.
func heldBucket() watch.Bucket {
	b := aBucket("stripe:charge", bucketctl.PerSecond(25).Burst(25), 25)
	b.State.Rev, b.Waiting, b.HeadWait = 7, 61, 4*time.Minute
	b.State.Hold = bucketctl.Hold{Active: true, By: "anna@ops1", At: t0.Add(-4*time.Minute - 4*time.Second), Reason: "provider asked us to stop"}
	b.Status = watch.Status{Code: watch.Held, Text: "4m anna"}
	return b
}

// stuckBucket has a time that lies ahead of the server's clock.
func stuckBucket() watch.Bucket {
	b := aBucket("geo:py", bucketctl.PerMinute(600).Burst(30), 0)
	b.Waiting, b.HeadWait = 12, 4*time.Minute
	b.State.Problems = []bucketctl.Problem{{Code: bucketctl.ProblemAhead, Field: "ts", Text: "ts is 9m ahead, no refill until 14:41"}}
	b.Status = watch.Status{Code: watch.Stuck, Text: "4m", Cause: "ts is 9m ahead, no refill until 14:41", Remedy: "R resets"}
	return b
}

// foreignBucket is written by another program's script.
func foreignBucket() watch.Bucket {
	b := aBucket("old:{bucket}", bucketctl.Limit{}, 3)
	b.State.Kind, b.State.Rev, b.Seen, b.Waiting = bucketctl.KindForeign, 0, time.Time{}, -1
	return b
}

// wrongTypeBucket is a key that somebody set as a string.
func wrongTypeBucket() watch.Bucket {
	b := aBucket("cfg:limits", bucketctl.Limit{}, 0)
	b.State.Kind, b.State.Type, b.State.Rev = bucketctl.KindWrongType, "string", 0
	b.Status = watch.Status{Code: watch.Corrupt}
	return b
}

// snapshotOf is a live snapshot of buckets.
func snapshotOf(buckets ...watch.Bucket) *watch.Snapshot {
	return &watch.Snapshot{
		At: t0, Taken: t0,
		Link:    watch.Link{State: watch.Live, Addr: "cache-1:6379", Since: t0},
		Buckets: buckets,
	}
}

// opened is a console with one dialog open over one bucket.
func opened(t testing.TB, make func(*app, watch.Bucket) dialog, b watch.Bucket) *bench {
	t.Helper()
	at := newBench(t, snapshotOf(b), 80, 24)
	at.open(make(at.app, b))
	return at
}

// dialogText is what the top dialog draws, without colours.
func (b *bench) dialogText(width, height int) string {
	if b.top() == nil {
		return "(no dialog)"
	}
	return ansi.Strip(b.top().view(b.app, width, height))
}

// inOnePiece sends messages within one moment and makes every change that they
// lead to, so that a change that must not be made is seen.
func (b *bench) inOnePiece(messages ...tea.KeyMsg) {
	b.local = b.local.Add(300 * time.Millisecond)
	for _, msg := range messages {
		b.answer(b.send(msg))
	}
	b.answer(b.send(settledMsg{b.app.pendingGen}))
}

// keysOf are the messages of keys by their names.
func keysOf(names ...string) []tea.KeyMsg {
	var messages []tea.KeyMsg
	for _, name := range names {
		messages = append(messages, keyMsg(name))
	}
	return messages
}

// pasteOf is a bracketed paste.
func pasteOf(text string) tea.KeyMsg {
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true}
}

// unwrapped is what the top dialog says, as one line, so that a test does not
// depend on where a sentence is broken.
func (b *bench) unwrapped() string {
	return strings.Join(strings.Fields(b.dialogText(80, 60)), " ")
}

// wantSaid fails unless the dialog says all texts.
func (b *bench) wantSaid(texts ...string) {
	b.t.Helper()
	said := b.unwrapped()
	for _, text := range texts {
		if !strings.Contains(said, text) {
			b.t.Errorf("the dialog does not say %q:\n%s", text, b.dialogText(80, 60))
		}
	}
}

// wantUnsaid fails if the dialog says any of texts.
func (b *bench) wantUnsaid(texts ...string) {
	b.t.Helper()
	said := b.unwrapped()
	for _, text := range texts {
		if strings.Contains(said, text) {
			b.t.Errorf("the dialog says %q:\n%s", text, b.dialogText(80, 60))
		}
	}
}

// wantCalls fails unless these changes were asked for, and no other.
func (b *bench) wantCalls(calls ...string) {
	b.t.Helper()
	if got, want := strings.Join(b.admin.calls, ", "), strings.Join(calls, ", "); got != want {
		b.t.Errorf("changes: %q, want %q; dialog:\n%s", got, want, b.dialogText(80, 24))
	}
}

// wantDrawn compares a drawn dialog with testdata/dialog_NAME.txt.
func wantDrawn(t *testing.T, name, drawn string) {
	t.Helper()
	lines := strings.Split(drawn, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	golden(t, "dialog_"+name, strings.TrimRight(strings.Join(lines, "\n"), "\n"))
}
