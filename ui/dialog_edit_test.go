package ui

import (
	"fmt"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

func TestEditKeys(t *testing.T) {
	for _, c := range []struct {
		name  string
		play  func(*bench)
		calls []string
		said  []string
		open  bool
	}{
		{"esc with nothing typed closes", func(b *bench) { b.press("esc") }, nil, nil, false},
		{"esc with text asks", func(b *bench) { b.typed("450/min"); b.press("esc") }, nil, []string{"450/min", "esc again drops"}, true},
		{"esc twice closes", func(b *bench) { b.typed("450/min"); b.press("esc", "esc") }, nil, nil, false},
		{"another key keeps the text", func(b *bench) { b.typed("450/mi"); b.press("esc"); b.typed("n"); b.press("enter") }, nil,
			[]string{"REVIEW", "450/min"}, true},
		{"enter with nothing typed", func(b *bench) { b.press("enter") }, nil, []string{"EDIT", "Nothing to review: type a rate"}, true},
		{"enter with what is in force", func(b *bench) { b.typed("600/min"); b.press("enter") }, nil, []string{"that is what is in force"}, true},
		{"a reason alone is no change", func(b *bench) { b.press("shift+tab"); b.typed("why"); b.press("enter") }, nil,
			[]string{"EDIT", "that is what is in force"}, true},
		{"enter goes to the review", func(b *bench) { typeEdit(b); b.press("enter") }, nil,
			[]string{"REVIEW", "> Cancel, back to the form", "until 15:32:05"}, true},
		{"enter, enter is harmless", func(b *bench) { typeEdit(b); b.press("enter", "enter") }, nil, []string{"EDIT", "429s, #8812"}, true},
		{"enter five times is harmless", func(b *bench) { typeEdit(b); b.press("enter", "enter", "enter", "enter", "enter") }, nil,
			[]string{"REVIEW"}, true},
		{"esc goes back to the form", func(b *bench) { typeEdit(b); b.press("enter", "tab", "esc") }, nil, []string{"EDIT", "450/min"}, true},
		{"the focus is Cancel again", func(b *bench) { typeEdit(b); b.press("enter", "tab", "esc", "enter") }, nil, []string{"> Cancel"}, true},
		{"tab, enter writes", func(b *bench) { typeEdit(b); b.press("enter", "tab", "enter") }, []string{"SetLimit geocode:{acme}:eu"}, nil, false},
		{"right, enter writes", func(b *bench) { typeEdit(b); b.press("enter", "right", "enter") }, []string{"SetLimit geocode:{acme}:eu"}, nil, false},
		{"right, left, enter does not", func(b *bench) { typeEdit(b); b.press("enter", "right", "left", "enter") }, nil, []string{"EDIT"}, true},
		{"letters do nothing in the review", func(b *bench) { typeEdit(b); b.press("enter", "y", "a", "Y", " ") }, nil, []string{"> Cancel"}, true},
		{"up and down move", func(b *bench) { b.press("down"); b.typed("22"); b.press("up"); b.typed("450/min"); b.press("enter") }, nil,
			[]string{"REVIEW", "450/min", "22"}, true},
		{"back to declared takes the override away", func(b *bench) {
			b.typed("declared")
			b.press("tab")
			b.typed("declared")
			b.press("enter", "tab", "enter")
		}, []string{"ClearLimit geocode:{acme}:eu"}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := opened(t, newEditDialog, geoBucket())
			c.play(b)
			b.wantCalls(c.calls...)
			if open := b.top() != nil; open != c.open {
				t.Errorf("open: %v, want %v", open, c.open)
			}
			b.wantSaid(c.said...)
		})
	}
}

