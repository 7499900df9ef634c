package ui

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// proposedHold is what the duration of a hold says at first: long enough to
// find out what is going on, and it ends by itself if everybody forgets it.
const proposedHold = "10m"

// Fields of the hold form.
const (
	holdEnd = iota
	holdReason
)

// holdDialog stops one bucket.
type holdDialog struct {
	changing
	set     fieldSet
	step    formStep
	ask     choice
	leaving bool
	refusal string
}

func newHoldDialog(_ *app, b watch.Bucket) dialog {
	d := &holdDialog{changing: changing{b: b}, set: newFieldSet(proposedHold, "")}
	if d.refusal = holdRefusal(b); d.refusal != "" {
		d.step = refusedStep
	}
	return d
}

// holdRefusal says why a bucket can't be held from here.
func holdRefusal(b watch.Bucket) string {
	switch s := b.State; {
	case s.At.IsZero():
		return unreadText(s)
	case isForeign(b):
		return "Another program's script writes this bucket, and its workers read no holds: a hold set here would stop nobody."
	case s.Kind == bucketctl.KindWrongType:
		return fmt.Sprintf("The key holds a %s, which is no bucket: nothing is taken from it. R offers to delete it.", nameOr(s.Type, "value"))
	}
	return ""
}

// isForeign reports whether another program's script writes the bucket and no
// worker of ours has it too.
func isForeign(b watch.Bucket) bool {
	switch b.State.Kind {
	case bucketctl.KindForeignWindow:
		return true
	case bucketctl.KindForeign:
		return b.Seen.IsZero()
	case bucketctl.KindNone, bucketctl.KindBucket, bucketctl.KindWindow, bucketctl.KindWrongType, bucketctl.KindDenied:
	}
	return false
}

func (d *holdDialog) update(msg tea.Msg, a *app) (dialog, tea.Cmd) {
	switch msg := msg.(type) {
	case changeDone:
		ours, err := d.done(msg)
		if ours && err == nil {
			return nil, nil
		}
		if errors.Is(err, bucketctl.ErrConflict) {
			d.step = fillStep
			d.adopt(a, err)
		}
	case tea.ResumeMsg:
		if d.step == reviewStep && !d.writing() {
			d.step = fillStep
		}
	case tea.KeyMsg:
		return d.pressed(msg, a)
	}
	return d, nil
}

func (d *holdDialog) pressed(msg tea.KeyMsg, a *app) (dialog, tea.Cmd) {
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
	case refusedStep, conflictStep:
		if msg.Type == tea.KeyEsc || msg.Type == tea.KeyEnter {
			return nil, nil
		}
	}
	return d, nil
}

func (d *holdDialog) fill(msg tea.KeyMsg, a *app) (dialog, tea.Cmd) {
	leaving := d.leaving
	d.leaving, d.scroll = false, 0
	switch {
	case msg.Type == tea.KeyEsc && a.burst:
	case msg.Type == tea.KeyEsc:
		if leaving || d.set.text(holdEnd) == proposedHold && d.set.text(holdReason) == "" {
			return nil, nil
		}
		d.leaving = true
	case msg.Type == tea.KeyEnter:
		if _, err := d.end(); err != nil {
			d.set.focus = holdEnd
			d.failed = plainError(err)
			return d, nil
		}
		d.step, d.ask = reviewStep, choice{}
	default:
		d.set.key(msg, a.burst)
	}
	return d, nil
}

// end is when the hold is to end. Unlike in the edit form, nothing typed is no
// answer: a hold that nobody meant to be for ever is worse than a question.
func (d *holdDialog) end() (bucketctl.End, error) {
	text := d.set.text(holdEnd)
	if text == "" {
		return bucketctl.End{}, fmt.Errorf("%w: how long? Write 10m, 2h, 1d or forever", bucketctl.ErrLimit)
	}
	return bucketctl.ParseEnd(text)
}

func (d *holdDialog) review(msg tea.KeyMsg, a *app) (dialog, tea.Cmd) {
	switch {
	case msg.Type == tea.KeyEsc && !a.burst:
		d.step = fillStep
	case !d.ask.key(msg, a.burst):
	case d.ask.apply:
		return d, d.write(a)
	default:
		d.step = fillStep
	}
	return d, nil
}

