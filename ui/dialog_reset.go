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

// resetDialog sets a bucket's level: first what to, then y. It says before
// that what holds the bucket up, since a reset is what people reach for when
// something else is the matter.
type resetDialog struct {
	changing
	number  fieldSet
	to      resetTo
	refusal string
}

func newResetDialog(_ *app, b watch.Bucket) dialog {
	d := &resetDialog{changing: changing{b: b, twice: true}, number: newFieldSet("")}
	if b.State.At.IsZero() {
		d.refusal = unreadText(b.State)
	}
	return d
}

// deletes reports whether all that can be done is to delete the key.
func (d *resetDialog) deletes() bool {
	kind := d.b.State.Kind
	return kind == bucketctl.KindWrongType || kind == bucketctl.KindForeignWindow
}

func (d *resetDialog) update(msg tea.Msg, a *app) (dialog, tea.Cmd) {
	switch msg := msg.(type) {
	case changeDone:
		ours, err := d.done(msg)
		if ours && err == nil {
			return nil, nil
		}
		if errors.Is(err, bucketctl.ErrConflict) {
			d.choose(toNothing)
			d.adopt(a, err)
		}
	case tea.ResumeMsg:
		if !d.writing() {
			d.to = toNothing
		}
	case tea.KeyMsg:
		return d.pressed(msg, a)
	}
	return d, nil
}

func (d *resetDialog) pressed(msg tea.KeyMsg, a *app) (dialog, tea.Cmd) {
	switch {
	case d.writing():
		if d.whileWriting(msg, a) {
			return nil, nil
		}
		return d, nil
	case d.scrolled(msg):
		return d, nil
	case msg.Type == tea.KeyEsc:
		if d.to == toNothing && !a.burst {
			return nil, nil
		}
		d.choose(toNothing)
		return d, nil
	case d.refusal != "":
		return d, nil
	case msg.Paste:
		if !d.deletes() {
			d.typeNumber(msg)
		}
		return d, nil
	}
	if a.burst && msg.String() != "y" { // y of a burst says why nothing happens
		return d, nil
	}
	return d.answer(msg, a)
}

func (d *resetDialog) answer(msg tea.KeyMsg, a *app) (dialog, tea.Cmd) {
	d.failed = ""
	switch name := msg.String(); {
	case name == "y":
		return d, d.write(a)
	case name == "H" && d.live(a).State.Hold.Active:
		return newResumeDialog(a, d.live(a)), nil
	case d.deletes():
		if name == "x" {
			d.choose(toDelete)
		}
	case name == "f":
		if _, known := fullTokens(d.b); known {
			d.choose(toFull)
		} else {
			d.failed = "Full is not offered: the capacity is not known here. Type a number, or e for empty."
		}
	case name == "e":
		d.choose(toEmpty)
	case len(name) == 1 && (name[0] >= '0' && name[0] <= '9' || name[0] == '.'),
		d.to == toNumber && len(msg.Runes) == 0:
		d.typeNumber(msg)
	}
	return d, nil
}

// choose changes what y would do. A number that was typed is gone with another
// choice.
func (d *resetDialog) choose(to resetTo) {
	d.to, d.failed, d.scroll = to, "", 0
	d.number = newFieldSet("")
}

func (d *resetDialog) typeNumber(msg tea.KeyMsg) {
	if d.to != toNumber {
		d.choose(toNumber)
	}
	d.number.key(msg, false)
	if d.number.text(0) == "" {
		d.to = toNothing
	}
}

// tokens is what the level would become.
func (d *resetDialog) tokens() (float64, error) {
	switch d.to {
	case toFull:
		tokens, _ := fullTokens(d.b)
		return tokens, nil
	case toNumber:
		return parseTokens(d.number.text(0))
	case toEmpty, toNothing, toDelete:
	}
	return 0, nil
}

func (d *resetDialog) write(a *app) tea.Cmd {
	tokens, err := d.tokens()
	if err != nil {
		d.failed = "Not written: " + plainError(err)
		return nil
	}
	name, rev := d.b.Key, d.b.State.Rev
	target := bucketctl.ToLevel(tokens)
	switch d.to {
	case toNothing:
		d.failed = "Choose first what to reset it to."
		if d.deletes() {
			d.failed = "Press x first: it says what is lost."
		}
		return nil
	case toDelete:
		return d.start(a, "deletion of "+name, func(ctx context.Context, admin Admin) (bucketctl.Change, error) {
			return admin.Delete(ctx, name, rev, "")
		})
	case toFull:
		target = bucketctl.ToFull()
	case toEmpty:
		target = bucketctl.ToEmpty()
	case toNumber:
	}
	return d.start(a, "reset of "+name, func(ctx context.Context, admin Admin) (bucketctl.Change, error) {
		return admin.Reset(ctx, name, rev, target, "")
	})
}

