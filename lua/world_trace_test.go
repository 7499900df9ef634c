package lua_test

import (
	"fmt"
	"strings"
)

// trace is the last that happened in a world, to be read where a check fails.
type trace struct {
	lines [80]func() string
	next  int
}

func (t *trace) note(line func() string) {
	t.lines[t.next%len(t.lines)] = line
	t.next++
}

// notef notes what happens now. It is only printed where it is needed.
func (w *world) notef(format string, args ...any) {
	now := w.now
	w.trace.note(func() string { return fmt.Sprintf("%11.6f  ", float64(now)/1e6) + fmt.Sprintf(format, args...) })
}

func (t *trace) String() string {
	var b strings.Builder
	for i := range t.lines {
		if line := t.lines[(t.next+i)%len(t.lines)]; line != nil {
			b.WriteString("\n" + line())
		}
	}
	return b.String()
}

// noteTake notes a call as the server answered it.
func (p *process) noteTake(ticket int64, asks []ask, t taken) {
	p.notef("process %d takes %v with ticket %s: %v, ask %d, ticket %s, stop %d, level %.3f, limit %.6g at %.6g/s",
		p.id, lazy(func() string { return short(asks) }), relative(ticket, t.now), lazy(func() string { return short(t.outcomes) }),
		t.ask, relative(t.ticket, t.now), t.stop, t.level, t.capacity, t.rate)
}

// lazy is text that is made when it is printed.
type lazy func() string

func (l lazy) String() string { return l() }

func relative(ticket, now int64) lazy {
	return func() string {
		if ticket == 0 {
			return "-"
		}
		return fmt.Sprintf("%+.6f s", float64(ticket-now)/1e6)
	}
}

// short prints the first few of a list.
func short[T any](list []T) string {
	const most = 4
	if len(list) <= most {
		return fmt.Sprint(list)
	}
	return fmt.Sprintf("%v and %d more", list[:most], len(list)-most)
}
