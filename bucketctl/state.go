package bucketctl

import (
	"math"
	"time"
)

// Rev is the revision of a bucket's operators' record. It never repeats, also
// not after the record is gone: each is max(old+1, server microseconds). 0
// means that there is no record.
type Rev int64

// AnyRev, as the revision that a change was decided on, means that the change
// is wanted whatever the record says by now.
const AnyRev Rev = -1

// Kind is what a key holds.
type Kind string

// Kinds of keys.
const (
	KindNone          Kind = "none"           // no state: never taken from, expired or deleted
	KindBucket        Kind = "bucket"         // a bucket that bucketctl's workers write
	KindWindow        Kind = "window"         // a sliding window that bucketctl's workers write
	KindForeign       Kind = "foreign"        // tokens and ts of another program; its limit is unknown
	KindForeignWindow Kind = "foreign-window" // a sorted set of another program
	KindWrongType     Kind = "wrong-type"     // anything else
	KindDenied        Kind = "denied"         // not known: Redis' ACL keeps it from this user, see State.Err
)

// State is one bucket as Redis has it at one moment of server time.
type State struct {
	Key  string
	Kind Kind
	Type string        // Redis' type of the key: "hash", "none", "string" …
	At   time.Time     // server time of the reading; every time here is server time
	TTL  time.Duration // until the state expires; 0: none, or no state

	Level   float64 // tokens in the bucket, or left in the window's span, at At; NaN when unknown; below 0 is debt
	Used    float64 // of a window: tokens that started in the span until At; NaN when unknown or not a window
	Granted float64 // tokens charged since the key began; going down means a restart

	Declared  Limit // what the workers were configured with; zero when unknown
	Gen       int64 // generation of Declared
	Override  Override
	Effective Limit // the limit in force at At; zero when unknown. A window's span is Per
	Hold      Hold
	Cooldown  Cooldown

	Rev       Rev       // revision of Override and Hold together
	By        string    // who changed the override last
	ChangedAt time.Time // when
	Reason    string    // why

	Problems []Problem // what is wrong with the stored values, gravest first

	Raw      map[string]string // fields of the state as stored; nil unless a hash
	RawLimit map[string]string // fields of the operators' record as stored

	log windowLog // of a window: what has not left the span
}

// Override is what an operator set instead of the declared limit.
type Override struct {
	Capacity float64       // tokens; 0: as declared
	Rate     float64       // tokens per second; 0: as declared
	Per      time.Duration // unit that Rate was given in
	Until    time.Time     // its end; zero: none
}

// IsZero reports whether there is no override.
func (o Override) IsZero() bool { return o.Capacity == 0 && o.Rate == 0 }

// Over returns the limit in force where o lies over declared. It is zero where
// a part of it is unknown.
func (o Override) Over(declared Limit) Limit {
	limit := declared
	if o.Capacity != 0 {
		limit.Capacity = o.Capacity
	}
	if o.Rate != 0 {
		limit.Rate, limit.Per = o.Rate, o.Per
	}
	if limit.Capacity == 0 || limit.Rate == 0 {
		return Limit{}
	}
	return limit
}

// Hold is an operator's stop.
type Hold struct {
	Active bool
	Until  time.Time // its end; zero: none
	By     string
	At     time.Time // since when
	Reason string
}

// Cooldown is a stop that a worker started after the provider asked for one.
type Cooldown struct {
	Until time.Time // zero: none
	By    string
}

// ProblemCode names what can be wrong with a bucket's stored values.
type ProblemCode string

// Problem codes.
const (
	ProblemDenied    ProblemCode = "denied"     // the Redis user may not read it
	ProblemWrongType ProblemCode = "wrong-type" // the key is of another type
	ProblemRecord    ProblemCode = "record"     // the operators' record is of another type: nobody can take
	ProblemCorrupt   ProblemCode = "corrupt"    // a value is no finite number in range
	ProblemAhead     ProblemCode = "ts-ahead"   // ts lies ahead of the server's clock
	ProblemDebt      ProblemCode = "debt"       // the level is so low that nobody is served for long
)

// Problem is one thing that is wrong with a bucket's stored values.
type Problem struct {
	Code  ProblemCode
	Field string // the field that is wrong
	Text  string // one clause for people, such as "ts is 9m ahead, no refill until 14:41"
}

// Err says why Redis refused to read the bucket: a CallError that is ErrDenied,
// or nil where the Kind is another than KindDenied.
func (s State) Err() error {
	if s.Kind != KindDenied {
		return nil
	}
	why := &CallError{Class: ErrDenied, Doing: "read", Key: s.Key, Fault: FaultPermission}
	for _, p := range s.Problems {
		if p.Code == ProblemDenied {
			why.Cause = p.Text
		}
	}
	return why
}

// Known reports whether the level is known.
func (s State) Known() bool { return !math.IsNaN(s.Level) }

// LevelAt returns the level at t, if nobody takes anything from At to t.
func (s State) LevelAt(t time.Time) float64 {
	if s.Kind == KindWindow && s.Known() {
		return s.Effective.Capacity - s.log.usedAt(t, s.Effective.Per)
	}
	if !s.Known() || s.Effective.IsZero() || s.Cooldown.Until.After(t) {
		return s.Level
	}
	from := s.At
	if s.Cooldown.Until.After(from) {
		from = s.Cooldown.Until
	}
	level := s.Level + math.Max(0, t.Sub(from).Seconds())*s.Effective.Rate
	return math.Min(level, math.Max(s.Level, s.Effective.Capacity))
}

// Wait returns how long a request for n tokens has to wait at At, by level and
// rate alone: neither a hold nor other callers in the queue count.
func (s State) Wait(n float64) time.Duration {
	if s.Kind == KindWindow && s.Known() {
		return s.log.wait(s.At, s.Effective, n)
	}
	if !s.Known() || s.Effective.Rate == 0 {
		return 0
	}
	return seconds(math.Max(0, n-s.Level) / s.Effective.Rate)
}

// seconds converts, saturating instead of overflowing.
func seconds(s float64) time.Duration {
	const most = float64(math.MaxInt64) / float64(time.Second)
	switch {
	case s >= most:
		return math.MaxInt64
	case s <= 0 || math.IsNaN(s):
		return 0
	}
	return time.Duration(math.Ceil(s * float64(time.Second)))
}
