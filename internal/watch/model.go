package watch

import (
	"slices"
	"strings"
	"time"

	"bucketop/bucketctl"
)

// Bounds of what is kept. A bucket that nobody looks at takes under 200 bytes, one
// with details about 3 KB with what snapshots repeat of it; so a million buckets
// take some 200 MB, ten thousand some 30 MB. A test holds this.
const (
	MaxRows    = 20_000 // buckets in a snapshot, and with details
	maxKnown   = 1_000_000
	maxEvents  = 1000
	shownFor   = time.Minute // details of what was on screen stay so long
	promptFor  = 6 * time.Second
	alarmLevel = Drift // up to here, a state asks for attention
)

// entry is one known bucket. Most of a large registry is never looked at: those
// have no detail.
type entry struct {
	key   string
	pos   int    // in model.all
	sweep uint32 // number of the sweep that met it last; 0: the registry does not know it
	scan  uint32 // number of the scan that met it last; 0: none did
	code  Code
	will  will
	seen  int64 // server time a worker reported it last, milliseconds; 0: none did
	*detail
}

// will is what an operator wants of the bucket. It outlives the details.
type will struct{ overridden, held bool }

// detail is what is known of a bucket beyond its name.
type detail struct {
	state   bucketctl.State
	read    bool
	shownAt time.Time // when it was on screen last
	named   time.Time // when an event named it last
	retryAt time.Time // Redis refused to read it: not before then again

	counter counter // of State.Granted
	history *history

	from  []member    // workers that report it
	rows  []WorkerRow // their rows, by name; replaced, never changed
	crowd crowd
	stale bool // rows are to be gathered anew

	lastGrant time.Time // when a grant was seen last
	lastUse   time.Time // when somebody asked last, by what is stored
	waitSince time.Time // since when somebody waits; zero: nobody
	stopped   time.Time // when a hold or a cooldown was in force last, or an operator changed something
	prompt    time.Time // until then a better state shows at once

	settled settled
}

// model is everything known. It does no I/O, and one goroutine uses it.
type model struct {
	refresh time.Duration
	most    int // buckets known

	entries map[string]*entry
	all     []*entry // every entry; the order is of no meaning
	active  []*entry // those with detail, worst first since the last ranking
	counts  [Unread + 1]int
	forced  Forced
	prefer  func(key string) bool // listed first where there is not room for all; nil: none

	workers map[string]*reporter
	crew    []*reporter // the same, by name
	gone    []Worker    // by their ends

	events    []bucketctl.Event // oldest first; replaced, never changed
	reportID  string            // where to go on
	eventID   string
	following bool      // what comes from the events stream is new
	refusedAt time.Time // when Redis last refused to read a bucket
	reportsAt time.Time // server time of the newest reading of reports
	since     time.Time // how far back the reports seen reach

	clock   clock
	server  serverMemo
	sweep   sweep
	scan    sweep
	due     map[string]bool // to be read in this refresh, since something named them
	rotate  int             // where the round of the watched goes on
	round   int             // where the round over all goes on
	refused map[string]string
}

func newModel(refresh time.Duration) *model {
	return &model{
		refresh: refresh,
		most:    maxKnown,
		entries: map[string]*entry{},
		workers: map[string]*reporter{},
		due:     map[string]bool{},
		refused: map[string]string{},
	}
}

// patience is how old a reading may be and still say how things are now.
func (m *model) patience() time.Duration { return max(15*time.Second, 5*m.refresh/2) }

// gap is how far apart readings may lie and still make one line.
func (m *model) gap() time.Duration { return max(3*time.Second, 5*m.refresh/2) }

// meet returns the entry of key, which is made where it is unknown; nil where
// there are too many already.
func (m *model) meet(key string) *entry {
	if e := m.entries[key]; e != nil {
		return e
	}
	if len(m.all) >= m.most {
		return nil
	}
	e := &entry{key: strings.Clone(key), pos: len(m.all), code: Unread}
	m.entries[e.key] = e
	m.all = append(m.all, e)
	m.counts[Unread]++
	return e
}

// detailed is meet for a bucket of which more is to be known.
func (m *model) detailed(key string) *entry {
	e := m.meet(key)
	if e != nil && e.detail == nil {
		e.detail = &detail{crowd: together(nil)}
		m.active = append(m.active, e)
	}
	return e
}

// forget drops the entry.
func (m *model) forget(e *entry) {
	last := m.all[len(m.all)-1]
	m.all[e.pos], last.pos = last, e.pos
	m.all = m.all[:len(m.all)-1]
	m.counts[e.code]--
	m.setWill(e, will{})
	delete(m.entries, e.key)
	if e.detail != nil {
		m.active = slices.DeleteFunc(m.active, func(a *entry) bool { return a == e })
		e.detail = nil
	}
}

// setCode records what the bucket is counted as.
func (m *model) setCode(e *entry, code Code) {
	m.counts[e.code]--
	m.counts[code]++
	e.code = code
}

// setWill records what an operator wants of the bucket.
func (m *model) setWill(e *entry, now will) {
	count := func(n *int, before, now bool) {
		switch {
		case now && !before:
			*n++
		case before && !now:
			*n--
		}
	}
	count(&m.forced.Overrides, e.will.overridden, now.overridden)
	count(&m.forced.Holds, e.will.held, now.held)
	e.will = now
}

// saw records when a worker knew the bucket.
func (e *entry) saw(at time.Time) {
	if !at.IsZero() {
		e.seen = max(e.seen, at.UnixMilli())
	}
}

// listed reports whether the bucket belongs into the list: something besides a
// mere mention knows it.
func (e *entry) listed() bool {
	return e.sweep != 0 || e.scan != 0 || e.detail != nil && e.exists()
}

func (d *detail) exists() bool {
	s := &d.state
	return len(d.from) > 0 || d.read && (s.Kind != bucketctl.KindNone || !s.Override.IsZero() || s.Hold.Active)
}

// quiet reports whether the details can be read again when somebody looks.
func (e *entry) quiet(now time.Time) bool {
	return e.code > alarmLevel && len(e.from) == 0 && now.Sub(e.shownAt) > shownFor
}

// forgive drops the notice of buckets that could not be read once they can, or
// are no longer asked for.
func (m *model) forgive(now time.Time) {
	if now.Sub(m.refusedAt) > 2*refusedRest {
		delete(m.refused, someBuckets)
	}
}

// trim keeps details within bounds, at the cost of what is quiet, and drops what
// turned out not to exist.
func (m *model) trim(now time.Time) {
	excess := len(m.active) - MaxRows
	var gone []*entry
	m.active = slices.DeleteFunc(m.active, func(e *entry) bool {
		if !e.listed() && now.Sub(e.shownAt) > shownFor && now.Sub(e.named) > shownFor {
			gone = append(gone, e)
			return true
		}
		if excess <= 0 || !e.quiet(now) {
			return false
		}
		excess--
		e.detail = nil
		return true
	})
	for _, e := range gone {
		e.detail = nil
		m.forget(e)
	}
}
