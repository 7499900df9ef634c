package watch

import (
	"time"

	"bucketop/bucketctl"
)

// Rules of the state words.
const (
	stuckAfter = 5 * time.Second // no grant for so long, at least, while someone waits
	stuckSteps = 3               // and for so many token intervals
	fullShare  = 0.9             // of the rate: granting that much is healthy whoever waits
	busyAfter  = 10 * time.Second
	busyMost   = 5 * time.Minute // a bucket without a grant for so long is idle however slow it is
)

// Word is what the STATE column says first: capitals ask for attention.
func (c Code) Word() string {
	switch c {
	case Stuck:
		return "STUCK"
	case Corrupt:
		return "CORRUPT"
	case Silent:
		return "SILENT"
	case Fallback:
		return "FALLBACK"
	case Cooldown:
		return "COOLDOWN"
	case Held:
		return "HELD"
	case Drift:
		return "DRIFT"
	case FullUse:
		return "full use"
	case Overridden:
		return "override"
	case OK:
		return "ok"
	case Idle:
		return "idle"
	case Foreign:
		return "foreign"
	case Unread:
		return "unread"
	}
	return "?"
}

// facts are all that is known of one bucket at one moment.
type facts struct {
	now   time.Time
	state *bucketctl.State
	read  bool        // state was read
	rows  []WorkerRow // silent ones too

	waiting  int     // as in Bucket
	starving int     // callers waiting in workers that ask Redis
	granted  float64 // as in Bucket
	used     float64
	largestN float64

	dryFrom time.Time // since when someone waits and nothing is granted, holds and cooldowns aside; zero: nobody waits
	dryTo   time.Time // up to when that is known
	lastUse time.Time // when a grant was seen last, or a guess from what is stored
}

// verdict is the state that the facts ask for.
type verdict struct {
	code  Code
	since time.Time // zero when the facts don't tell
}

// judge names the gravest state that holds.
func judge(f *facts) verdict {
	silent, local := f.silentSince(), f.localSince()
	switch {
	case f.isStuck():
		return verdict{Stuck, f.dryFrom}
	case f.isCorrupt():
		return verdict{code: Corrupt}
	case !silent.IsZero():
		return verdict{Silent, silent}
	case !local.IsZero():
		return verdict{Fallback, local}
	case f.cooling():
		return verdict{code: Cooldown}
	case f.held():
		return verdict{Held, f.state.Hold.At}
	case declaredLimits(f.rows) > 1:
		return verdict{code: Drift}
	case f.waiting > 0 && f.used >= fullShare:
		return verdict{code: FullUse}
	case f.overridden():
		return verdict{Overridden, f.state.ChangedAt}
	}
	return f.quiet()
}

// quiet tells apart the states that ask for nothing.
func (f *facts) quiet() verdict {
	foreign := f.state.Kind == bucketctl.KindForeign || f.state.Kind == bucketctl.KindForeignWindow
	switch {
	case f.read && foreign:
		return verdict{code: Foreign}
	case f.granted > 0, f.waiting > 0, f.now.Sub(f.lastUse) < f.busy():
		return verdict{code: OK}
	case f.read || len(f.rows) > 0:
		return verdict{Idle, f.lastUse}
	}
	return verdict{code: Unread}
}

// isStuck is the rule of the list's first word. A bucket that nobody reports
// can't say who waits; there it counts that what is stored lets nobody through.
func (f *facts) isStuck() bool {
	if f.held() || f.cooling() {
		return false
	}
	if len(f.rows) == 0 {
		_, found := f.blocking()
		return found
	}
	return !f.dryFrom.IsZero() && f.dryTo.Sub(f.dryFrom) >= f.stuckAfter()
}

// stuckAfter is how long nothing may be granted while someone waits. A request
// for many tokens takes as long as they need to come back, which is no fault;
// where the stored values explain the standstill, nobody waits for that.
func (f *facts) stuckAfter() time.Duration {
	limit := f.limit()
	if limit.Rate <= 0 {
		return stuckAfter
	}
	patience := max(stuckAfter, tokenTime(stuckSteps, limit.Rate))
	if f.state.Kind == bucketctl.KindWindow { // used at once, it grants nothing for a whole span
		patience = max(patience, tokenTime(limit.Capacity, limit.Rate)+time.Second)
	}
	if _, found := f.blocking(); found {
		return patience
	}
	return max(patience, tokenTime(min(f.largestN, limit.Capacity), limit.Rate)+time.Second)
}

