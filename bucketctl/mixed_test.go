package bucketctl

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// mixture is one process beside ten others at one bucket, with other requests
// than theirs.
type mixture struct {
	one, others float64 // tokens that each caller waits for
	limit       Limit
	horizon     time.Duration
	length      time.Duration

	clock *redis.Client
	odd   *process
	ten   []*process
	from  time.Time // the first grant of the one, which the ten may keep waiting
}

// begin returns once all of them wait.
func (m *mixture) begin(t *testing.T) {
	t.Helper()
	s := redistest.Start(t)
	m.clock = s.Client(t)
	j := job{URL: s.URL(), Key: "mixture", Limit: m.limit, Horizon: m.horizon, Work: "wait", Callers: 10, N: m.others}
	m.ten = startProcesses(t, 10, j)
	j.N = m.one
	m.odd = startProcess(t, j)
	m.odd.await("ready", 1)
	releaseAll(append(m.ten, m.odd))
	m.odd.await("start", 1)
	m.from = time.UnixMicro(m.odd.said("start")[0].At)
}

// grants returns how many requests of the one process are granted in time, and
// how many tokens the ten get meanwhile.
func (m *mixture) grants(t *testing.T) (grants, tokens float64) {
	t.Helper()
	until := m.from.Add(m.length)
	awaitServerTime(t, m.clock, until.Add(m.horizon))
	grants = tokensBetween([]*process{m.odd}, m.from, until) / m.one
	tokens = tokensBetween(m.ten, m.from, until)
	t.Logf("one process that asks for %v beside ten that ask for %v, at %v: %v grants in %v; the ten get %v tokens",
		m.one, m.others, m.limit, grants, m.length, tokens)
	endAll(append(m.ten, m.odd))
	return grants, tokens
}

// checkMixtures asserts the least grants of one large beside small requests,
// and that one small beside large ones takes neither nothing nor all, both at
// the same time.
func checkMixtures(t *testing.T, limit Limit, horizon, length time.Duration, least float64) {
	t.Helper()
	one := mixture{one: 5, others: 1, limit: limit, horizon: horizon, length: length}
	other := mixture{one: 1, others: 5, limit: limit, horizon: horizon, length: length}
	one.begin(t)
	other.begin(t)
	if got, _ := one.grants(t); got < least {
		t.Errorf("%v grants of the large request, at least %v are wanted", got, least)
	}
	half := limit.Rate * length.Seconds() / 2
	if got, tokens := other.grants(t); got < 1 || tokens < half {
		t.Errorf("%v grants of the small request, and %v tokens of the large ones; at least 1 and %v are wanted", got, tokens, half)
	}
}

// A large request is not starved by small ones, nor the other way round. The
// time is a fifth of the soak's in every respect, so that its grants are as
// many; the bounds are wide.
func TestLargeAndSmallRequestsBothGetTheirTurns(t *testing.T) {
	t.Parallel()
	checkMixtures(t, PerSecond(25).Burst(5), DefaultHorizon/5, 5*time.Second, 3)
}
