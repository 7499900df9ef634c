package demo

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// act is one kind of thing that happens.
type act uint8

const (
	losesRedis act = iota // a worker
	findsRedis            // the same worker
	bursts                // callers crowd to a bucket
	calms                 // they go again
	refuses               // a bucket's provider says 429
	disagrees             // a worker restarts with another limit
	agrees                // and again with the one of all others
	overrides             // an operator raises a bucket's limit for a while
	sticks                // a wrong clock writes to the foreign bucket
)

// step is one thing that happens to who, a worker or a bucket, so long after
// the demo's start.
type step struct {
	at  time.Duration
	act act
	who string
}

const (
	lapTime   = 3 * time.Minute
	mostDelay = 3 * time.Second // of a step, by chance
)

// lap returns the steps of one telling of the story, in order, with their times
// from the start of that lap. Each telling differs a little; what the first
// begins with does not, so that a newcomer soon sees what the console is for.
func lap(seed uint64, number int) []step {
	rng := rand.New(rand.NewPCG(seed, uint64(number))) // #nosec G115 G404 -- laps count from 0; a story needs no secrecy
	geo, feed, pay := oneOf(rng, "geo", 4), oneOf(rng, "sync", 2), oneOf(rng, "pay", 3)
	steady := 0 // steps that chance leaves alone
	if number == 0 {
		geo, steady = "geo-4", 2
	}
	steps := []step{
		{1500 * time.Millisecond, losesRedis, geo}, // its first full report is out by then
		{6 * time.Second, sticks, foreignKey},
		{18 * time.Second, bursts, geocodeEU},
		{30 * time.Second, findsRedis, geo},
		{42 * time.Second, calms, geocodeEU},
		{50 * time.Second, refuses, charges},
		{62 * time.Second, losesRedis, feed},
		{76 * time.Second, disagrees, "llm-3"},
		{88 * time.Second, findsRedis, feed},
		{96 * time.Second, overrides, mails},
		{110 * time.Second, agrees, "llm-3"},
		{120 * time.Second, losesRedis, pay},
		{132 * time.Second, bursts, geocodeUS},
		{150 * time.Second, findsRedis, pay},
		{162 * time.Second, calms, geocodeUS},
	}
	for i := range steps {
		delay := time.Duration(rng.Int64N(int64(mostDelay)))
		if i >= steady {
			steps[i].at += delay
		}
	}
	return steps
}

func oneOf(rng *rand.Rand, role string, workers int) string {
	return role + "-" + strconv.Itoa(1+rng.IntN(workers))
}

// story tells laps without end.
type story struct {
	seed uint64
	lap  int    // that is told
	left []step // of it
}

func newStory(seed uint64) *story { return &story{seed: seed, left: lap(seed, 0)} }

// due returns the steps between the last call and now, which is the time since
// the demo's start, in order.
func (s *story) due(now time.Duration) []step {
	var due []step
	for {
		for len(s.left) > 0 && s.begin()+s.left[0].at <= now {
			next := s.left[0]
			next.at += s.begin()
			due, s.left = append(due, next), s.left[1:]
		}
		if len(s.left) > 0 {
			return due
		}
		s.lap++
		s.left = lap(s.seed, s.lap)
	}
}

// begin is when the lap that is told began, from the demo's start.
func (s *story) begin() time.Duration { return time.Duration(s.lap) * lapTime }

// sentence tells a step to people.
func (s step) sentence() string {
	switch s.act {
	case losesRedis:
		return s.who + " loses Redis"
	case findsRedis:
		return s.who + " finds Redis again"
	case bursts:
		return "a burst on " + s.who
	case calms:
		return "the burst on " + s.who + " is over"
	case refuses:
		return "the provider behind " + s.who + " says 429"
	case disagrees:
		return s.who + " restarts with another limit"
	case agrees:
		return s.who + " restarts with the limit of the others"
	case overrides:
		return "an operator raises " + s.who + " for a while"
	case sticks:
		return "a wrong clock writes to " + s.who
	}
	return s.who
}
