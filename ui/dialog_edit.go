package ui

import (
	"context"
	"errors"
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// formStep is how far a form has got.
type formStep int

const (
	fillStep     formStep = iota // fields are typed into
	reviewStep                   // the question whether to write
	conflictStep                 // somebody else was faster
	refusedStep                  // there is nothing to fill in
)

// editDialog changes the override of one bucket. What it changes is frozen when
// it opens: rows may move and numbers change below it, and whoever else writes
// meanwhile makes a conflict instead of being overwritten.
type editDialog struct {
	changing
	set     fieldSet
	step    formStep
	ask     choice
	leaving bool            // esc was pressed over typed text
	asked   bool            // enter was pressed over what can't be written
	theirs  bucketctl.State // in a conflict
	refusal string
}

func newEditDialog(_ *app, b watch.Bucket) dialog {
	d := &editDialog{changing: changing{b: b}, set: newFieldSet(make([]string, editFields)...)}
	if d.refusal = editRefusal(b); d.refusal != "" {
		d.step = refusedStep
	}
	return d
}

// editRefusal says why a bucket has no limit that could be edited here.
func editRefusal(b watch.Bucket) string {
	switch s := b.State; {
	case s.At.IsZero():
		return unreadText(s)
	case s.Kind == bucketctl.KindForeignWindow:
		return "Another program's script writes this window, and its workers read no overrides: a limit set here would reach nobody."
	case isForeign(b):
		return "Another program's script writes this bucket, and its workers read no overrides: a limit set here would reach nobody. R can set its level."
	case s.Kind == bucketctl.KindWrongType:
		return fmt.Sprintf("The key holds a %s, which is no bucket: there is no limit to edit. R offers to delete it.", nameOr(s.Type, "value"))
	}
	return ""
}

func (d *editDialog) update(msg tea.Msg, a *app) (dialog, tea.Cmd) {
	switch msg := msg.(type) {
	case changeDone:
		return d.replied(msg)
	case tea.ResumeMsg:
		if d.step == reviewStep {
			d.back() // whoever comes back reads again before writing
		}
	case tea.KeyMsg:
		return d.pressed(msg, a)
	}
	return d, nil
}

func (d *editDialog) pressed(msg tea.KeyMsg, a *app) (dialog, tea.Cmd) {
	taken, closed := d.taken(msg, a)
	switch {
	case closed:
		return nil, nil
	case taken:
		return d, nil
	}
	switch d.step {
	case fillStep:
		return d.fill(msg, a)
	case reviewStep:
		return d.review(msg, a)
	case conflictStep:
		return d.settle(msg, a)
	case refusedStep:
		if msg.Type == tea.KeyEsc || msg.Type == tea.KeyEnter {
			return nil, nil
		}
	}
	return d, nil
}

// fill types into the form. Typed text is not thrown away by one key.
func (d *editDialog) fill(msg tea.KeyMsg, a *app) (dialog, tea.Cmd) {
	leaving := d.leaving
	d.leaving, d.scroll = false, 0
	switch {
	case msg.Type == tea.KeyEsc && a.burst:
	case msg.Type == tea.KeyEsc:
		if leaving || !d.anythingTyped() {
			return nil, nil
		}
		d.leaving = true
	case msg.Type == tea.KeyEnter:
		d.toReview(a)
	default:
		d.asked = false
		d.set.key(msg, a.burst)
	}
	return d, nil
}

func (d *editDialog) anythingTyped() bool {
	return d.typed() != editTexts{}
}

func (d *editDialog) typed() editTexts {
	var t editTexts
	for i := range t {
		t[i] = d.set.text(i)
	}
	return t
}

func (d *editDialog) outlook(a *app) outlook {
	return foresee(d.b.State, d.live(a), d.typed(), a.serverNow())
}

// toReview shows the question, unless there is nothing to ask.
func (d *editDialog) toReview(a *app) {
	d.asked = true
	switch o := d.outlook(a); {
	case o.err != nil:
		d.set.focus = int(o.bad)
	case o.nothing:
	default:
		d.step, d.ask, d.scroll = reviewStep, choice{}, 0
	}
}

func (d *editDialog) back() {
	d.step, d.scroll, d.asked = fillStep, 0, false
}

func (d *editDialog) review(msg tea.KeyMsg, a *app) (dialog, tea.Cmd) {
	switch {
	case msg.Type == tea.KeyEsc && !a.burst:
		d.back()
	case !d.ask.key(msg, a.burst):
	case d.ask.apply:
		return d, d.write(a)
	default:
		d.back()
	}
	return d, nil
}

// write begins the change, decided on the frozen revision.
func (d *editDialog) write(a *app) tea.Cmd {
	o, bucket, rev := d.outlook(a), d.b.Key, d.b.State.Rev
	if o.err != nil || o.nothing {
		d.toReview(a) // an override ended meanwhile, and with it what x2 meant
		d.back()
		d.asked = true
		return nil
	}
	return d.start(a, "limit of "+bucket, func(ctx context.Context, admin Admin) (bucketctl.Change, error) {
		if o.override.IsZero() {
			return admin.ClearLimit(ctx, bucket, rev, o.change.Reason)
		}
		return admin.SetLimit(ctx, bucket, rev, o.change)
	})
}

// replied takes what became of the change.
func (d *editDialog) replied(msg changeDone) (dialog, tea.Cmd) {
	ours, err := d.done(msg)
	if !ours {
		return d, nil
	}
	var conflict *bucketctl.ConflictError
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &conflict):
		d.step, d.ask, d.scroll, d.failed = conflictStep, choice{}, 0, ""
		d.theirs = conflict.State
	default:
		d.ask = choice{} // trying again takes as many keys as the first time
	}
	return d, nil
}

// settle answers a conflict: what was typed is laid over what the other wrote,
// which has to be reviewed anew, or dropped.
func (d *editDialog) settle(msg tea.KeyMsg, a *app) (dialog, tea.Cmd) {
	switch {
	case msg.Type == tea.KeyEsc && !a.burst:
		d.refreeze()
		d.back()
	case !d.ask.key(msg, a.burst):
	case d.ask.apply:
		d.refreeze()
		d.back()
		d.toReview(a)
	default:
		return nil, nil
	}
	return d, nil
}

// refreeze decides from here on what the other wrote.
func (d *editDialog) refreeze() { d.b.State = d.theirs }

func (d *editDialog) help() []key.Binding {
	if d.writing() {
		return d.writingKeys()
	}
	switch d.step {
	case reviewStep:
		return d.choiceKeys("Cancel or Apply", "back")
	case conflictStep:
		return d.choiceKeys("the other answer", "edit")
	case refusedStep:
		return []key.Binding{binding("esc", "close")}
	case fillStep:
	}
	return d.formKeys()
}
