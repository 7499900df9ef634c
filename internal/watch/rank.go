package watch

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"bucketop/bucketctl"
)

// weigh decides what each bucket's row says at now, and puts the worst first.
func (m *model) weigh(now time.Time) {
	for _, e := range m.active {
		f := e.facts(now, m.patience())
		e.settle(&f)
		m.setCode(e, e.settled.shown.Code)
		m.setWill(e, will{overridden: f.overridden(), held: f.held()})
	}
	slices.SortFunc(m.active, compareEntries)
}

// worse orders by gravity, and by name within it.
func worse(a, b Code, keyA, keyB string) int {
	if a != b {
		return cmp.Compare(a, b)
	}
	return strings.Compare(keyA, keyB)
}

func compareEntries(a, b *entry) int { return worse(a.code, b.code, a.key, b.key) }

// facts gathers what is known of the bucket at now, and moves on since when
// somebody waits for nothing.
func (e *entry) facts(now time.Time, patience time.Duration) facts {
	d := e.detail
	f := facts{
		now:      now,
		state:    &d.state,
		read:     d.read,
		rows:     d.rows,
		waiting:  -1,
		starving: d.crowd.starving,
		largestN: d.crowd.largestN,
	}
	if d.crowd.reported {
		f.waiting = d.crowd.waiting
	}
	f.granted = d.granted(now, patience)
	f.used = f.granted / f.limit().Rate
	if math.IsInf(f.used, 0) {
		f.used = math.NaN()
	}
	d.moveDry(&f)
	f.lastUse = d.lastGrant
	if f.lastUse.IsZero() {
		f.lastUse = d.lastUse
	}
	return f
}

// granted is what the bucket's own counter tells, and beside it what workers
// grant without Redis; without the counter it is what the workers report.
func (d *detail) granted(now time.Time, patience time.Duration) float64 {
	if rate := d.counter.rate(now, patience); !math.IsNaN(rate) {
		return rate + d.crowd.local
	}
	return d.crowd.rate
}

// moveDry keeps since when somebody waits and nothing is granted. Time under a
// hold or a cooldown does not count, nor does time before an operator's change.
func (d *detail) moveDry(f *facts) {
	if f.held() || f.cooling() {
		d.stopped = laterOf(d.stopped, f.now)
	}
	switch {
	case f.starving <= 0:
		d.waitSince = time.Time{}
		return
	case d.waitSince.IsZero() || d.waitSince.After(f.now):
		d.waitSince = f.now
	}
	f.dryFrom = laterOf(laterOf(d.waitSince, d.lastGrant), d.stopped)
	f.dryTo = d.crowd.heard
	if d.read && counts(&d.state) {
		f.dryTo = laterOf(f.dryTo, d.state.At)
	}
}

// settle judges the facts and renews the words of the row.
func (e *entry) settle(f *facts) {
	d := e.detail
	prompt := f.now.Before(d.prompt) || ended(d.settled.shown.Code, f)
	v, present := d.settled.settle(judge(f), f.now, prompt)
	if present {
		d.settled.shown, d.settled.known = describe(f, v), true
	}
}

// fill makes b, which is zero, the row of the bucket at now.
func (e *entry) fill(b *Bucket, now time.Time, patience time.Duration) {
	b.Key, b.Status.Code = e.key, e.code
	b.Granted, b.Used, b.Waiting = math.NaN(), math.NaN(), -1
	b.State.Key, b.State.Kind, b.State.Level = e.key, bucketctl.KindNone, math.NaN()
	if e.seen != 0 {
		b.Seen = time.UnixMilli(e.seen).UTC()
	}
	d := e.detail
	if d == nil {
		return
	}
	b.Status, b.Workers = d.settled.shown, d.rows
	if d.read || d.state.Kind == bucketctl.KindDenied {
		b.State = d.state
		b.takeReported(now)
	}
	b.Granted, b.Alone = d.granted(now, patience), d.crowd.local
	if rate := inForce(&d.state, d.rows).Rate; rate > 0 {
		b.Used = b.Granted / rate
	}
	if d.crowd.reported {
		b.Waiting, b.HeadWait = d.crowd.waiting, headWait(d.rows, d.state.Rev)
	}
	b.LargestN = d.crowd.largestN
	b.History = d.history.window(now)
}

// takeReported fills in what the workers declare where Redis knows no limit.
func (b *Bucket) takeReported(now time.Time) {
	s := &b.State
	if s.Kind != bucketctl.KindNone || !s.Declared.IsZero() {
		return
	}
	declared := reportedLimit(b.Workers)
	if declared.IsZero() {
		return
	}
	b.Reported, s.Declared = true, declared
	if s.Effective.IsZero() {
		s.Effective = declared
		if until := s.Override.Until; until.IsZero() || until.After(now) {
			s.Effective = s.Override.Over(declared)
		}
	}
}

// Window reports whether the bucket's limit is a window's.
func (b *Bucket) Window() bool {
	return IsWindow(&b.State) || b.Reported && slices.ContainsFunc(b.Workers, func(row WorkerRow) bool { return row.Window })
}

// LevelAt is the level at server time now: since it was read, it moved by the
// rate less what is granted from it, within what the bucket can hold. It does not
// rise while callers wait, since they take what comes back, unless all of them
// wait for shares.
func (b Bucket) LevelAt(now time.Time) float64 {
	s := b.State
	limit := s.Effective
	if !s.Known() || limit.IsZero() || math.IsNaN(b.Granted) {
		return s.Level
	}
	from := laterOf(s.At, s.Cooldown.Until)
	if !now.After(from) {
		return s.Level
	}
	moved := (limit.Rate - (b.Granted - b.Alone)) * now.Sub(from).Seconds()
	if moved > 0 && b.Waiting > 0 && !s.Hold.Active && !allApart(b.Workers) {
		return s.Level
	}
	level := s.Level + moved
	return min(max(level, min(s.Level, 0)), max(s.Level, limit.Capacity))
}

// allApart reports whether there are workers, and none of them asks Redis.
func allApart(rows []WorkerRow) bool {
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(row WorkerRow) bool { return !row.apart() })
}