// busy is how long after its last use the bucket still counts as used.
func (f *facts) busy() time.Duration {
	rate := f.limit().Rate
	if rate <= 0 {
		return busyAfter
	}
	return min(max(busyAfter, tokenTime(stuckSteps, rate)), busyMost)
}

func (f *facts) limit() bucketctl.Limit { return inForce(f.state, f.rows) }

// inForce is the limit in force, from the state or from whoever saw it last.
func inForce(state *bucketctl.State, rows []WorkerRow) bucketctl.Limit {
	if !state.Effective.IsZero() {
		return state.Effective
	}
	for _, row := range rows {
		if !row.Limit.IsZero() {
			return row.Limit
		}
	}
	return reportedLimit(rows)
}

// reportedLimit is what most workers declare, of those that are heard of if there
// are any; zero where nobody tells.
func reportedLimit(rows []WorkerRow) (limit bucketctl.Limit) {
	most := 0
	for _, d := range byDeclared(rows) {
		if len(d.workers) > most {
			limit, most = d.limit, len(d.workers)
		}
	}
	for i := range rows {
		if limit.IsZero() {
			limit = rows[i].Declared
		}
	}
	return limit
}

// tokenTime is how long n tokens take to come back.
func tokenTime(n, rate float64) time.Duration {
	const most = 1000 * 24 * time.Hour
	s := n / rate
	if s >= most.Seconds() {
		return most
	}
	return time.Duration(s * float64(time.Second))
}

// blocking is the problem that lets nobody through, if there is one.
func (f *facts) blocking() (bucketctl.Problem, bool) {
	return f.problem(bucketctl.ProblemAhead, bucketctl.ProblemDebt)
}

func (f *facts) isCorrupt() bool {
	_, found := f.problem(bucketctl.ProblemCorrupt, bucketctl.ProblemRecord, bucketctl.ProblemWrongType)
	return found || f.read && f.state.Kind == bucketctl.KindWrongType
}

func (f *facts) problem(codes ...bucketctl.ProblemCode) (bucketctl.Problem, bool) {
	for _, p := range f.state.Problems {
		for _, code := range codes {
			if p.Code == code {
				return p, true
			}
		}
	}
	return bucketctl.Problem{}, false
}

func (f *facts) cooling() bool { return f.state.Cooldown.Until.After(f.now) }

func (f *facts) held() bool {
	hold := f.state.Hold
	return hold.Active && (hold.Until.IsZero() || hold.Until.After(f.now))
}

func (f *facts) overridden() bool {
	o := f.state.Override
	return !o.IsZero() && (o.Until.IsZero() || o.Until.After(f.now))
}

// silentSince is when the worker silent for longest was heard of last; zero when
// none is silent.
func (f *facts) silentSince() (oldest time.Time) {
	for _, row := range f.rows {
		if row.Silent && (oldest.IsZero() || row.Seen.Before(oldest)) {
			oldest = row.Seen
		}
	}
	return oldest
}

// localSince is since when a worker that is heard of decides on its own; zero
// when none does.
func (f *facts) localSince() (oldest time.Time) {
	for _, row := range f.rows {
		if row.Silent || !row.Mode.Local() {
			continue
		}
		since := row.Since
		if since.IsZero() {
			since = row.Seen
		}
		if oldest.IsZero() || since.Before(oldest) {
			oldest = since
		}
	}
	return oldest
}

// declaredLimits counts the different limits that live workers declare.
func declaredLimits(rows []WorkerRow) int { return len(byDeclared(rows)) }

// declaration is one declared limit and which live workers declare it.
type declaration struct {
	limit   bucketctl.Limit
	window  bool
	workers []string
}

func byDeclared(rows []WorkerRow) []declaration {
	var all []declaration
next:
	for i := range rows {
		row := &rows[i]
		if row.Silent || row.Declared.IsZero() {
			continue
		}
		for i := range all {
			if sameLimit(all[i].limit, row.Declared) && all[i].window == row.Window {
				all[i].workers = append(all[i].workers, row.Name)
				continue next
			}
		}
		all = append(all, declaration{row.Declared, row.Window, []string{row.Name}})
	}
	return all
}

// sameLimit reports whether two limits let the same through; the unit they were
// declared in does not matter, nor does the last digit of a division by it.
func sameLimit(a, b bucketctl.Limit) bool {
	return near(a.Capacity, b.Capacity) && near(a.Rate, b.Rate)
}

func near(a, b float64) bool {
	const part = 1e-9
	return a == b || a-b < part*b && b-a < part*a
}
