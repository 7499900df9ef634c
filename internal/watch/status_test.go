package watch

import (
	"math"
	"testing"
	"time"

	"bucketop/bucketctl"
)

// shared, silent and fallen are rows of a bucket of 10/s at second 100.
func shared(name string, waiting int) WorkerRow {
	return WorkerRow{Name: name, Seen: at(99), WorkerBucket: draws("k", 0, waiting), Rate: math.NaN()}
}

func silentRow(name string, seen float64) WorkerRow {
	row := shared(name, 0)
	row.Silent, row.Seen = true, at(seen)
	return row
}

func fallen(name string, since float64) WorkerRow {
	row := shared(name, 0)
	row.Mode, row.Since, row.Reason = bucketctl.ModeShare, at(since), "Redis does not answer"
	return row
}

func declaring(name string, limit bucketctl.Limit) WorkerRow {
	row := shared(name, 0)
	row.Declared = limit
	return row
}

func problem(code bucketctl.ProblemCode, text string) []bucketctl.Problem {
	return []bucketctl.Problem{{Code: code, Text: text}}
}

func TestJudgeNamesTheGravestState(t *testing.T) {
	now := at(100)
	ordinary := full(0)
	with := func(change func(*bucketctl.State)) bucketctl.State {
		s := ordinary
		change(&s)
		return s
	}
	held := with(func(s *bucketctl.State) {
		s.Hold = bucketctl.Hold{Active: true, By: "anna@ops1", At: at(-140), Reason: "asked to"}
	})
	ahead := problem(bucketctl.ProblemAhead, "ts is 9m ahead, no refill until 14:41")
	foreign := bucketctl.State{Kind: bucketctl.KindForeign, Type: "hash", Problems: ahead}
	slow := with(func(s *bucketctl.State) { s.Effective = bucketctl.PerMinute(1).Burst(5) })
	tests := []struct {
		name   string
		f      facts
		state  bucketctl.State
		unread bool
		want   Code
		text   string
		cause  string
		remedy string
	}{
		{name: "someone waits for 5 s and nothing is granted",
			f:    facts{rows: []WorkerRow{shared("a", 3)}, waiting: 3, starving: 3, dryFrom: at(95), dryTo: at(100)},
			want: Stuck, text: "5s", remedy: "R resets"},
		{name: "not yet 5 s",
			f:    facts{rows: []WorkerRow{shared("a", 3)}, waiting: 3, starving: 3, dryFrom: at(95.1), dryTo: at(100)},
			want: OK},
		{name: "5 s, but nothing is known of the last two",
			f:    facts{rows: []WorkerRow{shared("a", 3)}, waiting: 3, starving: 3, dryFrom: at(94), dryTo: at(98)},
			want: OK},
		{name: "three tokens take 180 s", state: slow,
			f:    facts{rows: []WorkerRow{shared("a", 1)}, waiting: 1, starving: 1, dryFrom: at(-79), dryTo: at(100)},
			want: OK},
		{name: "and 180 s are over", state: slow,
			f:    facts{rows: []WorkerRow{shared("a", 1)}, waiting: 1, starving: 1, dryFrom: at(-81), dryTo: at(100)},
			want: Stuck, text: "3m", remedy: "R resets"},
		{name: "a request for 200 tokens needs 20 s",
			state: with(func(s *bucketctl.State) { s.Effective.Capacity = 500 }),
			f: facts{rows: []WorkerRow{shared("a", 1)}, waiting: 1, starving: 1, largestN: 200,
				dryFrom: at(80), dryTo: at(100)},
			want: OK},
		{name: "a cause that explains it needs no such patience",
			state: with(func(s *bucketctl.State) { s.Effective.Capacity, s.Problems = 500, ahead }),
			f: facts{rows: []WorkerRow{shared("a", 1)}, waiting: 1, starving: 1, largestN: 200,
				dryFrom: at(80), dryTo: at(100)},
			want: Stuck, text: "20s", cause: ahead[0].Text, remedy: "R resets"},
		{name: "held, so nobody is stuck", state: held,
			f:    facts{rows: []WorkerRow{shared("a", 3)}, waiting: 3, starving: 3, dryFrom: at(0), dryTo: at(100)},
			want: Held, text: "4m anna", cause: "asked to", remedy: "H resumes"},
		{name: "a hold that has ended",
			state: with(func(s *bucketctl.State) { s.Hold = bucketctl.Hold{Active: true, Until: now} }),
			want:  Idle},
		{name: "a foreign bucket without refill: nobody knows who waits", state: foreign, f: facts{waiting: -1},
			want: Stuck, cause: ahead[0].Text, remedy: "R resets"},
		{name: "a debt that its own workers know of", f: facts{rows: []WorkerRow{shared("a", 0)}},
			state: with(func(s *bucketctl.State) { s.Problems = problem(bucketctl.ProblemDebt, "the level is -90000") }),
			want:  Idle},
		{name: "corrupt", f: facts{rows: []WorkerRow{silentRow("a", 10)}},
			state: with(func(s *bucketctl.State) { s.Problems = problem(bucketctl.ProblemCorrupt, "tokens is \"nan\"") }),
			want:  Corrupt, cause: "tokens is \"nan\"", remedy: "R resets"},
		{name: "a record that is none",
			state: with(func(s *bucketctl.State) { s.Problems = problem(bucketctl.ProblemRecord, "it is no hash") }),
			want:  Corrupt, cause: "it is no hash", remedy: ""},
		{name: "a window's log of a wrong type",
			state: with(func(s *bucketctl.State) { s.Problems = problem(bucketctl.ProblemWrongType, "its log is no sorted set") }),
			want:  Corrupt, cause: "its log is no sorted set", remedy: "R resets"},
		{name: "a key of a wrong type",
			state: bucketctl.State{Kind: bucketctl.KindWrongType, Type: "list"},
			want:  Corrupt, cause: "the key is a list, not a bucket", remedy: "R deletes"},
		{name: "one of two is silent, the other fell back",
			f:    facts{rows: []WorkerRow{silentRow("a", 58), fallen("b", 90)}},
			want: Silent, text: "1 of 2", cause: "a not heard of for 42s: down, or on its own share"},
		{name: "two of three fell back",
			f:    facts{rows: []WorkerRow{fallen("a", 80), shared("b", 0), fallen("c", 90)}},
			want: Fallback, text: "2 of 3", cause: "a: on its own share: Redis does not answer"},
		{name: "cooling down and held",
			state: func() bucketctl.State {
				s := held
				s.Cooldown = bucketctl.Cooldown{Until: at(141.2), By: "geo-3"}
				return s
			}(),
			want: Cooldown, text: "42s", cause: "geo-3 was told to pause until 14:34:21"},
		{name: "limits differ",
			f: facts{rows: []WorkerRow{declaring("a", bucketctl.PerMinute(300)),
				declaring("b", bucketctl.PerMinute(600)), declaring("c", bucketctl.PerSecond(5))}},
			want: Drift, text: "2 limits", cause: "600/min burst 30 in force (b), 300/min burst 15 (a, c)"},
		{name: "limits that differ by rounding do not",
			f: facts{rows: []WorkerRow{declaring("a", bucketctl.Limit{Capacity: 1, Rate: 0.1 + 0.2}),
				declaring("b", bucketctl.Limit{Capacity: 1, Rate: 0.3})}},
			want: Idle},
		{name: "someone waits and 90 % are granted",
			f: facts{rows: []WorkerRow{shared("a", 3)}, waiting: 3, granted: 9, used: 0.9}, want: FullUse},
		{name: "someone waits and less is granted",
			f: facts{rows: []WorkerRow{shared("a", 3)}, waiting: 3, granted: 8, used: 0.8}, want: OK},
		{name: "an override with an end",
			state: with(func(s *bucketctl.State) {
				s.Override = bucketctl.Override{Rate: 20, Until: at(100 + 26*60)}
				s.By, s.Reason = "anna", "backlog"
			}),
			want: Overridden, text: "26m", cause: "by anna: backlog"},
		{name: "one for ever", state: with(func(s *bucketctl.State) { s.Override.Rate = 20 }), want: Overridden},
		{name: "an override that has ended",
			state: with(func(s *bucketctl.State) { s.Override = bucketctl.Override{Rate: 20, Until: at(99)} }), want: Idle},
		{name: "tokens are granted", f: facts{granted: 1}, want: OK},
		{name: "in a window", state: bucketctl.State{Kind: bucketctl.KindWindow}, f: facts{granted: 1}, want: OK, text: "window"},
		{name: "somebody waits, and more is not known yet", f: facts{waiting: 3, granted: math.NaN()}, want: OK},
		{name: "one was, a moment ago", f: facts{lastUse: at(91)}, want: OK},
		{name: "for a slow bucket two minutes are a moment", state: slow, f: facts{lastUse: at(-20)}, want: OK},
		{name: "nothing for two hours", f: facts{lastUse: at(-7200)}, want: Idle, text: "2h"},
		{name: "foreign", state: bucketctl.State{Kind: bucketctl.KindForeign}, want: Foreign},
		{name: "foreign window", state: bucketctl.State{Kind: bucketctl.KindForeignWindow}, want: Foreign, text: "window"},
		{name: "unread", unread: true, want: Unread},
		{name: "unread, but a worker is silent", unread: true, f: facts{rows: []WorkerRow{silentRow("a", 50)}},
			want: Silent, text: "1 of 1", cause: "a not heard of for 50s: down, or on its own share"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := test.f
			f.now, f.read, f.state = now, !test.unread, &test.state
			if test.state.Kind == "" {
				f.state = &ordinary
			}
			got := describe(&f, judge(&f))
			if got.Code != test.want || got.Text != test.text {
				t.Errorf("got %s %q, want %s %q", got.Code.Word(), got.Text, test.want.Word(), test.text)
			}
			if got.Cause != test.cause || got.Remedy != test.remedy {
				t.Errorf("cause %q (%s), want %q (%s)", got.Cause, got.Remedy, test.cause, test.remedy)
			}
		})
	}
}