func TestEditAsksForWhatWasTyped(t *testing.T) {
	b := opened(t, newEditDialog, geoBucket())
	typeEdit(b)
	b.press("enter", "tab", "enter")
	want := bucketctl.LimitChange{Rate: bucketctl.To(7.5), Per: time.Minute, Capacity: bucketctl.To(22),
		End: bucketctl.EndAfter(time.Hour), Reason: "429s, #8812"}
	if b.admin.limit != want {
		t.Errorf("changed to %+v, want %+v", b.admin.limit, want)
	}
	if b.admin.rev != 12 {
		t.Errorf("decided on rev %d, want the frozen 12", b.admin.rev)
	}
}

func TestEditOnlyNamesWhatWasTyped(t *testing.T) {
	b := opened(t, newEditDialog, geoBucket())
	b.press("tab")
	b.typed("22")
	b.press("enter", "tab", "enter")
	if c := b.admin.limit; !c.Rate.IsKeep() || !c.End.IsKeep() || c.Capacity != bucketctl.To(22) {
		t.Errorf("changed to %+v, want the capacity alone", c)
	}
}

// TestEditIsFrozen moves the snapshot below an open form.
func TestEditIsFrozen(t *testing.T) {
	b := opened(t, newEditDialog, geoBucket())
	typeEdit(b)
	moved := geoBucket()
	moved.State = theirState()
	moved.Waiting, moved.Granted = 99, 5
	b.feed(snapshotOf(aBucket("another", bucketctl.PerSecond(1), 1), moved))
	b.wantSaid("600/min", "300 of 500/min granted, 99 waiting", "bob@ops2 changed it at 14:31:58 (rev 13) meanwhile")
	b.press("enter", "tab", "enter")
	b.wantCalls("SetLimit geocode:{acme}:eu")
	if b.admin.rev != 12 {
		t.Errorf("decided on rev %d, want the frozen 12", b.admin.rev)
	}
}

func TestEditOfABucketThatLeaves(t *testing.T) {
	b := opened(t, newEditDialog, geoBucket())
	b.typed("450/min")
	b.feed(snapshotOf(aBucket("another", bucketctl.PerSecond(1), 1)))
	b.wantSaid("has left the list", "450/min", "588 of 600/min")
}

func TestWrongInput(t *testing.T) {
	type bad struct {
		field editField
		text  string
	}
	var cases []bad
	for _, text := range []string{"NaN", "Inf", "-1/s", "NaN/s", "Inf/s", "0/s", "0x1p4/s", "1_000/s", "1e400/s", "/s", "1,000/s",
		"450", "450/fortnight", "450/", "x", "x0", "xNaN", "x-1", "99999999999999999999/s", "1e-400/s"} {
		cases = append(cases, bad{rateField, text})
	}
	for _, text := range []string{"NaN", "Inf", "-1", "0", "0.5", "0x1p4", "1_000", "1e400", "1,000", "22 tokens", "x0", "99999999999999999999"} {
		cases = append(cases, bad{capacityField, text})
	}
	for _, text := range []string{"NaN", "-1h", "0s", "1", "1e3s", "soon", "400d", "1fortnight"} {
		cases = append(cases, bad{endField, text})
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %s", editLabels()[c.field], c.text), func(t *testing.T) {
			b := opened(t, newEditDialog, geoBucket())
			for range c.field {
				b.press("tab")
			}
			b.typed(c.text)
			d, ok := b.top().(*editDialog)
			if !ok {
				t.Fatalf("the form became a %T", b.top())
			}
			o := d.outlook(b.app)
			if o.err == nil || o.bad != c.field {
				t.Fatalf("error %v in field %d, want one in %d", o.err, o.bad, c.field)
			}
			b.wantSaid("EDIT", b.app.esc(plainError(o.err)))
			b.press("enter", "tab", "right", "enter", "enter")
			b.wantCalls()
			b.wantSaid("EDIT")
			if got := d.set.text(int(c.field)); got != c.text {
				t.Errorf("the field says %q, want the %q that was typed", got, c.text)
			}
		})
	}
}

