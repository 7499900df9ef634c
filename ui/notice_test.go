package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// done is a limit change of the picture's third bucket that wrote rev 13.
func done() changeDone {
	return changeDone{id: 1, key: "geocode:{acme}:eu", what: "limit of geocode:{acme}:eu", change: bucketctl.Change{
		Before: bucketctl.State{Rev: 12}, After: bucketctl.State{Rev: 13},
		Event: bucketctl.Event{Kind: bucketctl.EventLimit, Rev: 13},
	}}
}

// sawIt is the picture after so many workers have seen rev 13.
func sawIt(n int) *watch.Snapshot {
	s := pictureSnapshot()
	for i := range n {
		s.Buckets[2].Workers[i].Rev = 13
	}
	return s
}

func TestTheLineAfterAChangeCountsWorkers(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.send(done())
	b.want("rev 13 written; seen by 0 of 4 workers (geo-7 silent) · U undoes")
	if b.source.refreshed != 1 {
		t.Error("nothing was read afresh")
	}
	b.feed(sawIt(2))
	b.want("seen by 2 of 4 workers (geo-7 silent)")
	b.feed(sawIt(4))
	b.want("seen by 4 of 4 workers · U undoes")
	b.press("down")
	if strings.Contains(b.View(), "written") {
		t.Error("the line stayed after the next key")
	}
}

func TestAResetOffersNoUndo(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.send(changeDone{key: "geo:py", what: "reset of geo:py to full"})
	b.want("reset of geo:py to full: done")
	if strings.Contains(b.View(), "U undoes") {
		t.Error("it offers an undo")
	}
}

func TestErrorsOfChangesAreOneClearSentence(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&bucketctl.ConflictError{Wanted: 12, State: bucketctl.State{Rev: 14, By: "bob@ops2"}}, "nothing written; bob@ops2 changed it meanwhile (rev 14 now)"},
		{fmt.Errorf("%w: i/o timeout", bucketctl.ErrUnavailable), "whether it is written is not known"},
		{bucketctl.ErrNotFound, "the bucket is gone"},
		{bucketctl.ErrNothing, "nothing to change"},
		{bucketctl.ErrReadOnly, "read-only"},
		{fmt.Errorf("%w: NOPERM", bucketctl.ErrDenied), "Redis refuses: NOPERM"},
		{errors.New("x\x1b[2J"), `x\x1b[2J`},
	} {
		b := newBench(t, pictureSnapshot(), 80, 24)
		m := done()
		m.err = c.err
		b.send(m)
		if screen := strings.Join(strings.Fields(b.View()), " "); !strings.Contains(screen, c.want) {
			t.Errorf("%v: %q is not on the screen:\n%s", c.err, c.want, b.View())
		}
	}
}

// TestAChangeWithoutItsEvent is written all the same, and the line says both.
func TestAChangeWithoutItsEvent(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 120, 24)
	m := done()
	m.err = &bucketctl.AuditError{Event: errors.New("OOM")}
	b.send(m)
	b.want("rev 13 written", "but its event is not: OOM")
	if strings.Contains(b.screenText(), "U undoes") { // by its event it would
		t.Error("an undo is offered that has no event")
	}
	m.err = &bucketctl.AuditError{Wake: errors.New("NOPERM")}
	b.send(m)
	b.want("rev 13 written", "but nobody was woken (who waits looks again within 5 s): NOPERM", "U undoes")
}

// TestRevisionsAreShortened: they are microseconds since 1970.
func TestRevisionsAreShortened(t *testing.T) {
	st := newStyles(look{})
	for rev, want := range map[bucketctl.Rev]string{7: "7", 12345678: "12345678", 1773498725123456: "…23456"} {
		if got := st.rev(rev); got != want {
			t.Errorf("rev %d is drawn as %q, want %q", rev, got, want)
		}
	}
	other := bucketctl.State{Rev: 1773498725123456, By: "bob@ops2"}
	for ascii, want := range map[bool]string{false: "bob@ops2 changed it (rev …23456)", true: "bob@ops2 changed it (rev ~23456)"} {
		st := newStyles(look{ascii: ascii})
		if got := st.esc(st.changerText(bucketctl.State{}, other, t0)); got != want {
			t.Errorf("a conflict is told as %q, want %q", got, want)
		}
	}
}
