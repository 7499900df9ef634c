package ui

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"bucketop/internal/watch"
)

// pendingDialog stands where a real dialog will be.
type pendingDialog struct{ what, key string }

func (d *pendingDialog) update(msg tea.Msg, _ *app) (dialog, tea.Cmd) {
	if k, ok := msg.(tea.KeyMsg); ok && k.String() == "esc" {
		return nil, nil
	}
	return d, nil
}

func (d *pendingDialog) view(a *app, width, _ int) string {
	return a.cut(" "+d.what+"  "+a.esc(d.key), width)
}

func (d *pendingDialog) help() []key.Binding {
	return []key.Binding{key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "cancel"))}
}

func newEditDialog(_ *app, b watch.Bucket) dialog   { return &pendingDialog{"EDIT", b.Key} }
func newResetDialog(_ *app, b watch.Bucket) dialog  { return &pendingDialog{"RESET", b.Key} }
func newHoldDialog(_ *app, b watch.Bucket) dialog   { return &pendingDialog{"HOLD", b.Key} }
func newResumeDialog(_ *app, b watch.Bucket) dialog { return &pendingDialog{"RESUME", b.Key} }
func newUndoDialog(_ *app, b watch.Bucket) dialog   { return &pendingDialog{"UNDO", b.Key} }
func newDeleteDialog(_ *app, b watch.Bucket) dialog { return &pendingDialog{"DELETE", b.Key} }
