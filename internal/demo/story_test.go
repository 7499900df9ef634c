package demo

import (
	"slices"
	"testing"
	"time"
)

// laps is how many tellings are looked at.
const laps = 20

// TestEachLapTellsTheWholeStory holds for every seed what a newcomer is to see.
func TestEachLapTellsTheWholeStory(t *testing.T) {
	for seed := range uint64(50) {
		for number := range laps {
			steps := lap(seed, number)
			if !slices.IsSortedFunc(steps, func(a, b step) int { return int(a.at - b.at) }) {
				t.Fatalf("seed %d, lap %d is out of order: %v", seed, number, steps)
			}
			if last := steps[len(steps)-1].at; last >= lapTime {
				t.Errorf("seed %d, lap %d ends at %v, in the next", seed, number, last)
			}
			told := map[act]bool{}
			for _, s := range steps {
				told[s.act] = true
				checkActor(t, s)
			}
			for a := losesRedis; a <= sticks; a++ {
				if !told[a] {
					t.Errorf("seed %d, lap %d: nothing of %q", seed, number, step{act: a, who: "…"}.sentence())
				}
			}
			checkEnds(t, steps)
		}
	}
}

// checkActor holds that a step happens to somebody in the cast.
func checkActor(t *testing.T, s step) {
	t.Helper()
	known := map[string]bool{}
	for _, r := range cast() {
		switch s.act {
		case losesRedis, findsRedis, disagrees, agrees:
			for number := range r.workers {
				known[newWorker(r, number+1, "", nil, 0).name] = true
			}
		default:
			for _, j := range r.jobs {
				known[j.bucket] = true
			}
		}
	}
	known[foreignKey] = s.act == sticks
	if !known[s.who] {
		t.Errorf("%q: there is no such worker or bucket", s.sentence())
	}
}

// checkEnds holds that what begins also ends within the lap, and lasts long
// enough to be seen: a worker counts as silent after three seconds, and a state
// shows for five at least.
func checkEnds(t *testing.T, steps []step) {
	t.Helper()
	ends := map[act]act{losesRedis: findsRedis, bursts: calms, disagrees: agrees}
	for i, s := range steps {
		end, ends := ends[s.act]
		if !ends {
			continue
		}
		j := slices.IndexFunc(steps[i:], func(later step) bool { return later.act == end && later.who == s.who })
		if j < 0 {
			t.Errorf("%q has no end", s.sentence())
		} else if lasts := steps[i+j].at - s.at; lasts < 12*time.Second {
			t.Errorf("%q lasts %v only", s.sentence(), lasts)
		}
	}
}

func TestFirstSteps(t *testing.T) {
	for seed := range uint64(50) {
		for _, want := range []struct {
			step
			by time.Duration
		}{
			{step{act: losesRedis, who: "geo-4"}, 3 * time.Second},
			{step{act: sticks, who: foreignKey}, 10 * time.Second},
		} {
			due := newStory(seed).due(want.by)
			if !slices.ContainsFunc(due, func(s step) bool { return s.act == want.act && s.who == want.who }) {
				t.Errorf("seed %d: not within %v: %s", seed, want.by, want.sentence())
			}
		}
	}
}

func TestDueStepsComeOnceAndInTime(t *testing.T) {
	const end = laps * lapTime
	for _, pace := range []time.Duration{100 * time.Millisecond, 7 * time.Second, 5 * time.Minute, end} {
		s := newStory(7)
		var all []step
		for now := time.Duration(0); now <= end; now += pace {
			for _, due := range s.due(now) {
				if due.at > now || now > pace && due.at <= now-pace {
					t.Errorf("at pace %v %q of %v comes at %v", pace, due.sentence(), due.at, now)
				}
				all = append(all, due)
			}
		}
		if !slices.Equal(all, newStory(7).due(end)) {
			t.Errorf("pace %v changes the story", pace)
		}
		if want := laps * len(lap(7, 0)); len(all) != want {
			t.Errorf("pace %v: %d steps in %d laps, want %d", pace, len(all), laps, want)
		}
	}
}

func TestSeedChoosesTheDetails(t *testing.T) {
	const end = 3 * lapTime
	if !slices.Equal(newStory(1).due(end), newStory(1).due(end)) {
		t.Error("the same seed tells two stories")
	}
	if slices.Equal(newStory(1).due(end), newStory(2).due(end)) {
		t.Error("two seeds tell the same story")
	}
}

// TestRequestsFitTheirBuckets: one that exceeds the capacity would never be
// served, also where a worker declares less than the others.
func TestRequestsFitTheirBuckets(t *testing.T) {
	for _, r := range cast() {
		for _, j := range r.jobs {
			limit := j.limit
			if r.name == "llm" { // it is they who disagree
				limit = smaller(j)
			}
			if err := limit.Validate(); err != nil {
				t.Errorf("%s: %v", j.bucket, err)
			}
			if j.least < 1 || j.least > j.most || j.most > limit.Capacity {
				t.Errorf("%s asks %s for %v to %v tokens of %v", r.name, j.bucket, j.least, j.most, limit.Capacity)
			}
		}
	}
}
