package bucketctl

import (
	"context"
	"fmt"
	"math"
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

// verdict is the answer to one request, by Redis or by the worker itself.
type verdict struct {
	code      int64
	wait      time.Duration // charged: until the start; else: at least how long
	ask       time.Duration // waits: when to ask again
	at        time.Time     // server time of the answer
	level     float64
	limit     Limit // in force
	stop      int64
	stopEnd   time.Time // zero: no end
	mended    int64
	local     bool // decided without Redis, as localMode says
	localMode Mode
	reason    string // why local
	rev       Rev
	overEnd   time.Time // zero: no end, or no override
	override  bool
	gen       int64
}

// start is when a charged caller may start, by the server's clock.
func (v verdict) start() time.Time { return v.at.Add(v.wait) }

// takeArguments are the script's arguments for one request.
func takeArguments(l Limit, gen int64, horizon time.Duration, n float64, patience int64) []any {
	request := formatExact(n) + ":" + strconv.FormatInt(patience, 10)
	return append(declaredArguments(l, gen), horizon.Microseconds(), 0, request)
}

// declaredArguments are the first four arguments of take and give.
func declaredArguments(l Limit, gen int64) []any {
	return []any{formatExact(l.Capacity), formatExact(l.Rate), l.Per.Microseconds(), gen}
}

// decodeTake is the one place where take's reply for one request is decoded.
func decodeTake(r reply) (verdict, error) {
	const head = 12
	if err := r.length(head + 2); err != nil {
		return verdict{}, err
	}
	ints, err := r.integers(0, 9)
	if err != nil {
		return verdict{}, err
	}
	var floats [3]float64
	for i := range floats {
		if floats[i], err = r.number(9 + i); err != nil {
			return verdict{}, err
		}
	}
	answer, err := r.integers(head, 2)
	if err != nil {
		return verdict{}, err
	}
	if answer[0] < codeCharged || answer[0] > codeImpossible {
		return verdict{}, fmt.Errorf("the take script replied with code %d", answer[0])
	}
	v := verdict{
		code:     answer[0],
		wait:     microsSaturated(answer[1]),
		ask:      microsSaturated(ints[4]),
		at:       time.UnixMicro(ints[0]).UTC(),
		mended:   ints[1],
		stop:     ints[2],
		stopEnd:  fromUnixMicro(ints[3]),
		gen:      ints[6],
		rev:      Rev(ints[7]),
		override: ints[8] != 0,
		level:    floats[0],
		limit:    Limit{Capacity: floats[1], Rate: floats[2]},
	}
	if ints[8] > 0 {
		v.overEnd = fromUnixMicro(ints[8])
	}
	return v, nil
}

// microsSaturated converts, saturating instead of overflowing.
func microsSaturated(us int64) time.Duration {
	if us > math.MaxInt64/int64(time.Microsecond) {
		return math.MaxInt64
	}
	return micros(us)
}

// patienceOf is how long the context lets a caller wait.
func patienceOf(ctx context.Context) int64 {
	deadline, ok := ctx.Deadline()
	if !ok {
		return unlimited
	}
	return max(0, time.Until(deadline).Microseconds())
}
