package watch

import (
	"context"
	"math"
	"testing"
	"time"

	"bucketop/bucketctl"
)

// apart is a row of a worker on its own share of a bucket of 10/s.
func apart(name string, share float64) WorkerRow {
	row := fallen(name, 90)
	row.Share = share
	return row
}

func TestSharesExceedTheLimitOnlyBesideOthers(t *testing.T) {
	limit := bucketctl.PerSecond(10)
	unbounded := apart("a", 0)
	unbounded.Mode = bucketctl.ModeOpen
	closed := silentRow("a", 50)
	closed.Fallback = bucketctl.FallbackClosed
	for _, test := range []struct {
		name string
		rows []WorkerRow
		want []float64
	}{
		{"one of two is apart", []WorkerRow{apart("a", 5), shared("b", 0)}, []float64{5, 0}},
		{"both are: together they make the limit", []WorkerRow{apart("a", 5), apart("b", 5)}, []float64{0, 0}},
		{"a silent one counts as apart", []WorkerRow{apart("a", 5), silentRow("b", 50)}, []float64{0, 0}},
		{"each thinks that it is alone", []WorkerRow{apart("a", 10), apart("b", 10)}, []float64{5, 5}},
		{"one lets everybody through", []WorkerRow{unbounded, shared("b", 0)}, []float64{math.Inf(1), 0}},
		{"also where all are apart", []WorkerRow{unbounded, apart("b", 5)}, []float64{math.Inf(1), 5}},
		{"closed", []WorkerRow{closed, shared("b", 0)}, []float64{0, 0}},
		{"a silent one that never told its share", []WorkerRow{silentRow("a", 50), shared("b", 0)}, []float64{5, 0}},
		{"down to less than a worker's share: nobody else", []WorkerRow{silentRow("a", 50)}, []float64{0}},
	} {
		markOver(test.rows, limit)
		for i, want := range test.want {
			if got := test.rows[i].Over; got != want && !same(got, want) {
				t.Errorf("%s: worker %d may exceed by %v, want %v", test.name, i, got, want)
			}
		}
	}
}

func TestAFallbackSaysWhyHowAndWhatItCosts(t *testing.T) {
	d := newDesk(t, Config{})
	alone := draws("k", 0, 0)
	alone.Mode, alone.Reason, alone.Since, alone.Share = bucketctl.ModeShare, "NOPERM: no EVALSHA", at(-90), 2.5
	d.redis.say(worker("geo-1", alone, draws("other", 0, 2)))
	d.redis.say(worker("geo-2", draws("k", 0, 0)))
	s := d.look(0)
	w := s.Workers[0]
	want := "on its own share on 1 of its 2 buckets, +2.5/s above the limit of k: NOPERM: no EVALSHA"
	if w.Name != "geo-1" || w.State != WorkerFallback || !w.Since.Equal(at(-90)) || w.Why != want {
		t.Errorf("%s since %v: %s", w.State.Word(), w.Since, w.Why)
	}
	if s.Alerts[0].Text != "FALLBACK 1m: "+want || w.Worst().Key != "k" {
		t.Errorf("alerts %+v, the worst is %s", s.Alerts, w.Worst().Key)
	}
	on, _ := w.On("k")
	if on.Why != "on its own share, +2.5/s above limit: NOPERM: no EVALSHA" || len(on.Rows) != 1 {
		t.Errorf("on that bucket: %s", on.Why)
	}
	if on, _ := w.On("other"); on.State != WorkerShared || on.Why != "" {
		t.Errorf("on the other: %s, %s", on.State.Word(), on.Why)
	}
	if _, found := w.On("unknown"); found {
		t.Error("on a bucket that it does not draw from")
	}
}

func TestWorkersStandWorstFirst(t *testing.T) {
	d := newDesk(t, Config{})
	d.redis.say(worker("silent"))
	gone := worker("gone")
	gone.Closing = true
	d.redis.say(gone)
	d.now = at(20)
	local := draws("k", 0, 0)
	local.Mode, local.Since = bucketctl.ModeClosed, at(10)
	longer := local
	longer.Since = at(5)
	d.redis.say(worker("b-shared", draws("k", 0, 0)))
	d.redis.say(worker("a-shared", draws("k", 0, 0)))
	d.redis.say(worker("local", local))
	d.redis.say(worker("local-for-longer", longer))
	want := []string{"silent", "local-for-longer", "local", "a-shared", "b-shared", "gone"}
	s := d.look(20)
	for i, name := range want {
		if i >= len(s.Workers) || s.Workers[i].ID != name {
			t.Fatalf("place %d is not %s: %+v", i, name, s.Workers)
		}
	}
	if rate, waiting, _ := s.Workers[0].Totals(); !math.IsNaN(rate) || waiting != -1 {
		t.Errorf("a silent worker grants %v/s, %d wait in it: who says so?", rate, waiting)
	}
}

func TestCrewReadsOnceWithRates(t *testing.T) {
	redis := newFakeRedis(func() time.Time { return at(10) })
	for second := range 11 {
		w := worker("geo-1", draws("k", float64(second*3), 2))
		w.Seen = at(float64(second))
		redis.reports = append(redis.reports, w)
	}
	silent := worker("geo-2", draws("k", 0, 0))
	silent.Seen = at(-60)
	redis.reports = append([]bucketctl.Worker{silent}, redis.reports...)
	crew, now, err := Crew(context.Background(), fromTime{redis})
	if err != nil || !now.Equal(at(10)) || len(crew) != 2 {
		t.Fatalf("%v at %v: %+v", err, now, crew)
	}
	rate, waiting, _ := crew[1].Totals()
	if crew[0].State != WorkerSilent || !same(rate, 3) || waiting != 2 {
		t.Errorf("first %s; second grants %v/s, %d wait", crew[0].State.Word(), rate, waiting)
	}
	redis.down = errDown
	if _, _, err := Crew(context.Background(), fromTime{redis}); err == nil {
		t.Error("no error of a Redis that is down")
	}
}

// fromTime reads all reports whatever ID they are to begin after: those of the
// fake are no times.
type fromTime struct{ *fakeRedis }

func (f fromTime) Reports(ctx context.Context, _ string, most int) ([]bucketctl.Worker, string, error) {
	return f.fakeRedis.Reports(ctx, "0-0", most)
}

func TestACooldownHasALine(t *testing.T) {
	d := newDesk(t, Config{})
	cooling := full(0)
	cooling.Cooldown = bucketctl.Cooldown{Until: at(42), By: "geo-3@box/17-abc"}
	d.state("k", cooling)
	d.redis.say(worker("geo-3", draws("k", 0, 0)))
	s := d.look(0)
	if want := "COOLDOWN 42s left: geo-3 was told to pause until 14:32:42"; len(s.Alerts) != 1 || s.Alerts[0].Text != want || s.Alerts[0].Key != "k" {
		t.Errorf("alerts %+v, want %q", s.Alerts, want)
	}
}
