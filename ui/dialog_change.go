package ui

import (
	"context"
	"errors"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// changing is what all dialogs share: the bucket as it was when the dialog
// opened, which is what its change is decided on, and at most one change under
// way.
type changing struct {
	b      watch.Bucket // frozen
	id     int          // of the change under way; 0: none
	failed string       // why the last attempt came to nothing; one raw sentence
	twice  bool         // what is done twice is done two times: no revision stops the second
	unsure bool         // whether it came to nothing is not known
	scroll int
	narrow bool // there was little room when it was drawn last
	most   int  // how far the body could be scrolled when it was drawn last
}

// live returns the newest reading of the bucket. The change is never decided
// on it; what is told about the queue is.
func (c *changing) live(a *app) watch.Bucket {
	if b, known := a.bucket(c.b.Key); known && !b.State.At.IsZero() {
		return b
	}
	return c.b
}

// start begins a change, unless nothing may be written now.
func (c *changing) start(a *app, what string, do func(context.Context, Admin) (bucketctl.Change, error)) tea.Cmd {
	if a.burst {
		c.failed = "That key came in one piece with others, as a paste does. Nothing is written: press it again."
		return nil
	}
	if c.failed = a.blocked(); c.failed != "" {
		return nil
	}
	id, cmd := a.change(c.b.Key, what, do)
	c.id = id
	return cmd
}

// writing reports whether a change is under way.
func (c *changing) writing() bool { return c.id != 0 }

// whileWriting handles a key while a change is under way: only esc means
// anything, and it takes back nothing.
func (c *changing) whileWriting(msg tea.KeyMsg, a *app) (closed bool) {
	if msg.Type != tea.KeyEsc {
		return false
	}
	a.say("not waited for: the change may still be written; its revision or level will tell")
	return true
}

// taken handles a key before a form's step sees it: while a change is under way,
// and to scroll. closed means that the dialog ends.
func (c *changing) taken(msg tea.KeyMsg, a *app) (taken, closed bool) {
	switch {
	case c.writing():
		return true, c.whileWriting(msg, a)
	case c.scrolled(msg):
		return true, false
	}
	c.failed = ""
	return false, false
}

// done takes the reply to this dialog's change. ours is false for the reply to
// another's; err is what the dialog has to stay open for.
func (c *changing) done(msg changeDone) (ours bool, err error) {
	if c.id == 0 || msg.id != c.id {
		return false, nil
	}
	c.id = 0
	var audit *bucketctl.AuditError
	if msg.err == nil || errors.As(msg.err, &audit) {
		return true, nil // written; the app tells what is missing
	}
	c.failed, c.unsure = changeFailed(msg.err), landedPerhaps(msg.err)
	if c.unsure && c.twice {
		c.failed = "Redis did not answer: whether it is written is not known. Look at the level before you do it again."
	}
	if c.b.State.Kind == bucketctl.KindWindow && errors.Is(msg.err, bucketctl.ErrWrongType) {
		c.failed = "Not written: this is a sliding window, which takes no such change."
	}
	return true, msg.err
}

// adopt takes over the newer state that a conflict brought, so that a question
// can be asked anew instead of failing for ever. The operator reads it first.
func (c *changing) adopt(a *app, err error) {
	var conflict *bucketctl.ConflictError
	if !errors.As(err, &conflict) {
		return
	}
	c.failed = "Not written: " + a.changerText(c.b.State, conflict.State, conflict.State.At) +
		" meanwhile. This is the newer state: look again."
	c.b.State = conflict.State
}

// status is how far the dialog has got, for its title.
func (c *changing) status(a *app) string {
	switch {
	case c.writing():
		return "writing..."
	case c.unsure:
		return "not known whether written"
	case c.b.State.Rev == 0:
		return "nothing written yet"
	}
	return "rev " + a.rev(c.b.State.Rev) + " " + a.dot + " nothing written yet"
}

// scrolled handles the keys that move the body.
func (c *changing) scrolled(msg tea.KeyMsg) bool {
	const step = 4
	switch msg.Type {
	case tea.KeyPgDown:
		c.scroll = min(c.scroll+step, c.most)
	case tea.KeyPgUp:
		c.scroll = max(c.scroll-step, -c.most)
	default:
		return false
	}
	return true
}

// draw draws a page and remembers how far it can be scrolled.
func (c *changing) draw(p *page, a *app, height int) string {
	switch {
	case c.writing():
		p.end(" ", "writing... esc stops waiting; the change may still land", a.note)
	case c.failed != "":
		p.end(" !! ", c.failed, a.alarm)
	case a.blocked() != "":
		p.end(" ! ", a.blocked(), a.warn)
	default:
		p.end(" ! ", c.goneText(a), a.warn)
	}
	text, most := p.view(height, c.scroll)
	c.most, c.narrow = most, p.narrow()
	return text
}

// goneText warns that what is shown is the last that was seen.
func (c *changing) goneText(a *app) string {
	if _, known := a.bucket(c.b.Key); known || c.b.State.At.IsZero() {
		return ""
	}
	return "The bucket has left the list: these are its last values."
}

// changeFailed is one sentence on what became of a change, and what to do.
func changeFailed(err error) string {
	switch {
	case errors.Is(err, bucketctl.ErrConflict):
		return "Not written: somebody changed it meanwhile. Close this and look again."
	case errors.Is(err, bucketctl.ErrReadOnly):
		return "Not written: this console was opened read-only."
	case errors.Is(err, bucketctl.ErrDenied):
		return "Not written: Redis refuses. " + reasonOf(err, bucketctl.ErrDenied)
	case errors.Is(err, bucketctl.ErrNotFound):
		return "Not written: the bucket is gone. No worker registered it, and it has neither state nor override."
	case errors.Is(err, bucketctl.ErrForeign):
		return "Not written: another program owns this bucket, and its workers read nothing from here."
	case errors.Is(err, bucketctl.ErrWrongType):
		return "Not written: the key holds something that is no bucket. R shows what, and can delete it."
	case errors.Is(err, bucketctl.ErrNothing):
		return "Nothing to change: it is that way already, or somebody was faster."
	case errors.Is(err, bucketctl.ErrLimit), errors.Is(err, bucketctl.ErrTokens):
		return "Not written: " + plainError(err)
	case errors.Is(err, bucketctl.ErrKey):
		return "Not written: the name can't be a bucket's. " + reasonOf(err, bucketctl.ErrKey)
	case landedPerhaps(err):
		return "Redis did not answer: whether it is written is not known. Trying again is safe: it is not written twice."
	}
	return "Not written: " + brief(err.Error())
}

// landedPerhaps reports whether a change that failed may be written: its reply
// is what got lost, as far as anybody here can tell.
func landedPerhaps(err error) bool {
	var call *bucketctl.CallError
	if errors.As(err, &call) {
		return call.Unsure
	}
	return errors.Is(err, bucketctl.ErrUnavailable) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// reasonOf is what an error says besides its sentinel.
func reasonOf(err, sentinel error) string {
	text, head := err.Error(), sentinel.Error()
	if len(text) > len(head)+2 && text[:len(head)] == head {
		text = text[len(head)+2:]
	}
	return brief(text)
}

// unreadText says why nothing can be changed of a bucket that was not read.
func unreadText(s bucketctl.State) string {
	if s.Kind == bucketctl.KindDenied {
		return "Redis' ACL keeps this bucket from this console's user: nothing of it can be read or changed."
	}
	return "This bucket was not read yet. Close this and try again in a second."
}

func nameOr(name, unknown string) string {
	if name == "" {
		return unknown
	}
	return brief(name)
}

// formKeys are the keys of a form that is typed into.
func (c *changing) formKeys() []key.Binding {
	if c.narrow {
		return []key.Binding{binding("tab", "next"), binding("enter", "review"), binding("esc", "cancel")}
	}
	return []key.Binding{binding("tab", "next field"), binding("enter", "review (Cancel focused)"), binding("esc", "cancel")}
}

// choiceKeys are the keys of a choice; esc says what esc does.
func (c *changing) choiceKeys(answers, esc string) []key.Binding {
	if c.narrow {
		answers = "switch"
	}
	return []key.Binding{binding("tab", answers), binding("enter", "choose"), binding("esc", esc)}
}

// writingKeys are the keys while a change is under way.
func (c *changing) writingKeys() []key.Binding {
	return []key.Binding{binding("esc", "stop waiting")}
}

// binding is a key for the footer.
func binding(label, does string) key.Binding {
	return key.NewBinding(key.WithKeys(label), key.WithHelp(label, does))
}
