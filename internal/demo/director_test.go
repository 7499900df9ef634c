package demo

import (
	"slices"
	"strings"
	"testing"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/schema"
)

// play is a crew with a director to take single steps.
type play struct {
	t        *testing.T
	crew     *crew
	director *director
	admin    *bucketctl.Admin
}

// newPlay has a real server: one in this process is slow under the race detector,
// and what is looked at here are the steps.
func newPlay(t *testing.T) *play {
	t.Helper()
	s := startKind(t, withPath(t, kinds(t)[0]))
	p := &play{t: t, crew: startWorkers(t, s), admin: openAdmin(t, s, "newcomer")}
	var err error
	if p.director, err = newDirector(t.Context(), s, p.crew, func(text string) { t.Log(text) }); err != nil {
		t.Fatal(err)
	}
	p.director.operator = openAdmin(t, s, "anna@ops1")
	t.Cleanup(p.director.stop)
	return p
}

func (p *play) take(a act, who string) error {
	return p.director.take(p.t.Context(), p.t.Context(), step{act: a, who: who})
}

func (p *play) mustTake(a act, who string) {
	p.t.Helper()
	if err := p.take(a, who); err != nil {
		p.t.Fatalf("%s: %v", step{act: a, who: who}.sentence(), err)
	}
}

func (p *play) state(key string) bucketctl.State { p.t.Helper(); return stateOf(p.t, p.admin, key) }

