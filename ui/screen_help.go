package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"bucketop/internal/textsafe"
	"bucketop/internal/watch"
)

// helpScreen is the actions table as people read it, and what the state words
// mean.
type helpScreen struct{ scroller }

func (a *app) openHelp() tea.Cmd {
	if a.shown() == onHelp {
		return a.back()
	}
	a.push(&helpScreen{})
	return nil
}

func (h *helpScreen) place() place                 { return onHelp }
func (h *helpScreen) take(*app)                    {}
func (h *helpScreen) move(_ *app, by int)          { h.scroll(by) }
func (h *helpScreen) page(_ *app, by int)          { h.pageBy(by) }
func (h *helpScreen) selected(*app) (string, bool) { return "", false }

func (h *helpScreen) view(a *app, width, height int) []string {
	lines := []string{" " + a.strong.text("KEYS") + "  small letters look, capitals change; nothing changes without a question"}
	blocked := a.blocked()
	if blocked != "" {
		lines = append(lines, " "+a.warn.text(blocked))
	}
	for _, act := range a.actions {
		if act.about == "" {
			continue
		}
		about := act.about
		if act.changes && blocked != "" {
			about += " (not now)"
		}
		lines = append(lines, a.defined(act.label, 8, paint{}, about, width)...)
	}
	lines = append(lines, "", " "+a.strong.text("STATES")+"  gravest first")
	for c := watch.Stuck; c <= watch.Unread; c++ {
		lines = append(lines, a.defined(c.Word(), 10, a.mood(c), meaning(c), width)...)
	}
	lines = append(lines, "", " "+a.strong.text("NUMBERS"))
	for _, n := range [][2]string{
		{"TOKENS", "level of capacity; a level below 0 is debt that is already promised"},
		{"GRANTED", "over about 5 s, of the limit in force, in the unit the limit was declared in"},
		{overrideMark, "behind GRANTED or USED: an override is in force, so the limit is not the declared one"},
		{"of HELD", "in place of the limit, or of COOLDOWN: it is stopped, beside what STATE says; in a narrow window under USED"},
		{"(300/min)", "a limit in brackets: what workers declare; none has reached Redis' scripts, so nothing is stored"},
		{"WAITING", "callers over all workers, then how long the first of them has still to wait"},
		{"REV", "revision of limit and hold: the last digits of the server time of the change"},
		{unknown, "not known; it never stands for 0"},
	} {
		lines = append(lines, a.defined(n[0], 10, paint{}, n[1], width)...)
	}
	return h.cutOut(&a.styles, lines, height)
}

// defined is a term and what it means, wrapped beside it.
func (a *app) defined(term string, cells int, mood paint, about string, width int) []string {
	var out []string
	head := "  " + mood.text(textsafe.PadRight(term, cells)) + " "
	for _, line := range wrap(about, max(10, width-cells-4)) {
		out = append(out, head+line)
		head = textsafe.PadRight("", cells+3)
	}
	return out
}

// meaning is what a state word says.
func meaning(c watch.Code) string {
	switch c {
	case watch.Stuck:
		return "someone waits and nothing is granted, with no hold and no cooldown"
	case watch.Corrupt:
		return "what is stored can't be a bucket's values; R sets it right"
	case watch.Silent:
		return "a worker is not heard of: it is down, or it goes on alone on its share, above the limit"
	case watch.Fallback:
		return "a worker can't reach Redis and decides on its own, by its share"
	case watch.Cooldown:
		return "the provider asked a worker to pause; all workers do"
	case watch.Held:
		return "an operator stopped it; H resumes"
	case watch.Drift:
		return "its workers were configured with different limits; the newest counts"
	case watch.FullUse:
		return "someone waits because all the limit allows is granted: healthy"
	case watch.Overridden:
		return "an operator set another limit than was declared"
	case watch.OK:
		return "tokens are granted and nobody waits for long"
	case watch.Idle:
		return "nothing was granted lately"
	case watch.Foreign:
		return "another program writes it; only its level is known"
	case watch.Unread:
		return "known from the registry, read as soon as it is on screen"
	}
	return ""
}
