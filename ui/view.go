package ui

import (
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"

	"bucketop/internal/watch"
)

// The console needs so much room; below it says so.
const (
	leastWidth  = 40
	leastHeight = 8
)

// View draws the whole window. Whatever screens and dialogs return, no line is
// wider and no view taller than the window: bubbletea would drop the top.
func (a *app) View() (out string) {
	defer func() {
		if r := recover(); r != nil {
			a.fatal = &PanicError{Value: r, Stack: debug.Stack()}
			a.stop()
			out = ""
		}
	}()
	if a.width <= 0 || a.height <= 0 {
		return ""
	}
	if a.tooSmall() {
		return a.cut("too small: 40x12 needed", a.width)
	}
	return a.clamp(a.lines())
}

func (a *app) tooSmall() bool { return a.width < leastWidth || a.height < leastHeight }

// clamp is the last word on width.
func (a *app) clamp(lines []string) string {
	for i, line := range lines {
		if atMost(line) > a.width && textCells(line) > a.width {
			line = a.cut(line, a.width)
		}
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// lines are the header, the screen or dialog, and the footer.
func (a *app) lines() []string {
	footer := a.footer()
	height := max(0, a.height-1-len(footer))
	var body []string
	if d := a.top(); d != nil {
		body = strings.Split(strings.TrimSuffix(d.view(a, a.width, height), "\n"), "\n")
	} else {
		body = a.screenLines(height)
	}
	if len(body) > height {
		body = body[:height]
	}
	lines := make([]string, 0, a.height)
	lines = append(lines, a.header(a.width-1))
	lines = append(lines, body...)
	for len(lines) < a.height-len(footer) {
		lines = append(lines, "")
	}
	return append(lines, footer...)
}

// screenLines are the shown screen. That Redis is lost stands before anything
// else; the list has it among its alerts.
func (a *app) screenLines(height int) []string {
	lost := a.lostLines()
	if a.shown() == onList || lost == 0 || height < 4 {
		return a.screen().view(a, a.width, height)
	}
	line := a.alarm.text(a.cut(" !! "+a.lostText(), a.width-1))
	return append([]string{line}, a.screen().view(a, a.width, height-lost)...)
}

// bodyHeight is what a screen may use.
func (a *app) bodyHeight() int {
	if a.notice == nil {
		return max(0, a.height-2)
	}
	return max(0, a.height-1-len(a.footer()))
}

// header is the first line: what is watched, how fresh it is, how it stands,
// and the server's time.
func (a *app) header(width int) string {
	title := a.title
	if title == "" {
		title = a.snap.Link.Addr
	}
	clock := ""
	if now := a.serverNow(); !now.IsZero() {
		clock = now.UTC().Format("15:04:05") + " UTC"
		if width < 60 {
			clock = now.UTC().Format("15:04:05")
		}
	}
	link := a.linkText()
	room := width - 1 - textCells(link) - 2 - len(clock) - 1
	left := " " + a.strong.text(a.name(title, max(min(20, width/3), min(40, room)))) + "  " + link
	if a.snap.Link.State == watch.Live {
		left += a.counts(width - textCells(left) - len(clock) - 2)
	}
	return a.spread(left, clock, width)
}

// linkText is how the console itself stands with Redis.
func (a *app) linkText() string {
	link := a.snap.Link
	switch {
	case link.State == watch.Connecting:
		return a.warn.text("CONNECTING" + a.ago(link.Since))
	case link.State == watch.Lost:
		return a.alarm.text("LOST"+a.ago(link.Since)) + a.lostMore()
	case a.paused:
		return a.warn.text("PAUSED " + rough(a.tickAt.Sub(a.frozenAt)))
	}
	age := a.tickAt.Sub(a.snap.Taken)
	if age > staleAfter {
		return a.warn.text("LIVE " + span(age))
	}
	return fmt.Sprintf("LIVE %.1fs", max(0, age).Seconds())
}

// ago is how long ago a local time was, with a space before it.
func (a *app) ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " " + rough(a.tickAt.Sub(t))
}

// lostMore is of when the data is, where a line below says why Redis is lost; in
// a dialog it is how old the data is, and why.
func (a *app) lostMore() string {
	switch {
	case a.top() == nil && a.lostLines() > 0:
		if a.width < 60 {
			return ""
		}
		return "  data of " + clockTime(a.snap.At, a.serverNow())
	case a.lostLines() > 0:
		return ", data " + a.dataAge() + " old: " + a.esc(a.snap.Link.Err)
	case a.snap.Link.Err != "":
		return ": " + a.esc(a.snap.Link.Err)
	}
	return ""
}

// dataAge is how old what is shown is.
func (a *app) dataAge() string { return rough(a.tickAt.Sub(a.snap.Taken)) }

// counts are how many buckets are in each state that asks for attention,
// gravest first, as far as there is room. A hold or an override counts also
// where something graver is the matter.
func (a *app) counts(room int) string {
	out, used, left := "", 0, 0
	for c := watch.Stuck; c <= watch.Overridden; c++ {
		n := a.snap.Counts[c]
		switch c {
		case watch.Held:
			n = a.snap.Forced.Holds
		case watch.Overridden:
			n = a.snap.Forced.Overrides
		default:
		}
		if n == 0 || c == watch.FullUse {
			continue
		}
		text := strconv.Itoa(n) + " " + strings.ToLower(c.Word())
		if left > 0 || used+2+len(text) > room {
			left++
			continue
		}
		out += " " + a.mood(c).text(text)
		used += 1 + len(text)
	}
	switch {
	case out == "" && left == 0 && len(a.snap.Counts) > 0 && room > 10:
		return "  all well"
	case out == "":
		return ""
	case left > 0 && used+4 <= room:
		out += " +" + strconv.Itoa(left)
	}
	return " " + out
}

// footer is the notice where there is one, else the keys.
func (a *app) footer() []string {
	if a.notice != nil {
		return a.noticeLines(a.width-2, max(1, min(3, a.height/4)))
	}
	if d := a.top(); d != nil {
		return []string{a.keysLine(d.help(), a.width-1)}
	}
	if a.list.typing && a.shown() == onList {
		return []string{a.keysLine(typingBindings(), a.width-1)}
	}
	return []string{a.keysLine(a.bindings(a.shown()), a.width-1)}
}

// keysLine names as many keys as fit. The last two are the way to help and the
// way out, which stay.
func (a *app) keysLine(bindings []key.Binding, width int) string {
	const stay = 2
	n := len(bindings)
	texts := make([]string, n)
	for i, b := range bindings {
		texts[i] = b.Help().Key + " " + b.Help().Desc
	}
	room := width + 1 // the line begins with one space and not with two
	for _, t := range texts[max(0, n-stay):] {
		room -= textCells(t) + 2
	}
	var kept []string
	for _, t := range texts[:max(0, n-stay)] {
		if room -= textCells(t) + 2; room < 0 {
			break
		}
		kept = append(kept, t)
	}
	kept = append(kept, texts[max(0, n-stay):]...)
	return a.dim.text(a.cut(" "+strings.Join(kept, "  "), width))
}
