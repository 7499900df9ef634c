package ui

import (
	"fmt"
	"time"

	"bucketop/bucketctl"
)

func (d *editDialog) view(a *app, width, height int) string {
	p := newPage(&a.styles, width)
	switch d.step {
	case fillStep:
		p.heading("EDIT", d.b.Key, d.status(a))
		d.drawForm(p, a)
	case reviewStep:
		p.heading("REVIEW", d.b.Key, d.status(a))
		d.drawReview(p, a)
	case conflictStep:
		p.heading("CONFLICT", d.b.Key, "nothing of yours written")
		d.drawConflict(p, a)
	case refusedStep:
		p.heading("EDIT", d.b.Key, "")
		p.tell(" ! ", d.refusal, a.warn)
	}
	return d.draw(p, a, height)
}

// editLabels are the names of the fields.
func editLabels() [editFields]string {
	return [editFields]string{"rate", "capacity", "for", "reason"}
}

func (d *editDialog) drawForm(p *page, a *app) {
	o, t := d.outlook(a), formTable(p.width)
	p.add(t.head(p.styles, "NEW"))
	rows := d.rows(o, a.serverNow())
	for i := range editFields {
		row, focused := rows[i], int(i) == d.set.focus
		if focused {
			p.mark()
		}
		row.focused, row.field = focused, t.box(a, d.set.fields[i], focused)
		p.add(t.draw(p.styles, row))
		if o.err != nil && o.bad == i {
			paint := a.warn
			if d.asked {
				paint = a.alarm
			}
			p.tell("   ! ", plainError(o.err), paint)
		}
	}
	p.add("")
	d.drawOutlook(p, a, o)
	p.add("")
	p.tell(" ", d.accepts(p.styles), p.dim)
	d.formFoot(p, o)
}

// formFoot says why enter or esc did not do what they usually do.
func (d *editDialog) formFoot(p *page, o outlook) {
	switch {
	case d.leaving:
		p.end(" ! ", "esc again drops what you typed; any other key keeps it", p.warn)
	case d.asked && o.err == nil && o.nothing:
		p.end(" ! ", d.nothingText(), p.warn)
	}
}

func (d *editDialog) nothingText() string {
	switch typed := d.typed(); {
	case typed == editTexts{}:
		return "Nothing to review: type a rate, a capacity or how long."
	case typed[rateField] == "" && typed[capacityField] == "" && d.b.State.Override.IsZero():
		return "Nothing to review: there is no override whose end could change; type a rate or a capacity."
	}
	return "Nothing to review: that is what is in force."
}

// accepts shows by example what the fields take; the factor and the unit are
// where people guess wrong.
func (d *editDialog) accepts(st *styles) string {
	switch editField(d.set.focus) {
	case endField:
		return "accepts 30m 2h 1d forever; empty keeps the end there is"
	case reasonField:
		return "any text: it is shown beside the limit, and kept with the event"
	case rateField, capacityField, editFields:
	}
	return "accepts 450/min 7.5/s 25000/day x0.5 x2 declared " + st.dot + " capacity 22 or 3s"
}

// drawOutlook tells what goes on and what will.
func (d *editDialog) drawOutlook(p *page, a *app, o outlook) {
	now := func() { p.tell(" Now   ", o.now, paint{}) }
	then := func() { p.tellAll(" Then  ", o.then) }
	warnings := func() { p.warnAll(append(o.warnings, a.movedOn(d.b.State, d.live(a).State))...) }
	switch {
	case !p.narrow():
		now()
		then()
		warnings()
	case d.step == reviewStep: // what is easily missed comes before what scrolls away
		warnings()
		then()
		now()
	default:
		then()
		warnings()
		now()
	}
}

