package ui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// key handles keys as they arrive: alone, several in one message, or several
// messages within a moment. Only a key that was typed alone may change
// anything. To know that of a key that could, its effect waits for a moment.
func (a *app) key(msg tea.KeyMsg) tea.Cmd {
	now := a.now()
	crowded := !a.keyAt.IsZero() && now.Sub(a.keyAt) < burstGap
	a.keyAt = now

	var before tea.Cmd
	if a.pending != nil {
		before = a.release(true)
	}
	switch {
	case msg.Paste:
		return tea.Batch(before, a.paste(msg))
	case len(msg.Runes) > 1:
		return tea.Batch(before, a.split(msg))
	case !crowded && a.mustSettle(msg):
		a.pending = &msg
		return tea.Batch(before, a.settle())
	}
	return tea.Batch(before, a.press(msg, crowded))
}

// split handles runes that bubbletea read together one by one: a fast typist
// behind a slow line means each of them.
func (a *app) split(msg tea.KeyMsg) tea.Cmd {
	var cmds []tea.Cmd
	for _, r := range msg.Runes {
		one := tea.Key{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}
		if r == ' ' {
			one.Type = tea.KeySpace
		}
		cmds = append(cmds, a.press(tea.KeyMsg(one), true))
	}
	return tea.Batch(cmds...)
}

// paste hands a bracketed paste to whatever takes text, and to nothing else.
func (a *app) paste(msg tea.KeyMsg) tea.Cmd {
	a.burst = true
	defer func() { a.burst = false }()
	switch {
	case a.top() != nil:
		return a.dialogKey(msg)
	case a.list.typing && a.shown() == onList:
		return a.list.typeKey(a, msg)
	}
	return nil
}

// settled releases the pending key: nothing came behind it.
func (a *app) settled(gen int) tea.Cmd {
	if gen != a.pendingGen || a.pending == nil {
		return nil
	}
	return a.release(false)
}

func (a *app) release(burst bool) tea.Cmd {
	msg := *a.pending
	a.pending = nil
	return a.press(msg, burst)
}

// mustSettle reports whether the key could change something, or confirm it.
func (a *app) mustSettle(msg tea.KeyMsg) bool {
	name := msg.String()
	if a.top() != nil {
		return name == "y" || name == "Y" || name == "enter" || name == "ctrl+z"
	}
	if a.list.typing {
		return name == "ctrl+z"
	}
	act, found := a.find(name, a.shown())
	return found && (act.changes || act.alone)
}

// press handles one key.
func (a *app) press(msg tea.KeyMsg, burst bool) tea.Cmd {
	a.burst = burst
	defer func() { a.burst = false }()
	a.notice = nil

	name := msg.String()
	switch {
	case name == "ctrl+c":
		return a.quit()
	case name == "ctrl+z" && !burst: // out of a form too: what was typed stays
		return a.suspend()
	case a.top() != nil:
		return a.dialogKey(msg)
	case a.list.typing && a.shown() == onList:
		return a.list.typeKey(a, msg)
	}
	act, found := a.find(name, a.shown())
	if !found {
		return nil
	}
	return a.run(act)
}

// run does what an action says, unless it may not.
func (a *app) run(act action) tea.Cmd {
	switch {
	case (act.changes || act.alone) && a.burst:
		a.say(act.label + " ignored: it came in one piece with other keys, as a paste does")
		return nil
	case act.changes:
		if why := a.blocked(); why != "" {
			a.say(why)
			return nil
		}
	}
	return act.do(a)
}
