package bucketctl

import (
	"fmt"
	"strconv"
	"time"
)

// Codes of the take script, one for each request.
const (
	codeCharged    = 0
	codeRefused    = 1
	codeWaits      = 2
	codeImpossible = 3
)

// Stops of the take script.
const (
	stopNone     = 0
	stopHeld     = 1
	stopCooldown = 2
)

// mendedAhead is the take script's word for a re-anchored ts; 1 is for corrupt
// values.
const mendedAhead = 2

// unlimited is the patience of a caller without a deadline, in microseconds.
const unlimited = int64(maxNumber)

// circumstances are what the requests of one call share: the bucket as it was
// when they were decided, by Redis or by the worker itself.
type circumstances struct {
	at        time.Time // server time of the decision
	ask       time.Duration
	ticket    int64   // to show when asking again; 0: none
	level     float64 // tokens left; NaN when unknown
	limit     Limit   // in force
	stop      int64
	stopEnd   time.Time // zero: no end
	mended    int64
	local     bool // decided without Redis, as localMode says
	localMode Mode
	reason    string    // why local
	since     time.Time // since when; zero: not local
	rev       Rev
	override  bool
	overEnd   time.Time // zero: no end, or no override
	gen       int64
}

// verdict is the answer to one request.
type verdict struct {
	*circumstances
	code int64
	wait time.Duration // charged: until the start; else: at least how long
	due  time.Time     // charged: the start by this machine's clock
	of   *together     // nil: of one bucket
}

// together is what a verdict on several buckets says of each. Its own
// circumstances are those of the bucket that decides.
type together struct {
	which int // decides
	each  []*circumstances
}

// start is when a charged caller may start, by the server's clock.
func (v verdict) start() time.Time { return v.at.Add(v.wait) }

// scriptLimit is a limit as scripts read it: capacity, rate and per. It is
// written once, since every call carries it.
type scriptLimit [3]any

func scriptLimitOf(l Limit) scriptLimit {
	return scriptLimit{formatExact(l.Capacity), formatExact(l.Rate), l.Per.Microseconds()}
}

// declare appends the first four arguments of the scripts that workers run.
func (l *Limiter) declare(args []any) []any {
	return append(append(args, l.spelled[:]...), l.client.gen.Load())
}

// appendTake appends the arguments of a batch of requests, behind what is
// declared.
func appendTake(args []any, horizon time.Duration, ticket int64, batch []*request, now time.Time) []any {
	args = append(args, horizon.Microseconds(), ticket)
	for i := 0; i < len(batch); {
		n, patience := batch[i].n, batch[i].patience(now)
		same := 1
		for i+same < len(batch) && batch[i+same].n == n && batch[i+same].patience(now) == patience {
			same++
		}
		args = append(args, requestArgument(n, patience, same))
		i += same
	}
	return args
}

// requestArgument is so many requests as the script reads them: most of those
// who wait want the same, and one argument then does for all.
func requestArgument(n float64, patience int64, times int) string {
	text := strconv.AppendFloat(make([]byte, 0, 40), n, 'f', -1, 64)
	text = strconv.AppendInt(append(text, ':'), patience, 10)
	if times > 1 {
		text = strconv.AppendInt(append(text, ':'), int64(times), 10)
	}
	return string(text)
}

// takeHead is how many items of take's reply come before the answers. In the
// plain case, where all are charged and start at once under the declared limit,
// it has takePlain items and no answers.
const (
	takeHead  = 12
	takePlain = 3
)

// inFull is a reply of the plain case with all that goes without saying. args
// are those that the script was called with.
func (r reply) inFull(args []any) reply {
	if len(r) != takePlain {
		return r
	}
	const none = int64(0)
	return reply{r[0], none, none, none, none, none, args[3], r[1], none, r[2], args[0], args[1]}
}

// decodeTake is the one place where take's reply is decoded, to a call with
// these arguments. It appends one verdict for each of n requests.
func decodeTake(r reply, args []any, n int, verdicts []verdict) ([]verdict, error) {
	r = r.inFull(args)
	if err := r.length(takeHead); err != nil {
		return nil, err
	}
	c, err := decodeCircumstances(r)
	if err != nil {
		return nil, err
	}
	received := time.Now()
	if len(r) == takeHead {
		for range n {
			verdicts = append(verdicts, verdict{circumstances: c, code: codeCharged, due: received})
		}
		return verdicts, nil
	}
	if err := r.length(takeHead + 2*n); err != nil {
		return nil, err
	}
	for i := range n {
		code, err := r.integer(takeHead + 2*i)
		if err != nil {
			return nil, err
		}
		wait, err := r.integer(takeHead + 2*i + 1)
		if err != nil {
			return nil, err
		}
		if code < codeCharged || code > codeImpossible || wait < 0 {
			return nil, fmt.Errorf("the take script replied with code %d, wait %d", code, wait)
		}
		v := verdict{circumstances: c, code: code, wait: micros(wait)}
		if code == codeCharged {
			v.due = received.Add(v.wait)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

func decodeCircumstances(r reply) (*circumstances, error) {
	ints, err := r.integers(0, 9)
	if err != nil {
		return nil, err
	}
	return circumstancesOf(ints, r, 9)
}

// circumstancesOf makes them of nine integers, in the order of take's reply, and
// of the three texts from an item on.
func circumstancesOf(ints []int64, r reply, from int) (*circumstances, error) {
	var floats [3]float64
	for i := range floats {
		var err error
		if floats[i], err = r.number(from + i); err != nil {
			return nil, err
		}
	}
	c := &circumstances{
		at:       time.UnixMicro(ints[0]).UTC(),
		mended:   ints[1],
		stop:     ints[2],
		stopEnd:  fromUnixMicro(ints[3]),
		ask:      micros(ints[4]),
		ticket:   ints[5],
		gen:      ints[6],
		rev:      Rev(ints[7]),
		override: ints[8] != 0,
		level:    floats[0],
		limit:    Limit{Capacity: floats[1], Rate: floats[2]},
	}
	if ints[8] > 0 {
		c.overEnd = fromUnixMicro(ints[8])
	}
	return c, nil
}