// rows are the columns of the form without its fields.
func (d *editDialog) rows(o outlook, now time.Time) [editFields]tableRow {
	s := stateAt(d.b.State, now)
	rows := [editFields]tableRow{
		rateField: {
			declared: exactRate(s.Declared.Rate, s.Declared.Per),
			inForce:  exactRate(s.Effective.Rate, s.Effective.Per),
			note:     rateNote(s, o),
		},
		capacityField: {
			declared: exactTokens(s.Declared.Capacity),
			inForce:  exactTokens(s.Effective.Capacity),
			note:     capacityNote(o),
		},
		endField:    {declared: "-", inForce: inForceEnd(s, now), note: endNote(s, o)},
		reasonField: {declared: "-", inForce: nameOr(quoteText(s.Reason), "-")},
	}
	for i, label := range editLabels() {
		rows[i].label = label
	}
	return rows
}

// rateNote sets the new rate beside the old one.
func rateNote(s bucketctl.State, o outlook) string {
	switch {
	case o.err != nil || s.Effective.Rate == 0:
		return ""
	case o.limit.Rate == s.Effective.Rate:
		return "stays as in force"
	}
	return "was " + exactRate(s.Effective.Rate, s.Effective.Per)
}

// capacityNote is the new capacity in the measure that tells whether it is
// sane: how long the rate takes to fill it.
func capacityNote(o outlook) string {
	if o.err != nil || o.limit.Rate == 0 {
		return ""
	}
	return secondsText(o.limit.Capacity/o.limit.Rate) + " of rate"
}

// inForceEnd is when the override in force ends, and whose it is.
func inForceEnd(s bucketctl.State, now time.Time) string {
	if s.Override.IsZero() {
		return "-"
	}
	text := "no end"
	if !s.Override.Until.IsZero() {
		text = left(s.Override.Until, now)
	}
	if s.By != "" {
		text += ", " + shortName(s.By)
	}
	return text
}

// shortName is a name as people say it: the part before the machine's.
func shortName(by string) string {
	for i, r := range by {
		if r == '@' && i > 0 {
			return by[:i]
		}
	}
	return by
}

func endNote(s bucketctl.State, o outlook) string {
	switch {
	case o.err != nil:
		return ""
	case o.override.IsZero():
		return "as declared"
	case o.override.Until.IsZero():
		return "no end"
	case o.change.End.IsKeep() && !s.Override.IsZero():
		return "keeps its end"
	}
	return "then declared"
}

// drawReview sets what is in force beside what will be.
func (d *editDialog) drawReview(p *page, a *app) {
	o, now := d.outlook(a), a.serverNow()
	t := formTable(p.width)
	t.declared, t.note = 0, 0
	t.field = max(0, p.width-t.label-t.inForce)
	p.add(t.head(p.styles, "NEW"))
	rows := d.rows(o, now)
	texts := d.newTexts(o, now)
	if p.narrow() {
		texts[endField] = clockOrNone(o, now)
	}
	for i, text := range texts {
		row := rows[i]
		row.field = p.note.text(p.cut(p.esc(text), t.field))
		p.add(t.draw(p.styles, row))
	}
	p.add("")
	d.drawOutlook(p, a, o)
	if d.writing() {
		return
	}
	d.ask.draw(p, "Cancel, back to the form", "Apply")
}

// newTexts are the values that will be in force.
func (d *editDialog) newTexts(o outlook, now time.Time) [editFields]string {
	if o.err != nil {
		return d.typed()
	}
	texts := [editFields]string{
		rateField:     exactRate(o.limit.Rate, o.limit.Per),
		capacityField: exactTokens(o.limit.Capacity),
		endField:      endValue(o, now),
		reasonField:   nameOr(quoteText(o.change.Reason), "-"),
	}
	if o.limit.IsZero() { // a part is not known; what is overridden is
		texts[rateField] = exactRate(o.override.Rate, o.override.Per)
		texts[capacityField] = exactTokens(o.override.Capacity)
	}
	return texts
}

// clockOrNone is endValue without how long that is.
func clockOrNone(o outlook, now time.Time) string {
	if o.override.Until.IsZero() {
		return endValue(o, now)
	}
	return clockTime(o.override.Until, now)
}

func endValue(o outlook, now time.Time) string {
	switch {
	case o.override.IsZero():
		return "as declared"
	case o.override.Until.IsZero():
		return "no end"
	}
	return fmt.Sprintf("%s, until %s", spanText(o.override.Until.Sub(now)), clockTime(o.override.Until, now))
}