// reported returns what the workers of a bucket report, by name, each by its
// newest run: the report of one before stays in the stream.
func (p *play) reported(key string) map[string]bucketctl.WorkerBucket {
	p.t.Helper()
	workers, _, err := p.admin.Workers(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	all := map[string]bucketctl.WorkerBucket{}
	slices.SortFunc(workers, func(a, b bucketctl.Worker) int { return a.Start.Compare(b.Start) })
	for _, w := range workers {
		delete(all, w.App)
		for _, b := range w.Buckets {
			if b.Key == key {
				all[w.App] = b
			}
		}
	}
	return all
}

func TestLosingAndFindingRedis(t *testing.T) {
	p := newPlay(t)
	p.mustTake(losesRedis, "pay-2")
	await(t, "one worker decides alone", func() bool { return p.crew.fallback() == 1 })
	p.crew.each(func(w *worker) {
		if w.alone() != (w.name == "pay-2") {
			t.Errorf("%s: alone %v", w.name, w.alone())
		}
	})
	p.mustTake(findsRedis, "pay-2")
	await(t, "it is back", func() bool { return p.crew.fallback() == 0 })
}

func TestBurst(t *testing.T) {
	p := newPlay(t)
	waiting := func() int {
		n := 0
		for _, b := range p.reported(geocodeEU) {
			n += b.Waiting
		}
		return n
	}
	usual := 4 * cast()[0].jobs[0].callers
	p.mustTake(bursts, geocodeEU)
	p.mustTake(bursts, geocodeEU) // one burst at a time
	await(t, "more wait than there usually are", func() bool { return waiting() > usual*3/2 })
	if n := waiting(); n > crowd*usual {
		t.Errorf("%d wait, of %d callers", n, crowd*usual)
	}
	p.mustTake(calms, geocodeEU)
	await(t, "the crowd leaves", func() bool { n := waiting(); return n > 0 && n <= usual })
	p.mustTake(calms, geocodeEU)
}

func TestRefusalCoolsDownForAWhile(t *testing.T) {
	p := newPlay(t)
	p.state(charges)
	p.mustTake(refuses, charges)
	var cooling bucketctl.State
	await(t, "the cooldown", func() bool { // told later where a busy machine kept the worker from it
		cooling = p.state(charges)
		return !cooling.Cooldown.Until.IsZero()
	})
	if left := cooling.Cooldown.Until.Sub(cooling.At); !strings.HasPrefix(cooling.Cooldown.By, "pay-") || left <= 0 || left > retryAfter || cooling.Hold.Active {
		t.Fatalf("cooling as %+v at %v, hold %+v", cooling.Cooldown, cooling.At, cooling.Hold)
	}
	if _, err := p.admin.Hold(t.Context(), charges, cooling.Rev, bucketctl.NoEnd(), "mine"); err != nil {
		t.Fatal(err)
	}
	if err := p.take(refuses, charges); err == nil {
		t.Error("a provider that is sent nothing refuses something")
	}
}

func TestOverrideHasAnEnd(t *testing.T) {
	p := newPlay(t)
	declared := p.state(mails).Declared
	p.mustTake(overrides, mails)
	over := p.state(mails)
	if left := over.Override.Until.Sub(over.At); left <= 0 || left > overrideTime || over.Effective.Rate != 2*declared.Rate || over.By != "anna@ops1" {
		t.Fatalf("overridden as %+v by %s at %v", over.Override, over.By, over.At)
	}
	change, err := p.admin.SetLimit(t.Context(), mails, over.Rev, bucketctl.LimitChange{Rate: bucketctl.To(3), End: bucketctl.NoEnd()})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.take(overrides, mails); err == nil {
		t.Error("the story overrides what the newcomer overrides")
	}
	if now := p.state(mails); now.Rev != change.After.Rev {
		t.Errorf("the newcomer's override is now %+v", now.Override)
	}
}

func TestLimitsDisagreeAndAgreeAgain(t *testing.T) {
	p := newPlay(t)
	limits := func() []float64 {
		var all []float64
		for _, b := range p.reported(llmTokens) {
			all = append(all, b.Declared.Rate)
		}
		slices.Sort(all)
		return all
	}
	usual, less := 30_000.0, 20_000.0
	for _, s := range []struct {
		act  act
		want []float64
	}{
		{disagrees, []float64{less, usual, usual}},
		{agrees, []float64{usual, usual, usual}},
	} {
		p.mustTake(s.act, "llm-3")
		await(t, "the workers report the limits", func() bool { return slices.Equal(limits(), s.want) })
		await(t, "the newest limit is in force", func() bool {
			return p.state(llmTokens).Declared.Rate == s.want[0]
		})
	}
}

func TestStuckKeyIsResetAndSticksAgain(t *testing.T) {
	p := newPlay(t)
	ahead := func() bool {
		return slices.ContainsFunc(p.state(foreignKey).Problems, func(problem bucketctl.Problem) bool {
			return problem.Code == bucketctl.ProblemAhead
		})
	}
	for range 2 {
		p.mustTake(sticks, foreignKey)
		if !ahead() {
			t.Fatalf("not stuck: %+v", p.state(foreignKey))
		}
		change, err := p.admin.Reset(t.Context(), foreignKey, bucketctl.AnyRev, bucketctl.ToLevel(5), "a test")
		if err != nil {
			t.Fatal(err)
		}
		reset := change.After.Raw[schema.FieldTs]
		await(t, "its worker goes on, and writes with a grant", func() bool {
			return !ahead() && reset != "" && p.state(foreignKey).Raw[schema.FieldTs] != reset
		})
	}
}

// TestStoryGoesOnAfterAFailedStep also has the steps taken by the clock.
func TestStoryGoesOnAfterAFailedStep(t *testing.T) {
	p := newPlay(t)
	await(t, "somebody draws from it", func() bool { return p.state(charges).Kind == bucketctl.KindBucket })
	if _, err := p.admin.Hold(t.Context(), charges, bucketctl.AnyRev, bucketctl.NoEnd(), ""); err != nil {
		t.Fatal(err)
	}
	p.director.start(t.Context(), &story{seed: 1, left: []step{
		{time.Millisecond, refuses, charges},
		{2 * time.Millisecond, losesRedis, "pay-1"},
	}})
	await(t, "the step after the failed one", func() bool { return p.crew.fallback() == 1 })
}