func (d *holdDialog) write(a *app) tea.Cmd {
	end, err := d.end()
	if err != nil {
		d.step, d.failed = fillStep, plainError(err)
		return nil
	}
	name, rev, reason := d.b.Key, d.b.State.Rev, d.set.text(holdReason)
	return d.start(a, "hold of "+name, func(ctx context.Context, admin Admin) (bucketctl.Change, error) {
		return admin.Hold(ctx, name, rev, end, reason)
	})
}

func (d *holdDialog) help() []key.Binding {
	switch {
	case d.writing():
		return d.writingKeys()
	case d.step == reviewStep:
		return d.choiceKeys("Cancel or Hold", "back")
	case d.step == refusedStep:
		return []key.Binding{binding("esc", "close")}
	}
	return d.formKeys()
}

func (d *holdDialog) view(a *app, width, height int) string {
	p, now, live := newPage(&a.styles, width), a.serverNow(), d.live(a)
	p.heading("HOLD", d.b.Key, d.status(a))
	if d.step == refusedStep {
		p.tell(" ! ", d.refusal, a.warn)
		return d.draw(p, a, height)
	}
	d.drawFields(p, a)
	p.add("")
	warnings := func() { p.warnAll(reachWarning("this hold", live, now), a.movedOn(d.b.State, live.State)) }
	if p.narrow() {
		warnings()
	} else {
		p.tell(" Now   ", nowText(live), paint{})
	}
	p.tellAll(" Then  ", d.thenTexts(live, now))
	if !p.narrow() {
		warnings()
	}
	switch {
	case d.writing():
	case d.step == reviewStep:
		d.ask.draw(p, "Cancel, back to the form", "Hold")
	case d.leaving:
		p.end(" ! ", "esc again drops what you typed; any other key keeps it", p.warn)
	}
	return d.draw(p, a, height)
}

func (d *holdDialog) drawFields(p *page, a *app) {
	t := formTable(p.width)
	t.declared, t.inForce, t.note = 0, 0, 0
	t.field = min(60, max(0, p.width-t.label-1))
	for i, label := range []string{"for", "reason"} {
		row := tableRow{label: label}
		if d.step == reviewStep {
			row.field = a.note.text(p.cut(p.esc(nameOr(d.set.text(i), "-")), t.field))
		} else {
			row.focused = i == d.set.focus
			row.field = t.box(a, d.set.fields[i], row.focused)
		}
		if row.focused {
			p.mark()
		}
		p.add(t.draw(p.styles, row))
	}
	if d.step == fillStep {
		p.tell("            ", "accepts 10m 2h 1d forever", p.dim)
	}
}

// thenTexts tell what the hold will do.
func (d *holdDialog) thenTexts(b watch.Bucket, now time.Time) []string {
	end, err := d.end()
	if err != nil {
		return []string{plainError(err)}
	}
	return holdThen(b, endMoment(end, now), now)
}

// endMoment is when end will be, as far as it can be told; zero: never.
func endMoment(end bucketctl.End, now time.Time) time.Time {
	// Preview does the reckoning for an override; a hold ends no differently.
	probe := bucketctl.LimitChange{Rate: bucketctl.To(1), End: end}
	o, _, err := probe.Preview(bucketctl.State{At: now})
	if err != nil {
		return time.Time{}
	}
	return o.Until
}

// holdThen tells what a hold until end will do; end zero: it has none.
func holdThen(b watch.Bucket, end, now time.Time) []string {
	texts := []string{"nothing more is charged; " + stayWaiting(b.Waiting)}
	texts = append(texts, "those charged already still start, within 250 ms (the default horizon)")
	if end.IsZero() {
		return append(texts, "no end: it stays until somebody resumes it (H)")
	}
	return append(texts, fmt.Sprintf("%s it goes on by itself; at most %s start at once then",
		clockTime(end, now), startsAtOnce(b.State)))
}

// stayWaiting tells what a stop means to those who wait.
func stayWaiting(n int) string {
	switch {
	case n < 0:
		return "how many wait is not known"
	case n == 0:
		return "nobody waits now; who comes waits, up to their own patience"
	}
	return "the " + waitingText(n) + " go on waiting, up to their own patience"
}

// startsAtOnce is the capacity in force as text.
func startsAtOnce(s bucketctl.State) string {
	if s.Effective.Capacity == 0 {
		return "what the workers declare"
	}
	return exactTokens(s.Effective.Capacity)
}
