package bucketctl

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/schema"
)

// What the scripts of windows hold to, in Go's types.
const (
	maxStarts = 10000           // of a log; merging keeps it far below
	maxEarly  = 6 * time.Second // a start further ahead is re-anchored
)

// windowLog is what of a window has not left its span.
type windowLog struct {
	known  bool
	used   float64
	starts []windowStart // oldest first; nil where a script told the sum alone
	broken bool          // the log is no sorted set
}

type windowStart struct {
	at time.Time
	n  float64
}

// sum is what is used; NaN when unknown.
func (w windowLog) sum() float64 {
	if !w.known {
		return math.NaN()
	}
	return w.used
}

// usedAt is what has not left the span at t.
func (w windowLog) usedAt(t time.Time, span time.Duration) float64 {
	used := w.used
	for _, s := range w.starts {
		if s.at.Add(span).After(t) {
			break
		}
		used -= s.n
	}
	return used
}

// wait is how long n tokens have to wait at t: until the oldest starts that
// stand in their way have left the span.
func (w windowLog) wait(t time.Time, limit Limit, n float64) time.Duration {
	const millionth = 1e-6
	over := w.used + n - limit.Capacity
	if over < millionth/2 {
		return 0
	}
	for _, s := range w.starts {
		if over -= s.n; over < millionth/2 {
			return max(0, s.at.Add(limit.Per).Sub(t))
		}
	}
	return limit.Per
}

// overWindow is the limit in force where o lies over a declared window: a rate
// brings its own span, a capacity is the most in it.
func (o Override) overWindow(declared Limit) Limit {
	limit := declared
	if o.Rate != 0 {
		limit.Per = o.Per
		if limit.Per <= 0 {
			limit.Per = time.Second
		}
		limit.Capacity = math.Floor(o.Rate*limit.Per.Seconds()*1e6+0.5) / 1e6
	}
	if o.Capacity != 0 && (o.Rate == 0 || o.Capacity < limit.Capacity) {
		limit.Capacity = o.Capacity
	}
	if limit.Capacity == 0 || limit.Per <= 0 {
		return Limit{}
	}
	limit.Rate = limit.Capacity / limit.Per.Seconds()
	return limit
}

// under is the limit in force where o lies over what the bucket or window s was
// declared with.
func (s State) under(o Override) Limit {
	if s.Kind == KindWindow {
		return o.overWindow(s.Declared)
	}
	return o.Over(s.Declared)
}

func errWindowTooSmall() error {
	return fmt.Errorf("%w: the window would hold less than 1 token: give a longer unit, such as 1/10s", ErrLimit)
}

// decodeWindow decodes a window's own fields, and what its log says.
func (r reading) decodeWindow(s *State) {
	f := fieldReader{fields: r.fields}
	used, hasUsed := f.number(schema.FieldUsed)
	_, hasTs := f.number(schema.FieldTs)
	if hasUsed && used < 0 || !hasUsed {
		f.wrong = append(f.wrong, schema.FieldUsed)
	}
	if _, there := r.fields[schema.FieldTs]; !hasTs && !there {
		f.wrong = append(f.wrong, schema.FieldTs)
	}
	r.decodeDeclared(s, &f)
	s.Effective = s.under(s.Override)
	s.Problems = append(s.Problems, r.corrupt(dedupe(f.wrong))...)
	s.log, s.Used = r.log, r.log.sum()
	if !s.Effective.IsZero() && r.log.known {
		s.Level = s.Effective.Capacity - s.Used
	}
	r.findWindowStuck(s)
}

func dedupe(names []string) []string {
	var out []string
	for _, name := range names {
		if len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}

// findWindowStuck adds what keeps a window from granting, or is to be mended.
func (r reading) findWindowStuck(s *State) {
	if r.log.broken {
		s.Problems = append(s.Problems, Problem{Code: ProblemWrongType, Text: "its log is no sorted set: a reset mends it"})
	}
	if n := len(r.log.starts); n > 0 {
		if ahead := r.log.starts[n-1].at.Sub(r.at); ahead > maxEarly {
			s.Problems = append(s.Problems, Problem{
				Code: ProblemAhead, Field: schema.FieldTs,
				Text: fmt.Sprintf("a start is %s ahead, the next take sets it to now", roughly(ahead)),
			})
		}
	}
	if wait := s.Wait(0); s.Known() && s.Level < 0 && wait > heavyDebt {
		s.Problems = append(s.Problems, Problem{
			Code: ProblemDebt, Field: schema.FieldUsed,
			Text: fmt.Sprintf("the level is %s, nothing is granted for %s", formatNumber(s.Level), roughly(wait)),
		})
	}
}

// readLogs completes readings of windows by what their logs say. A window has
// two keys, which are read one after the other: what starts in between is seen
// a moment early.
func readLogs(ctx context.Context, client redis.UniversalClient, names schema.Keys, readings []reading) error {
	own := map[int]*redis.ZSliceCmd{}
	foreign := map[int]*redis.IntCmd{}
	for i, r := range readings {
		switch r.kind() {
		case KindWindow:
			own[i] = nil
		case KindForeignWindow:
			foreign[i] = nil
		case KindNone, KindBucket, KindForeign, KindWrongType, KindDenied:
		}
	}
	if len(own)+len(foreign) == 0 {
		return nil
	}
	cmds, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range own {
			r := readings[i]
			span := r.state().Effective.Per
			own[i] = p.ZRangeByScoreWithScores(ctx, names.Log(r.key), &redis.ZRangeBy{
				Min: "(" + strconv.FormatInt(r.at.Add(-span).UnixMicro(), 10), Max: "+inf", Count: maxStarts,
			})
		}
		for i := range foreign {
			foreign[i] = p.ZCard(ctx, readings[i].key)
		}
		return nil
	})
	if err := untold(err, cmds); err != nil {
		return err
	}
	for i, cmd := range own {
		if err := readings[i].deny(ignoreWrongType(cmd.Err())); err != nil {
			return err // neither a log of a wrong type nor one that is denied, which concern their window alone
		}
		readings[i].log = decodeLog(cmd.Val())
		readings[i].log.broken = cmd.Err() != nil
	}
	for i, cmd := range foreign {
		if err := readings[i].deny(ignoreWrongType(cmd.Err())); err != nil {
			return err
		}
		readings[i].log = windowLog{known: cmd.Err() == nil, used: float64(cmd.Val())}
	}
	return nil
}

// decodeLog reads the members of a log: weight:start. A weight that can't be
// read is none, as for the scripts.
func decodeLog(members []redis.Z) windowLog {
	w := windowLog{known: true}
	for _, z := range members {
		member, _ := z.Member.(string)
		weight, _, _ := strings.Cut(member, ":")
		n, ok := storedNumber(weight)
		if !ok || n <= 0 {
			continue
		}
		at := time.UnixMicro(int64(math.Max(-maxNumber, math.Min(z.Score, maxNumber)))).UTC()
		w.used += n
		w.starts = append(w.starts, windowStart{at: at, n: n})
	}
	w.used = math.Floor(w.used*1e6+0.5) / 1e6
	return w
}
