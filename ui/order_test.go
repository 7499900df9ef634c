package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"bucketop/internal/watch"
)

// reordered is the picture with the buckets in another order.
func reordered(order ...string) *watch.Snapshot {
	s := pictureSnapshot()
	place := func(b watch.Bucket) int {
		if i := slices.Index(order, b.Key); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(s.Buckets, func(x, y watch.Bucket) int { return place(x) - place(y) })
	return s
}

// without is the picture without some buckets.
func without(keys ...string) *watch.Snapshot {
	s := pictureSnapshot()
	s.Buckets = slices.DeleteFunc(s.Buckets, func(b watch.Bucket) bool { return slices.Contains(keys, b.Key) })
	return s
}

func TestSelectionFollowsTheKey(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.press("down", "down")
	b.pass(calmFor)
	b.feed(reordered("sms:fr", "sms:de", "geocode:{acme}:eu"))
	if b.list.cursor != "geocode:{acme}:eu" || b.list.at != 2 {
		t.Errorf("%q at %d is selected", b.list.cursor, b.list.at)
	}
	b.want(" > geocode:{acme}:eu")
}

func TestRowsStayAfterAKey(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.press("down")
	b.pass(time.Second)
	b.feed(reordered("sms:fr"))
	if b.list.rows[0] != "geo:py" {
		t.Fatal("rows moved within 3 s of a key")
	}
	b.pass(calmFor - time.Second - time.Millisecond)
	if b.list.rows[0] != "geo:py" {
		t.Fatal("rows moved too early")
	}
	b.pass(time.Millisecond)
	if b.list.rows[0] != "sms:fr" {
		t.Error("rows did not move afterwards, though no newer snapshot came")
	}
}

// TestARowThatGoesStaysInItsPlace for as long as no row may move.
func TestARowThatGoesStaysInItsPlace(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.press("down")
	b.feed(without("geo:py"))
	if row := rowOf(t, b.View(), "   geo:py"); !strings.HasSuffix(row, "gone") || b.list.at != 1 {
		t.Errorf("%q, row %d is selected", row, b.list.at)
	}
	b.pass(calmFor)
	if b.list.rows[0] != "stripe:charge" || b.list.at != 0 {
		t.Errorf("rows %q, row %d is selected", b.list.rows, b.list.at)
	}
}

// TestTheSelectedRowGoes: the row in its place is selected then.
func TestTheSelectedRowGoes(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.press("down")
	b.pass(calmFor)
	b.feed(without("stripe:charge"))
	if b.list.cursor != "geocode:{acme}:eu" {
		t.Errorf("%q is selected", b.list.cursor)
	}
}

func TestNewRowsComeLastWhileCalm(t *testing.T) {
	b := newBench(t, without("geo:py"), 80, 24)
	b.press("down")
	b.feed(pictureSnapshot())
	if last := b.list.rows[len(b.list.rows)-1]; last != "geo:py" {
		t.Errorf("%q is last", last)
	}
	b.pass(calmFor)
	if b.list.rows[0] != "geo:py" {
		t.Errorf("%q is first", b.list.rows[0])
	}
}

func TestMarkedRowsStayOnTop(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.press("end", " ")
	b.pass(calmFor)
	b.feed(pictureSnapshot())
	if b.list.rows[0] != "sms:fr" || b.list.cursor != "sms:fr" {
		t.Errorf("%q is first, %q selected", b.list.rows[0], b.list.cursor)
	}
}

// TestTheSourceHearsWhatIsOnScreen, so that it asks Redis for nothing else.
func TestTheSourceHearsWhatIsOnScreen(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 40, 12)
	if want := []string{"geo:py", "stripe:charge", "geocode:{acme}:eu", "llm:{gpt}:tpm"}; !slices.Equal(b.source.shown, want) {
		t.Errorf("shown %q, want %q", b.source.shown, want)
	}
	b.press("end")
	if want := []string{"rss:a", "rss:b", "sms:de", "sms:fr"}; !slices.Equal(b.source.shown, want) {
		t.Errorf("shown %q, want %q", b.source.shown, want)
	}
	b.press("home", "enter")
	if !slices.Contains(b.source.shown, "geo:py") {
		t.Errorf("the open bucket is not among %q", b.source.shown)
	}
}

func TestPauseFreezesEverything(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.press("p")
	b.feed(emptySnapshot())
	b.pass(10 * time.Second)
	if len(b.list.rows) != 14 {
		t.Errorf("%d rows", len(b.list.rows))
	}
	b.want("PAUSED 10s")
	b.press("p")
	if len(b.list.rows) != 0 && !b.calm() {
		t.Errorf("%d rows after going on", len(b.list.rows))
	}
	b.pass(calmFor)
	if len(b.list.rows) != 0 {
		t.Errorf("%d rows after going on", len(b.list.rows))
	}
}

// TestADataClockAtMostFourTimesASecond: updates in quick succession are drawn
// together.
func TestADataClockAtMostFourTimesASecond(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	b.pass(time.Second)
	b.feed(pictureSnapshot())
	gen := b.tickGen
	b.source.snap = emptySnapshot()
	b.send(updatedMsg{})
	if b.tickGen != gen+1 {
		t.Error("an update did not hurry the clock")
	}
	if b.snap == b.source.snap {
		t.Error("an update was drawn at once")
	}
	b.send(tickMsg{gen})
	if b.snap == b.source.snap {
		t.Error("a tick of an older generation rang")
	}
	b.send(tickMsg{b.tickGen})
	if b.snap != b.source.snap {
		t.Error("the newest snapshot is not drawn")
	}
}
