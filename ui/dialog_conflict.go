package ui

import (
	"fmt"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/textsafe"
)

// drawConflict sets side by side what the form was opened on, what somebody
// else has written meanwhile, and what was typed.
func (d *editDialog) drawConflict(p *page, a *app) {
	now := a.serverNow()
	p.tell(" !! ", a.changerText(d.b.State, d.theirs, now)+", after you opened it", p.alarm)
	p.add("")
	mine := foresee(d.theirs, d.live(a), d.typed(), now)
	base, theirs := recordTexts(d.b.State, now), recordTexts(d.theirs, now)
	column := max(0, (p.width-tableLabel)/3)
	line := func(label, base, theirs, mine string) string {
		return textsafe.PadRight("   "+label, tableLabel) +
			column3(p.styles, base, column) + column3(p.styles, theirs, column) + column3(p.styles, mine, column)
	}
	p.add(p.dim.text(line("", "BASE", "THEIRS", "MINE")))
	labels := editLabels()
	for i, text := range d.mineTexts(mine, now) {
		p.add(line(labels[i], base[i], theirs[i], text))
	}
	if base, theirs := holdState(d.b.State.Hold, now), holdState(d.theirs.Hold, now); base != theirs {
		p.add(line("hold", base, theirs, "theirs"))
	}
	p.add("")
	if sameWish(d.theirs.Override, mine.override) {
		p.tell(" ! ", "Theirs already has the rate and the capacity that you want.", p.warn)
	}
	p.tell(" ", "What you typed is kept. On theirs, it is reviewed anew before anything is written.", p.dim)
	d.ask.draw(p, "Cancel, keep theirs", "Mine on theirs")
}

// mineTexts are the values as they would be on theirs: what was not typed stays
// as they have it, and a factor is one of what they have.
func (d *editDialog) mineTexts(mine outlook, now time.Time) [editFields]string {
	texts, typed := d.newTexts(mine, now), d.typed()
	if mine.err == nil {
		texts[endField] = clockOrNone(mine, now)
	}
	for i := range texts {
		if typed[i] == "" && editField(i) != reasonField {
			texts[i] = "theirs"
		}
	}
	return texts
}

func column3(st *styles, text string, width int) string {
	if width < 2 {
		return ""
	}
	return textsafe.PadRight(textsafe.Truncate(st.esc(text), width-1, st.ellipsis), width)
}

// changerText says who changed a bucket's record, and when. A hold and a limit
// are one record, but not changed by one person.
func (st *styles) changerText(before, after bucketctl.State, now time.Time) string {
	by, at, did := after.By, after.ChangedAt, "changed it"
	switch was, is := before.Hold, after.Hold; {
	case is.Active && is != was:
		by, at, did = is.By, is.At, "held it"
	case was.Active && !is.Active:
		by, at, did = "", time.Time{}, "resumed it"
	}
	when := ""
	if !at.IsZero() {
		when = " at " + clockTime(at, now)
	}
	return fmt.Sprintf("%s %s%s (rev %s)", nameOr(by, "somebody"), did, when, st.rev(after.Rev))
}

// recordTexts are the values in force in a state.
func recordTexts(s bucketctl.State, now time.Time) [editFields]string {
	s = stateAt(s, now)
	var end string
	switch {
	case s.Override.IsZero():
		end = "as declared"
	case s.Override.Until.IsZero():
		end = "no end"
	default:
		end = clockTime(s.Override.Until, now)
	}
	return [editFields]string{
		rateField:     exactRate(s.Effective.Rate, s.Effective.Per),
		capacityField: exactTokens(s.Effective.Capacity),
		endField:      end,
		reasonField:   nameOr(quoteText(s.Reason), "-"),
	}
}

// sameWish reports whether two overrides set the same numbers. It tells an
// operator whose own write timed out that it had landed.
func sameWish(a, b bucketctl.Override) bool {
	return !a.IsZero() && a.Rate == b.Rate && a.Capacity == b.Capacity
}
