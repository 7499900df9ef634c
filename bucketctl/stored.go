package bucketctl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"bucketop/internal/schema"
)

// What the scripts hold to, in Go's types; a test compares the two.
const (
	maxNumber  = 9e15                    // stored numbers lie within ± this
	maxBlocked = MaxCooldown + time.Hour // a `blocked` further ahead is corrupt
	maxAhead   = time.Second             // a `ts` further ahead is re-anchored
	heavyDebt  = time.Minute             // a debt that takes longer to pay is a problem
)

// reading is one bucket as read from Redis, undecoded.
type reading struct {
	key    string
	at     time.Time
	typ    string
	ttl    time.Duration
	fields map[string]string // of the bucket, where it is a hash
	record map[string]string // of the operators' record
	broken string            // the operators' record's key where that is no hash
	log    windowLog         // of a window
	denied error             // why the server did not let us read it; nil: it did
}

// storedNumber reads a number as the scripts do.
func storedNumber(text string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > maxNumber || strings.ContainsAny(text, "xXpP_") {
		return 0, false
	}
	return v, true
}

// fieldReader reads fields of a hash and remembers which of them can't be.
type fieldReader struct {
	fields map[string]string
	wrong  []string
}

func (r *fieldReader) number(name string) (v float64, ok bool) {
	text, there := r.fields[name]
	if !there {
		return 0, false
	}
	if v, ok = storedNumber(text); !ok {
		r.wrong = append(r.wrong, name)
	}
	return v, ok
}

func (r *fieldReader) positive(name string) (v float64, ok bool) {
	if v, ok = r.number(name); ok && v <= 0 {
		r.wrong = append(r.wrong, name)
		return 0, false
	}
	return v, ok
}

// micros reads a moment of server time.
func (r *fieldReader) micros(name string) time.Time {
	v, ok := r.number(name)
	if !ok {
		return time.Time{}
	}
	return time.UnixMicro(int64(v)).UTC()
}

// state decodes the reading, and brings the level up to its time as the
// scripts do.
func (r reading) state() State {
	s := State{Key: r.key, Type: r.typ, At: r.at, TTL: r.ttl, Level: math.NaN(), Used: math.NaN(), RawLimit: r.record}
	r.decodeRecord(&s)
	s.Kind = r.kind()
	if r.broken != "" {
		s.Problems = append(s.Problems, Problem{
			Code: ProblemRecord, Text: "the operators' record, " + r.broken + ", is no hash: nobody can take until that key is deleted",
		})
	}
	if r.typ == "hash" && r.denied == nil {
		s.Raw = r.fields
	}
	switch s.Kind {
	case KindBucket, KindForeign:
		r.decodeBucket(&s)
	case KindDenied:
		s.Problems = append(s.Problems, Problem{Code: ProblemDenied, Text: cause(r.denied)})
	case KindWrongType:
		s.Problems = append(s.Problems, Problem{Code: ProblemWrongType, Text: "the key holds a " + r.typ + ", not a bucket"})
	case KindWindow:
		r.decodeWindow(&s)
	case KindForeignWindow:
		s.Used = r.log.sum()
	case KindNone:
		s.Effective = s.Override.Over(s.Declared)
	}
	return s
}

func (r reading) kind() Kind {
	has := func(name string) bool { _, ok := r.fields[name]; return ok }
	named := r.fields[schema.FieldKind]
	switch {
	case r.denied != nil:
		return KindDenied
	case r.typ == "none":
		return KindNone
	case r.typ == "zset" && len(r.record) == 0:
		return KindForeignWindow
	case r.typ != "hash":
		return KindWrongType
	case named == schema.KindWindow:
		return KindWindow
	case has(schema.FieldKind) && named != schema.KindBucket: // of another version
		return KindWrongType
	case has(schema.FieldGen) || has(schema.FieldCapacity):
		return KindBucket
	case has(schema.FieldTokens) || has(schema.FieldTs):
		return KindForeign
	}
	return KindWrongType
}