// TestEditOfPastes gives the form everything that may arrive in one piece; none
// of it may write.
func TestEditOfPastes(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(*bench)
	}{
		{"bracketed", func(b *bench) { b.inOnePiece(pasteOf("450/min\n\t\n")) }},
		{"bracketed in the review", func(b *bench) {
			b.typed("450/min")
			b.press("enter", "tab")
			b.inOnePiece(pasteOf("\ny\r"))
		}},
		{"keys of one moment", func(b *bench) {
			b.typed("450/min")
			b.inOnePiece(keysOf("enter", "tab", "enter", "enter", "y")...)
		}},
		{"keys of one moment in the review", func(b *bench) {
			b.typed("450/min")
			b.press("enter")
			b.inOnePiece(keysOf("tab", "enter", "y", "right", "enter")...)
		}},
		{"a piece does not move the focus to Apply", func(b *bench) {
			b.typed("450/min")
			b.press("enter")
			b.inOnePiece(keysOf("x", "tab")...)
			b.press("enter")
		}},
		{"runes in one message", func(b *bench) {
			b.inOnePiece(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("450/min")})
			b.press("enter")
			b.inOnePiece(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("yyy")})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := opened(t, newEditDialog, geoBucket())
			b.press("down", "up")
			c.play(b)
			b.wantCalls()
			if b.top() == nil {
				t.Fatal("the form is gone")
			}
			b.wantSaid("450/min")
		})
	}
}

// TestEditStaysForAPiece holds that what comes in one piece is typed where the
// cursor is: it moves to no other field and leaves no step.
func TestEditStaysForAPiece(t *testing.T) {
	b := opened(t, newEditDialog, geoBucket())
	b.inOnePiece(keysOf("4", "tab", "5", "esc", "esc", "down", "0", "/", "m", "i", "n")...)
	b.wantSaid("> rate", "[ 450/min_")
	b.press("enter")
	b.inOnePiece(keysOf("x", "esc")...)
	b.wantSaid("REVIEW")
}

func TestEditRefusals(t *testing.T) {
	unread := watch.Bucket{Key: "new", Status: watch.Status{Code: watch.Unread}}
	window := foreignBucket()
	window.State.Kind = bucketctl.KindForeignWindow
	for _, c := range []struct {
		name string
		b    watch.Bucket
		said string
	}{
		{"foreign", foreignBucket(), "its workers read no overrides"},
		{"foreign window", window, "its workers read no overrides"},
		{"wrong type", wrongTypeBucket(), "The key holds a string"},
		{"unread", unread, "not read yet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := opened(t, newEditDialog, c.b)
			b.typed("450/min")
			b.wantSaid(c.said)
			b.press("enter")
			b.wantCalls()
			if b.top() != nil {
				t.Error("enter does not close it")
			}
		})
	}
}

// TestEditIsBlocked holds that a read-only console, or one without Redis,
// writes nothing and loses no text.
func TestEditIsBlocked(t *testing.T) {
	for _, c := range []struct {
		name, said string
		block      func(*bench)
	}{
		{"read-only", "Read-only", func(b *bench) { b.admin.readOnly = true }},
		{"lost", "Redis is lost", func(b *bench) {
			lost := snapshotOf(geoBucket())
			lost.Link.State = watch.Lost
			b.feed(lost)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := opened(t, newEditDialog, geoBucket())
			typeEdit(b)
			c.block(b)
			b.wantSaid(c.said)
			b.press("enter", "tab", "enter")
			b.wantCalls()
			b.wantSaid(c.said, "REVIEW", "450/min", "429s, #8812")
		})
	}
}

func TestSuspensionAsksAnew(t *testing.T) {
	b := opened(t, newEditDialog, geoBucket())
	typeEdit(b)
	b.press("enter", "tab")
	b.send(tea.ResumeMsg{})
	b.wantSaid("EDIT", "450/min")
	b.press("enter")
	b.wantSaid("> Cancel")
}
