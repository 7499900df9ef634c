package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"bucketop/bucketctl"
)

// describe puts a state into words: what stands after it, why, and what helps.
func describe(f *facts, v verdict) Status {
	s := Status{Code: v.code, Since: v.since}
	switch v.code {
	case Stuck:
		s.Text = age(v.since, f.now)
		if p, found := f.blocking(); found {
			s.Cause = p.Text
		}
		s.Remedy = "R resets"
	case Corrupt:
		describeCorrupt(f, &s)
	case Silent:
		silent := f.count(func(r WorkerRow) bool { return r.Silent })
		s.Text = of(silent, len(f.rows))
		s.Cause = f.silentCause(v.since)
	case Fallback:
		s.Text = of(f.count(isLocal), len(f.rows))
		s.Cause = f.localCause()
	case Cooldown:
		describeCooldown(f, &s)
	case Held:
		s.Text = strings.TrimSpace(age(v.since, f.now) + " " + person(f.state.Hold.By))
		s.Cause, s.Remedy = f.state.Hold.Reason, "H resumes"
	case Drift:
		all := byDeclared(f.rows)
		s.Text, s.Cause = plural(len(all), "limit"), driftCause(f, all)
	case Overridden:
		if end := f.state.Override.Until; !end.IsZero() {
			s.Text = left(end, f.now)
		}
		s.Cause = overrideCause(f.state)
	case OK:
		s.Text = windowWord(f.state)
	case Idle:
		s.Text = age(v.since, f.now)
	case Foreign:
		s.Text = windowWord(f.state)
	case Unread:
		if f.state.Kind == bucketctl.KindDenied {
			s.Text = "denied"
		}
	case FullUse:
	}
	return s
}

func windowWord(state *bucketctl.State) string {
	if IsWindow(state) {
		return "window"
	}
	return ""
}

func describeCorrupt(f *facts, s *Status) {
	s.Text = age(s.Since, f.now)
	s.Remedy = "R resets"
	if p, found := f.problem(bucketctl.ProblemRecord); found {
		s.Cause, s.Remedy = p.Text, ""
		return
	}
	if p, found := f.problem(bucketctl.ProblemWrongType); found {
		s.Cause = p.Text
		if f.state.Kind == bucketctl.KindWrongType {
			s.Remedy = "R deletes"
		}
		return
	}
	if p, found := f.problem(bucketctl.ProblemCorrupt); found {
		s.Cause = p.Text
		return
	}
	s.Cause, s.Remedy = fmt.Sprintf("the key is a %s, not a bucket", f.state.Type), "R deletes"
}

func describeCooldown(f *facts, s *Status) {
	c := f.state.Cooldown
	s.Text = left(c.Until, f.now)
	s.Cause = "until " + clockTime(c.Until, f.now)
	if c.By != "" {
		s.Cause = person(c.By) + " was told to pause until " + clockTime(c.Until, f.now)
	}
}

func (f *facts) count(counts func(WorkerRow) bool) int {
	n := 0
	for _, row := range f.rows {
		if counts(row) {
			n++
		}
	}
	return n
}

func isLocal(r WorkerRow) bool { return !r.Silent && r.Mode.Local() }

// silentCause names the worker that has been silent for longest.
func (f *facts) silentCause(since time.Time) string {
	for i := range f.rows {
		if row := &f.rows[i]; row.Silent && row.Seen.Equal(since) {
			return row.Name + " not heard of for " + age(since, f.now) + ": " + row.Plight().Why
		}
	}
	return ""
}

// localCause is why the first worker decides on its own.
func (f *facts) localCause() string {
	for i := range f.rows {
		if row := &f.rows[i]; isLocal(*row) {
			return row.Name + ": " + row.Plight().Why
		}
	}
	return ""
}

// driftCause is "300/min burst 15 in force (geo-1 and 2 more), 600/min burst 30 (geo-7)".
// What is in force stands first: lines are cut at the end.
func driftCause(f *facts, all []declaration) string {
	const most = 3
	inForce := func(d declaration) bool { return sameLimit(d.limit, f.state.Effective) }
	var parts []string
	slices.SortStableFunc(all, func(x, y declaration) int {
		switch {
		case inForce(x) && !inForce(y):
			return -1
		case inForce(y) && !inForce(x):
			return 1
		}
		return 0
	})
	for i, d := range all {
		if i == most {
			parts = append(parts, "…")
			break
		}
		text := LimitText(d.limit, d.window)
		if inForce(d) {
			text += " in force"
		}
		parts = append(parts, text+" ("+someNames(d.workers)+")")
	}
	return strings.Join(parts, ", ")
}

// someNames are two names, or one and how many others there are.
func someNames(names []string) string {
	const most = 2
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

func overrideCause(s *bucketctl.State) string {
	switch {
	case s.By == "":
		return s.Reason
	case s.Reason == "":
		return "by " + s.By
	}
	return "by " + s.By + ": " + s.Reason
}