// decodeRecord decodes what operators say of the bucket.
func (r reading) decodeRecord(s *State) {
	f := fieldReader{fields: r.record}
	if rev, ok := f.number(schema.FieldRev); ok {
		s.Rev = Rev(rev)
	}
	s.By, s.Reason, s.ChangedAt = r.record[schema.FieldBy], r.record[schema.FieldReason], f.micros(schema.FieldAt)
	s.Override = decodeOverride(r.record, r.at)
	s.Hold = decodeHold(r.record, r.at)
}

// decodeOverride returns the override in force at t.
func decodeOverride(record map[string]string, t time.Time) Override {
	f := fieldReader{fields: record}
	var o Override
	o.Capacity, _ = f.positive(schema.FieldCapacity)
	o.Rate, _ = f.positive(schema.FieldRate)
	if per, ok := f.positive(schema.FieldPer); ok {
		o.Per = time.Duration(per) * time.Microsecond
	}
	if _, ends := record[schema.FieldUntil]; ends {
		o.Until = f.micros(schema.FieldUntil)
		if !o.Until.After(t) { // also one that can't be read
			return Override{}
		}
	}
	if o.IsZero() {
		return Override{}
	}
	return o
}

// decodeHold returns the hold in force at t. One whose end can't be read is in
// force: stopping is the safe side.
func decodeHold(record map[string]string, t time.Time) Hold {
	text, there := record[schema.FieldHold]
	if !there {
		return Hold{}
	}
	f := fieldReader{fields: record}
	h := Hold{
		Active: true,
		By:     record[schema.FieldHoldBy],
		At:     f.micros(schema.FieldHoldAt),
		Reason: record[schema.FieldHoldReason],
	}
	if _, ok := storedNumber(text); ok {
		h.Until = f.micros(schema.FieldHold)
		if !h.Until.After(t) {
			return Hold{}
		}
	}
	return h
}

// decodeBucket decodes a bucket's own fields.
func (r reading) decodeBucket(s *State) {
	f := fieldReader{fields: r.fields}
	tokens, hasTokens := f.number(schema.FieldTokens)
	ts, _ := f.number(schema.FieldTs)
	r.decodeDeclared(s, &f)
	s.Effective = s.Override.Over(s.Declared)
	f.wrong = append(f.wrong, r.missing()...)
	s.Problems = append(s.Problems, r.corrupt(f.wrong)...)
	switch {
	case len(f.wrong) > 0:
		s.Level = 0 // as the next take will begin again
	case !hasTokens:
		s.Level = math.Max(s.Effective.Capacity, 0) // a new bucket begins full
		if s.Effective.IsZero() {
			s.Level = math.NaN()
		}
	default:
		stored := storedTime(ts)
		s.Level = r.settle(s, tokens, stored)
		r.findStuck(s, stored)
	}
}

// decodeDeclared decodes what buckets and windows have alike.
func (r reading) decodeDeclared(s *State, f *fieldReader) {
	s.Granted, _ = f.number(schema.FieldGranted)
	capacity, hasCapacity := f.positive(schema.FieldCapacity)
	rate, hasRate := f.positive(schema.FieldRate)
	gen, hasGen := f.number(schema.FieldGen)
	per, hasPer := f.number(schema.FieldPer)
	_, namesPer := r.fields[schema.FieldPer]
	if hasCapacity && hasRate && hasGen && hasPer == namesPer {
		s.Declared = Limit{Capacity: capacity, Rate: rate, Per: time.Duration(per) * time.Microsecond}
		s.Gen = int64(gen)
	}
	s.Cooldown = r.decodeCooldown(f)
}

// missing names the one of level and its time that is stored without the other.
func (r reading) missing() []string {
	_, tokens := r.fields[schema.FieldTokens]
	_, ts := r.fields[schema.FieldTs]
	switch {
	case tokens && !ts:
		return []string{schema.FieldTs}
	case ts && !tokens:
		return []string{schema.FieldTokens}
	}
	return nil
}

// storedTime is a `ts`, clamped to what a time in microseconds can be: foreign
// writers may count in other units than seconds.
func storedTime(seconds float64) time.Time {
	us := math.Max(-maxNumber, math.Min(math.Floor(seconds*1e6+0.5), maxNumber))
	return time.UnixMicro(int64(us)).UTC()
}

