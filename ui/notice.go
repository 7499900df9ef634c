package ui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
)

// notice is the one line that stays until the next key: what became of a
// change, or why a key did nothing.
type notice struct {
	text string
	bad  bool
	done *changeDone // a change that is written: the line counts who has seen it
}

// say shows text until the next key. It must be escaped already.
func (a *app) say(text string) { a.notice = &notice{text: text} }

// complain is say for what went wrong.
func (a *app) complain(text string) { a.notice = &notice{text: text, bad: true} }

// changed keeps the line about a change. The dialog hears of it first: it may
// close, or stay to show a conflict, and then it speaks for itself.
func (a *app) changed(msg changeDone) tea.Cmd {
	delete(a.underWay, msg.id)
	cmd := a.tellDialogs(msg)
	var audit *bucketctl.AuditError
	switch {
	case msg.err == nil, errors.As(msg.err, &audit):
		a.notice = &notice{done: &msg}
		a.source.Refresh()
	case a.top() == nil:
		a.complain(a.changeError(msg))
	}
	return cmd
}

// changeError is one clear sentence about a change that failed.
func (a *app) changeError(msg changeDone) string {
	what := a.esc(msg.what)
	if what == "" {
		what = a.esc(msg.key)
	}
	var conflict *bucketctl.ConflictError
	switch {
	case errors.As(msg.err, &conflict):
		by := conflict.State.By
		if by == "" {
			by = "somebody"
		}
		return fmt.Sprintf("%s: nothing written; %s changed it meanwhile (rev %s now): look again", what, a.esc(by), a.rev(conflict.State.Rev))
	case landedPerhaps(msg.err):
		return what + ": Redis did not answer; whether it is written is not known: look again"
	case errors.Is(msg.err, bucketctl.ErrNotFound):
		return what + ": nothing written; the bucket is gone"
	case errors.Is(msg.err, bucketctl.ErrNothing):
		return what + ": nothing to change"
	case errors.Is(msg.err, bucketctl.ErrReadOnly):
		return what + ": nothing written; this console is read-only"
	}
	return what + ": " + a.esc(strings.TrimPrefix(msg.err.Error(), "bucketctl: "))
}

// noticeLines draws the notice in at most most lines.
func (a *app) noticeLines(width, most int) []string {
	text, mood := a.notice.text, a.strong
	if a.notice.bad {
		mood = a.alarm
	}
	if a.notice.done != nil {
		text = a.doneText(a.notice.done)
	}
	lines := wrap(text, width)
	if len(lines) > most {
		lines[most-1] = a.cut(strings.Join(lines[most-1:], " "), width)
		lines = lines[:most]
	}
	for i, line := range lines {
		lines[i] = " " + mood.text(line)
	}
	return lines
}

// doneText is "rev 13 written; seen by 3 of 4 workers (geo-7 silent) · U undoes".
// It counts again whenever it is drawn.
func (a *app) doneText(done *changeDone) string {
	e := done.change.Event
	text := a.esc(done.what) + ": done"
	undoes := ""
	if e.Rev > 0 && done.change.After.Rev != done.change.Before.Rev {
		text = "rev " + a.rev(done.change.After.Rev) + " written; " + a.seenBy(done)
		undoes = "U undoes"
	}
	var audit *bucketctl.AuditError
	if errors.As(done.err, &audit) {
		text += ", but " + a.esc(audit.Lacks())
		if audit.Event != nil {
			undoes = "" // it would by the event
		}
	}
	return a.join(text, undoes)
}

// seenBy counts the workers that know of the change.
func (a *app) seenBy(done *changeDone) string {
	b, known := a.bucket(done.key)
	if !known || len(b.Workers) == 0 {
		return "no worker draws from it now"
	}
	seen := 0
	var not []string
	for i := range b.Workers {
		w := &b.Workers[i]
		switch {
		case w.Rev >= done.change.After.Rev:
			seen++
		case w.Silent:
			not = append(not, a.name(w.Name, 20)+" silent")
		case w.Mode.Local():
			not = append(not, a.name(w.Name, 20)+" on its own")
		}
	}
	text := fmt.Sprintf("seen by %d of %s", seen, count(len(b.Workers), "worker"))
	if len(not) > 2 {
		not = append(not[:2], strconv.Itoa(len(not)-2)+" more")
	}
	if len(not) > 0 {
		text += " (" + strings.Join(not, ", ") + ")"
	}
	return text
}