func TestSettleIsQuickToWorsenAndSlowToImprove(t *testing.T) {
	type step struct {
		at     float64
		judged Code
		prompt bool
		shown  Code
	}
	tests := []struct {
		name  string
		steps []step
	}{
		{"a worse state shows at once", []step{{0, OK, false, OK}, {1, Stuck, false, Stuck}}},
		{"a better one after 5 s", []step{
			{0, Silent, false, Silent}, {1, OK, false, Silent}, {5.9, OK, false, Silent}, {6, OK, false, OK}}},
		{"which begin anew when it gets bad again", []step{
			{0, Silent, false, Silent}, {1, OK, false, Silent}, {4, Silent, false, Silent},
			{5, OK, false, Silent}, {9, OK, false, Silent}, {10, OK, false, OK}}},
		{"whatever the better states are meanwhile", []step{
			{0, Silent, false, Silent}, {1, Idle, false, Silent}, {3, Drift, false, Silent}, {6, OK, false, OK}}},
		{"an operator's own change shows at once", []step{{0, Held, false, Held}, {1, Idle, true, Idle}}},
		{"a clock that goes back starts the wait anew", []step{
			{100, Stuck, false, Stuck}, {101, OK, false, Stuck}, {10, OK, false, Stuck}, {15, OK, false, OK}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var s settled
			for _, step := range test.steps {
				v, present := s.settle(verdict{code: step.judged}, at(step.at), step.prompt)
				if present {
					s.shown, s.known = Status{Code: v.code, Since: v.since}, true
				}
				if s.shown.Code != step.shown {
					t.Fatalf("at %v s: shows %s, want %s", step.at, s.shown.Code.Word(), step.shown.Word())
				}
			}
		})
	}
}

func TestSinceIsKnownOnlyOfWhatWasSeenToBegin(t *testing.T) {
	var s settled
	show := func(code Code, second float64) time.Time {
		v, _ := s.settle(verdict{code: code}, at(second), true)
		s.shown, s.known = Status{Code: v.code, Since: v.since}, true
		return v.since
	}
	if got := show(Drift, 0); !got.IsZero() {
		t.Errorf("a drift that was there from the start began at %v", got)
	}
	show(OK, 1)
	if got := show(Drift, 2); !got.Equal(at(2)) {
		t.Errorf("a drift seen to begin at 2 s began at %v", got)
	}
	if got := show(Drift, 9); !got.Equal(at(2)) {
		t.Errorf("7 s later it began at %v", got)
	}
}
