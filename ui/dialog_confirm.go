package ui

import (
	"context"
	"errors"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
)

// confirmDialog is a question that is answered by y or esc: it tells what is
// there and what will be, and does nothing by any other key.
type confirmDialog struct {
	changing
	title string
	does  string // what y does, as the footer says it; empty: nothing
	what  string // what the change is called afterwards

	tell func(a *app) confirmation
	do   func(ctx context.Context, admin Admin, rev bucketctl.Rev) (bucketctl.Change, error)
}

// confirmation is what a question says. All of it is raw.
type confirmation struct {
	lines    []labelled
	warnings []string
	question string        // what y does; empty: nothing can be done
	rev      bucketctl.Rev // which the change is decided on
}

// labelled is a sentence with a short word before it.
type labelled struct{ label, text string }

func (d *confirmDialog) update(msg tea.Msg, a *app) (dialog, tea.Cmd) {
	switch msg := msg.(type) {
	case changeDone:
		ours, err := d.done(msg)
		if ours && err == nil {
			return nil, nil
		}
		if errors.Is(err, bucketctl.ErrConflict) {
			d.adopt(a, err)
		}
	case tea.KeyMsg:
		return d.pressed(msg, a)
	}
	return d, nil
}

func (d *confirmDialog) pressed(msg tea.KeyMsg, a *app) (dialog, tea.Cmd) {
	switch {
	case d.writing():
		if d.whileWriting(msg, a) {
			return nil, nil
		}
	case d.scrolled(msg), msg.Paste:
	case msg.Type == tea.KeyEsc:
		return nil, nil
	case msg.String() == "y":
		said := d.tell(a)
		if said.question == "" {
			return d, nil
		}
		return d, d.start(a, d.what, func(ctx context.Context, admin Admin) (bucketctl.Change, error) {
			return d.do(ctx, admin, said.rev)
		})
	}
	return d, nil
}

func (d *confirmDialog) help() []key.Binding {
	if d.writing() {
		return d.writingKeys()
	}
	if d.does == "" {
		return []key.Binding{binding("esc", "close")}
	}
	return []key.Binding{binding("y", d.does), binding("esc", "cancel")}
}

func (d *confirmDialog) view(a *app, width, height int) string {
	p, said := newPage(&a.styles, width), d.tell(a)
	p.heading(d.title, d.b.Key, d.status(a))
	for _, l := range said.lines {
		p.tell(l.label, l.text, paint{})
	}
	p.warnAll(said.warnings...)
	if said.question != "" && !d.writing() {
		p.end(" ", said.question, a.strong)
	}
	return d.draw(p, a, height)
}
