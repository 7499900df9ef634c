package ui

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"
)

// terminalInput is standard input with two things bubbletea does not do: it
// tells when the terminal is gone, which bubbletea takes for silence, and it
// takes the terminal's answer about its background out of what is typed,
// however late that comes.
type terminalInput struct {
	*os.File
	tell  func(tea.Msg)
	asked atomic.Bool
	held  []byte // start of an answer whose end is not read yet
}

const (
	backgroundQuestion = "\x1b]11;?\x07"
	backgroundAnswer   = "\x1b]11;"
	answerMost         = 64 // bytes; no answer is longer
)

// ask sends the question; the answer comes with the keys. A write that fails
// is no matter: there is a terminal or there will be a hangup.
func (in *terminalInput) ask(out io.Writer) {
	in.asked.Store(true)
	_, _ = io.WriteString(out, backgroundQuestion)
}

// Read reads keys.
func (in *terminalInput) Read(p []byte) (int, error) {
	have := copy(p, in.held)
	n, err := in.File.Read(p[have:])
	n += have
	in.held = in.held[:0]
	if err == io.EOF {
		in.tell(stopMsg{ErrHangup})
	}
	if err != nil || !in.asked.Load() {
		return n, err
	}
	return in.takeAnswer(p[:n]), nil
}

// takeAnswer removes the answer from b and returns how much is left of b. An
// answer that is not complete yet is held back.
func (in *terminalInput) takeAnswer(b []byte) int {
	start := bytes.Index(b, []byte(backgroundAnswer))
	if start < 0 {
		return len(b)
	}
	rest := b[start:]
	end, next := answerEnd(rest)
	switch {
	case end >= 0:
		in.asked.Store(false)
		dark, ok := darkBackground(string(rest[len(backgroundAnswer):end]))
		if ok {
			in.tell(backgroundMsg{dark})
		}
		return start + copy(rest, rest[next:])
	case len(rest) < answerMost:
		in.held = append(in.held, rest...)
		return start
	}
	return len(b)
}

// answerEnd finds the end of the answer's text, and where what follows begins.
func answerEnd(b []byte) (end, next int) {
	if i := bytes.IndexByte(b, '\a'); i >= 0 && i < answerMost {
		return i, i + 1
	}
	if i := bytes.Index(b, []byte("\x1b\\")); i >= 0 && i < answerMost {
		return i, i + 2
	}
	return -1, 0
}

// darkBackground reads "rgb:ffff/ffff/ffff", with one to four digits each.
func darkBackground(answer string) (dark, ok bool) {
	text, found := strings.CutPrefix(answer, "rgb:")
	parts := strings.Split(text, "/")
	if !found || len(parts) != 3 {
		return false, false
	}
	weights := [3]float64{0.2126, 0.7152, 0.0722} // how bright each colour looks, ITU-R BT.709
	light := 0.0
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 16, 16)
		if err != nil || part == "" {
			return false, false
		}
		light += weights[i] * float64(n) / float64(uint64(1)<<(4*len(part))-1)
	}
	return light < 0.5, true
}

// asksBackground reports whether the question is worth asking: not where
// nothing is coloured, nor where it is known to be printed or swallowed.
func asksBackground(l look, term string) bool {
	return !l.noColor && term != "" && term != "dumb" && term != "linux" && !strings.HasPrefix(term, "screen")
}

// lightByEnvironment reads COLORFGBG, which some terminals set to "0;15".
func lightByEnvironment(colors string) bool {
	background := colors[strings.LastIndexByte(colors, ';')+1:]
	return background == "7" || background == "15"
}