func (d *resetDialog) help() []key.Binding {
	switch {
	case d.writing():
		return d.writingKeys()
	case d.refusal != "":
		return []key.Binding{binding("esc", "close")}
	case d.to != toNothing:
		return []key.Binding{binding("y", "write"), binding("esc", "choose again")}
	case d.deletes():
		return []key.Binding{binding("x", "delete the key"), binding("esc", "cancel")}
	}
	keys := []key.Binding{binding("e", "empty"), binding("0-9", "a number"), binding("esc", "cancel")}
	if _, known := fullTokens(d.b); known {
		keys = append([]key.Binding{binding("f", "full")}, keys...)
	}
	if d.b.State.Hold.Active {
		return append([]key.Binding{binding("H", "resume")}, keys...)
	}
	return keys
}

func (d *resetDialog) view(a *app, width, height int) string {
	p, now, live := newPage(&a.styles, width), a.serverNow(), d.live(a)
	p.heading("RESET", d.b.Key, d.status(a))
	if d.refusal != "" {
		p.tell(" ! ", d.refusal, a.warn)
		return d.draw(p, a, height)
	}
	if !d.deletes() {
		p.tell(" Level ", levelText(live, now), paint{})
	}
	if !d.deletes() && !p.narrow() {
		p.tell(" Now   ", nowText(live), paint{})
	}
	d.drawCause(p, live, now)
	p.add("")
	d.drawChoices(p, a)
	p.warnAll(reachWarning("this reset", live, now), a.movedOn(d.b.State, live.State))
	p.add("")
	p.tell(" ", "U cannot undo a reset.", a.dim)
	d.drawQuestion(p)
	return d.draw(p, a, height)
}

// drawCause tells what holds the bucket up.
func (d *resetDialog) drawCause(p *page, live watch.Bucket, now time.Time) {
	cause, helps := resetCause(live, now)
	paint := paint{}
	if !helps {
		paint = p.warn
	}
	p.tell(" Cause ", cause, paint)
}

// drawChoices lists what the level can be set to, and what follows.
func (d *resetDialog) drawChoices(p *page, a *app) {
	now, live := a.serverNow(), d.live(a)
	option := func(to resetTo, label, text string) {
		mark, paint := "   ", paint{}
		if d.to == to {
			p.mark()
			mark, paint = " "+p.cursor+" ", p.strong
		}
		p.tell(mark+label, text, paint)
	}
	if d.deletes() {
		option(toDelete, "x  ", fmt.Sprintf("delete the key: the %s in it is lost, for whatever program wrote it. Workers begin a new bucket, full.",
			nameOr(d.b.State.Type, "value")))
		return
	}
	if stateAt(live.State, now).Hold.Active {
		p.tell("   H    ", "resume it: that is what helps", p.strong)
	}
	if full, known := fullTokens(d.b); known {
		option(toFull, "f    ", fmt.Sprintf("full, %s tokens: %s", exactTokens(full), startsText(live, full, now)))
	} else {
		option(toFull, "f    ", "full is not offered: the capacity is not known here")
	}
	option(toEmpty, "e    ", "empty, 0 tokens: "+startsText(live, 0, now))
	option(toNumber, "0-9  ", d.numberText(a))
}

// numberText tells what the typed number would do.
func (d *resetDialog) numberText(a *app) string {
	if d.to != toNumber {
		return "a number of tokens: type it"
	}
	typed := d.number.text(0) + a.caret
	tokens, err := parseTokens(d.number.text(0))
	if err != nil {
		return typed + "  " + plainError(err)
	}
	starts := startsText(d.live(a), tokens, a.serverNow())
	if full, known := fullTokens(d.b); known && tokens > full {
		return fmt.Sprintf("%s tokens: it holds %s at most, so it becomes that; %s", typed, exactTokens(full), starts)
	}
	return fmt.Sprintf("%s tokens: %s", typed, starts)
}

// drawQuestion is what y would do now.
func (d *resetDialog) drawQuestion(p *page) {
	if d.writing() {
		return
	}
	tokens, err := d.tokens()
	switch {
	case d.to == toNothing, err != nil:
	case d.to == toDelete:
		p.end(" ", "y deletes the key", p.strong)
	case d.to == toFull:
		p.end(" ", fmt.Sprintf("y resets it to full, %s tokens", exactTokens(tokens)), p.strong)
	case d.to == toEmpty:
		p.end(" ", "y resets it to empty, 0 tokens", p.strong)
	default:
		p.end(" ", fmt.Sprintf("y resets it to %s tokens", exactText(tokens)), p.strong)
	}
}