// decodeCooldown returns the cooldown in force; one beyond the longest is
// corrupt.
func (r reading) decodeCooldown(f *fieldReader) Cooldown {
	until := f.micros(schema.FieldBlocked)
	switch {
	case until.After(r.at.Add(maxBlocked)):
		f.wrong = append(f.wrong, schema.FieldBlocked)
		return Cooldown{}
	case !until.After(r.at):
		return Cooldown{}
	}
	return Cooldown{Until: until, By: r.fields[schema.FieldBlockedBy]}
}

func (r reading) corrupt(wrong []string) []Problem {
	var problems []Problem
	again := "begins again from empty"
	if r.kind() == KindWindow {
		again = "is counted again from the log"
	}
	for _, name := range wrong {
		text := "is missing"
		if stored, there := r.fields[name]; there {
			text = "is " + strconv.Quote(shorten(stored))
		}
		if until, ok := storedNumber(r.fields[name]); ok && name == schema.FieldBlocked {
			text = "lies " + roughly(time.UnixMicro(int64(until)).Sub(r.at)) + " ahead, beyond any cooldown"
		}
		problems = append(problems, Problem{
			Code: ProblemCorrupt, Field: name, Text: name + " " + text + ", " + again,
		})
	}
	return problems
}

// settle is the scripts' settle: the level at r.at from what was stored at ts.
func (r reading) settle(s *State, level float64, ts time.Time) float64 {
	if s.Declared.IsZero() {
		return level
	}
	if ts.After(r.at) { // no credit until then, or until it is re-anchored
		return math.Min(level, s.Effective.Capacity)
	}
	blocked := time.UnixMicro(0)
	if v, ok := storedNumber(r.fields[schema.FieldBlocked]); ok {
		blocked = time.UnixMicro(int64(v))
	}
	from := later(ts, blocked)
	if then := decodeOverride(r.record, ts); !then.IsZero() && s.Override.IsZero() { // it ended on the way
		limit := then.Over(s.Declared)
		level = adapt(refill(level, from, then.Until, limit), limit.Rate, s.Declared)
		from = later(from, then.Until)
	}
	return refill(level, from, r.at, s.Effective)
}

// adapt is the scripts' adapt: a debt keeps its time where a limit follows one
// of another rate, but does not grow beyond one capacity.
func adapt(level, oldRate float64, limit Limit) float64 {
	if level >= 0 {
		return level
	}
	return math.Max(level*limit.Rate/oldRate, math.Min(level, -limit.Capacity))
}

func refill(level float64, from, to time.Time, limit Limit) float64 {
	if to.After(from) {
		level += to.Sub(from).Seconds() * limit.Rate
	}
	return math.Min(level, limit.Capacity)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// findStuck adds what keeps a bucket without corrupt values from granting.
func (r reading) findStuck(s *State, ts time.Time) {
	if ahead := ts.Sub(r.at); ahead > maxAhead {
		text := fmt.Sprintf("ts is %s ahead, no refill until %s", roughly(ahead), clock(ts, r.at))
		if s.Kind == KindBucket {
			text = fmt.Sprintf("ts is %s ahead, the next take sets it to now", roughly(ahead))
		}
		s.Problems = append(s.Problems, Problem{Code: ProblemAhead, Field: schema.FieldTs, Text: text})
	}
	if s.Level >= 0 {
		return
	}
	owed := "its limit is unknown"
	if s.Effective.Rate > 0 {
		pay := seconds(-s.Level / s.Effective.Rate)
		if pay <= heavyDebt {
			return
		}
		owed = "nothing is granted for " + roughly(pay)
	}
	s.Problems = append(s.Problems, Problem{
		Code: ProblemDebt, Field: schema.FieldTokens,
		Text: fmt.Sprintf("the level is %s, %s", formatNumber(s.Level), owed),
	})
}

// roughly is a duration in its largest unit: 42s, 9m, 2h, 3d, 4y.
func roughly(d time.Duration) string {
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	for _, u := range []struct {
		d    time.Duration
		name string
	}{{year, "y"}, {2 * day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= u.d {
			unit := u.d
			if u.name == "d" {
				unit = day
			}
			return fmt.Sprintf("%d%s", d/unit, u.name)
		}
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// clock is t's time of day in UTC, with its date unless that is now's.
func clock(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}
