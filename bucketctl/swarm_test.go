package bucketctl

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// swarm is processes whose callers do all that callers may do, beside an
// operator who changes the limit and holds the bucket.
type swarm struct {
	processes, callers int
	limit              Limit
	length             time.Duration
	delay              time.Duration // at most, of a round trip, at random
	seed               uint64
}

// run lets the swarm go and returns what happened until its end.
func (w swarm) run(t *testing.T) history {
	t.Helper()
	s := redistest.Start(t)
	through := redistest.Proxy(t, s.Addr)
	all := startProcesses(t, w.processes, job{URL: through.URL(), Key: "swarm", Limit: w.limit, Work: "mix", Callers: w.callers, Seed: w.seed})
	through.DelayAtRandom(w.delay/2, w.delay/2)

	clock := s.Client(t)
	h := history{horizon: DefaultHorizon, limits: []inForce{{serverTime(t, clock).UnixMicro(), w.limit}}}
	releaseAll(all)
	all[0].await("start", 1) // now there is a bucket to change
	h.limits = append(h.limits, w.operate(t, openAdmin(t, s))...)
	until := serverTime(t, clock).UnixMicro()
	endAll(all)
	h.read(t, all, until)
	return h
}

// operate is the operator's part: it takes the swarm's length, and returns the
// limits that came into force.
func (w swarm) operate(t *testing.T, a *Admin) []inForce {
	t.Helper()
	random := rand.New(rand.NewPCG(w.seed, 0))
	var changed []State
	for end := time.Now().Add(w.length); time.Now().Before(end); sleep(t.Context(), time.Duration(200+random.IntN(800))*time.Millisecond) {
		var c Change
		var err error
		switch random.IntN(5) {
		case 0:
			// Long enough that all which was charged has started and nothing more is
			// given back: what comes at its end is the capacity and nothing else.
			c, err = a.Hold(t.Context(), "swarm", AnyRev, EndAfter(700*time.Millisecond), "")
			sleep(t.Context(), time.Second)
		case 1:
			c, err = a.ClearLimit(t.Context(), "swarm", AnyRev, "")
		default:
			c, err = a.SetLimit(t.Context(), "swarm", AnyRev, w.anyLimit(random))
		}
		if err != nil && !errors.Is(err, ErrNothing) {
			t.Fatal(err)
		}
		if err == nil && c.After.Effective != c.Before.Effective {
			changed = append(changed, c.After)
		}
	}
	return limitsOf(changed)
}

// anyLimit changes rate or capacity or both, for some time or for ever.
func (w swarm) anyLimit(random *rand.Rand) LimitChange {
	c := LimitChange{End: NoEnd()}
	which := random.IntN(3)
	if which != 0 {
		c.Rate = To(w.limit.Rate * (0.2 + 2*random.Float64()))
	}
	if which != 1 {
		c.Capacity = To(w.limit.Capacity * (0.3 + 2*random.Float64()))
	}
	if random.IntN(2) == 0 {
		c.End = EndAfter(time.Duration(100+random.IntN(1500)) * time.Millisecond)
	}
	return c
}

// limitsOf is which limits were in force when, from the states after each
// change: an override ends by itself unless the next change comes before.
func limitsOf(changed []State) []inForce {
	var out []inForce
	for i, s := range changed {
		out = append(out, inForce{s.At.UnixMicro(), s.Effective})
		ends := s.Override.Until
		if !ends.IsZero() && (i+1 == len(changed) || ends.Before(changed[i+1].At)) {
			out = append(out, inForce{ends.UnixMicro(), s.Declared})
		}
	}
	return out
}

// read takes in what the processes tell of the time until then. A refund after
// its caller's start is a start that was given back; one before it is none,
// since what its tokens were is still to come.
func (h *history) read(t *testing.T, all []*process, until int64) {
	t.Helper()
	lost := 0
	for _, p := range all {
		lost += len(p.said("lost"))
		for _, l := range p.said("unknown") {
			h.unknown += max(0, l.Tokens)
		}
		for _, l := range p.said("start") {
			if l.At < until {
				h.starts = append(h.starts, amount{l.At, l.N})
			}
		}
		for _, l := range p.said("back") {
			switch {
			case l.Why == "refund" && l.At >= l.Start:
				h.starts = append(h.starts, amount{l.Start, l.Tokens})
				h.given = append(h.given, amount{l.At, l.N})
			case l.Why == "settle" && l.N > 0:
				h.given = append(h.given, amount{l.At, l.N})
			}
		}
	}
	if lost > 0 || h.unknown > 0 {
		t.Logf("%d calls got no answer in time, and nobody knows whether %v tokens were given back", lost, h.unknown)
	}
}

// check holds the bound, and that there was something to hold it for.
func (w swarm) check(t *testing.T) {
	t.Helper()
	h := w.run(t)
	h.check(t)
	if wanted := int(w.length.Seconds() * 5); len(h.starts) < wanted || len(h.given) == 0 || len(h.limits) < 3 {
		t.Errorf("%d starts, %d times tokens back, %d limits: that is not what a swarm does", len(h.starts), len(h.given), len(h.limits))
	}
}

// TestSwarmStaysWithinTheBound is the property that a limiter of one process
// can't have: counted by the server's clock, no span sees more than the bucket
// allows, whoever asks, leaves, gives back and changes the limit meanwhile.
func TestSwarmStaysWithinTheBound(t *testing.T) {
	t.Parallel()
	swarm{processes: 20, callers: 5, limit: PerSecond(40).Burst(8), length: 10 * time.Second, seed: 1}.check(t)
}

// The same where each connection has delays of its own; the soak takes longer.
func TestSwarmOnSlowConnectionsStaysWithinTheBound(t *testing.T) {
	t.Parallel()
	swarm{processes: 10, callers: 5, limit: PerSecond(40).Burst(8), length: 3 * time.Second, delay: 200 * time.Millisecond, seed: 2}.check(t)
}
