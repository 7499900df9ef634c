package watch

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"bucketop/bucketctl"
)

func TestReportsTellWhoDrawsAndHowFast(t *testing.T) {
	d := newDesk(t, Config{})
	d.redis.say(worker("geo-1", draws("k", 100, 2)))
	d.redis.say(worker("geo-2", draws("k", 50, 1), draws("other", 0, 0)))
	s := d.look(0)
	row := d.row(s, "k")
	if row.Waiting != 3 || row.HeadWait != 2*time.Second || !math.IsNaN(row.Granted) || len(row.Workers) != 2 {
		t.Fatalf("after one report: %+v", row)
	}
	d.now = at(2)
	d.redis.say(worker("geo-1", draws("k", 110, 0)))
	d.redis.say(worker("geo-2", draws("k", 54, 5))) // no longer draws from other
	s = d.look(2)
	row = d.row(s, "k")
	if row.Waiting != 5 || !same(row.Granted, 7) || !same(row.Workers[0].Rate, 5) || !same(row.Workers[1].Rate, 2) {
		t.Errorf("after two: %+v", row)
	}
	if got := slices.IndexFunc(s.Buckets, func(b Bucket) bool { return b.Key == "other" && len(b.Workers) > 0 }); got >= 0 {
		t.Error("a worker that left a bucket is still among its workers")
	}
	if row := d.row(d.look(3), "k"); row.Waiting != 5 || !row.Seen.Equal(at(2)) {
		t.Errorf("a second later without reports: waiting %d, seen %v", row.Waiting, row.Seen)
	}
}

func TestARestartedWorkerHasNoNegativeRate(t *testing.T) {
	d := newDesk(t, Config{})
	d.redis.say(worker("geo-1", draws("k", 1000, 0)))
	d.look(0)
	again := worker("geo-1", draws("k", 1200, 0))
	again.Start = at(1)
	d.now = at(2)
	d.redis.say(again)
	if row := d.row(d.look(2), "k"); !math.IsNaN(row.Workers[0].Rate) {
		t.Errorf("rate over a restart: %v", row.Workers[0].Rate)
	}
}

func TestARestartedProcessIsNotSilent(t *testing.T) {
	d := newDesk(t, Config{})
	first := worker("run-1", draws("k", 0, 0))
	first.PID = 7
	d.redis.say(first)
	d.look(0)
	second := first
	second.ID, second.Start = "run-2", at(1)
	for ; d.now.Before(at(10)); d.now = d.now.Add(2 * time.Second) {
		d.redis.say(second)
	}
	s := d.look(10)
	if len(s.Workers) != 2 || s.Workers[0].ID != "run-2" || s.Workers[1].State != WorkerGone || s.Workers[1].Why != "its process was started anew" || len(d.row(s, "k").Workers) != 1 || len(s.Alerts) != 0 {
		t.Errorf("workers %+v, alerts %+v", s.Workers, s.Alerts)
	}
}

func TestTwoClientsOfOneProcessAreTwoWorkers(t *testing.T) {
	d := newDesk(t, Config{})
	for second := range 20 {
		d.now = at(float64(second))
		first, other := worker("run-1", draws("k", 0, 1)), worker("run-2", draws("k", 0, 2))
		other.Start = at(-1)
		d.redis.say(first)
		d.redis.say(other)
		if s := d.look(float64(second)); len(s.Workers) != 2 || d.row(s, "k").Waiting != 3 {
			t.Fatalf("at %d s: %+v", second, s.Workers)
		}
	}
}

func TestAWorkerThatShutsDownInOrderIsGone(t *testing.T) {
	d := newDesk(t, Config{})
	d.redis.registry = []string{"k"}
	d.redis.say(worker("geo-1", draws("k", 0, 3)))
	d.look(0)
	last := worker("geo-1", draws("k", 0, 0))
	last.Closing = true
	d.now = at(1)
	d.redis.say(last)
	s := d.look(1)
	if len(s.Workers) != 1 || s.Workers[0].State != WorkerGone || !s.Workers[0].Since.Equal(at(1)) || s.Workers[0].Name != "geo-1" {
		t.Errorf("workers %+v", s.Workers)
	}
	if s := d.look(1 + 901); len(s.Workers) != 0 {
		t.Errorf("a quarter of an hour later: %+v", s.Workers)
	}
	if row := d.row(d.look(903), "k"); row.Waiting != -1 || len(row.Workers) != 0 || row.Status.Code != Idle {
		t.Errorf("row %+v", row)
	}
}

func unboundedOn(b bucketctl.WorkerBucket) bucketctl.WorkerBucket {
	b.Fallback = bucketctl.FallbackOpen
	return b
}

func TestASilentWorkerAndWhatItMayDraw(t *testing.T) {
	share := draws("geocode:{acme}:eu", 0, 0)
	share.Limit = bucketctl.PerMinute(600)
	share.Share = 2.5
	unshared := share
	unshared.Share = 0
	second := draws("llm:{gpt}:tpm", 0, 0)
	second.Share = 0.1
	with := func(policy bucketctl.Policy, rows ...bucketctl.WorkerBucket) bucketctl.Worker {
		w := worker("geo-7", rows...)
		w.Fallback = policy
		return w
	}
	tests := []struct {
		name string
		w    bucketctl.Worker
		over float64 // of its first bucket
		text string
	}{
		{"its last share", with(bucketctl.FallbackShare, share), 2.5,
			"SILENT 42s: down, or on its own share, +150/min above limit"},
		{"or the rate by all workers", with(bucketctl.FallbackShare, unshared), 5,
			"SILENT 42s: down, or on its own share, +300/min above limit"},
		{"the larger part of two", with(bucketctl.FallbackShare, share, second), 2.5,
			"SILENT 42s: down, or on its own share, +150/min above the limit of geocode:{acme}:eu and 1 more"},
		{"closed: nothing", with(bucketctl.FallbackClosed, share), 0,
			"SILENT 42s: down, or cut off and letting nobody through"},
		{"open: no bound", with(bucketctl.FallbackOpen, share), math.Inf(1),
			"SILENT 42s: down, or cut off and letting everybody through"},
		{"open on one of two", with(bucketctl.FallbackShare, unboundedOn(share), second), math.Inf(1),
			"SILENT 42s: down, or cut off and letting everybody through on geocode:{acme}:eu, +0.1/s above the limit of llm:{gpt}:tpm"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, Config{})
			d.redis.say(test.w)
			d.now = at(40)
			other := worker("geo-1", share, second)
			d.redis.say(other)
			s := d.look(42)
			w := s.Workers[0]
			if w.State != WorkerSilent || !w.Since.Equal(at(0)) || w.Rows[0].Over != test.over || d.row(s, share.Key).Workers[1].Over != test.over {
				t.Errorf("%s since %v, over by %v", w.State.Word(), w.Since, w.Rows[0].Over)
			}
			if len(s.Alerts) != 1 || s.Alerts[0].Text != test.text || s.Alerts[0].Worker != "geo-7" {
				t.Errorf("alerts %+v", s.Alerts)
			}
			if got := d.row(s, share.Key).Status; got.Code != Silent || got.Text != "1 of 2" {
				t.Errorf("the bucket is %s %s", got.Code.Word(), got.Text)
			}
		})
	}
}

func TestASilentWorkerIsHeardAgainAndForgottenAfterAQuarter(t *testing.T) {
	d := newDesk(t, Config{})
	d.redis.say(worker("geo-1", draws("k", 0, 0)))
	d.look(0)
	if s := d.look(6); s.Workers[0].State == WorkerSilent {
		t.Error("silent after exactly 3 intervals")
	}
	if s := d.look(6.1); s.Workers[0].State != WorkerSilent || !d.row(s, "k").Workers[0].Silent {
		t.Error("not silent after more than 3 intervals")
	}
	d.now = at(8)
	d.redis.say(worker("geo-1", draws("k", 0, 0)))
	if s := d.look(8); s.Workers[0].State == WorkerSilent || d.row(s, "k").Workers[0].Silent {
		t.Error("silent after a report")
	}
	if s := d.look(8 + 901); len(s.Workers) != 0 {
		t.Error("not forgotten after 15 minutes")
	}
}

func TestAnOutageOfManyIsOneLine(t *testing.T) {
	d := newDesk(t, Config{})
	for i := range 20 {
		b := draws("k", 0, 0)
		b.Mode, b.Reason, b.Since, b.Share = bucketctl.ModeShare, "Redis does not answer", at(float64(-i)), 0.5
		d.redis.say(worker(fmt.Sprintf("geo-%02d", i), b))
	}
	s := d.look(0)
	want := "20 of 20 workers FALLBACK 19s: on their own: Redis does not answer"
	if len(s.Alerts) != 1 || s.Alerts[0].Text != want {
		t.Errorf("alerts %+v, want %q", s.Alerts, want)
	}
	if got := d.row(s, "k").Status; got.Code != Fallback || got.Text != "20 of 20" {
		t.Errorf("the bucket is %s %s", got.Code.Word(), got.Text)
	}
}

// TestManyTogether: what many may exceed a limit by adds up, of each bucket by
// itself.
func TestManyTogether(t *testing.T) {
	d := newDesk(t, Config{})
	for i := range 4 {
		k, other := draws("k", 0, 0), draws("other", 0, 0)
		k.Share, other.Share = 2, 1
		w := worker(fmt.Sprintf("geo-%d", i), k, other)
		if i == 3 {
			w.Fallback = bucketctl.FallbackOpen
		}
		d.redis.say(w)
	}
	d.now = at(10)
	d.redis.say(worker("geo-4", draws("k", 0, 0), draws("other", 0, 0)))
	s := d.look(10)
	want := "4 of 5 workers SILENT 10s: down, or on their own, +6/s above the limit of k and 1 more, 1 letting everybody through"
	if len(s.Alerts) != 1 || s.Alerts[0].Text != want || s.Workers[0].ID != "geo-3" {
		t.Errorf("alerts %+v, want %q; the worst is %s", s.Alerts, want, s.Workers[0].ID)
	}
}

func TestLocalGrantsCountBesideThoseOfRedis(t *testing.T) {
	d := newDesk(t, Config{})
	for second := range 7 {
		d.now = at(float64(second))
		d.state("k", full(float64(second*6)))
		local := draws("k", float64(second*2), 0)
		local.Mode, local.Share = bucketctl.ModeShare, 2
		d.redis.say(worker("geo-1", draws("k", float64(second*6), 0)))
		d.redis.say(worker("geo-2", local))
		d.w.Show([]string{"k"})
		d.look(float64(second))
	}
	if got := d.row(d.w.Snapshot(), "k"); !same(got.Granted, 8) || !same(got.Used, 0.8) {
		t.Errorf("granted %v, used %v", got.Granted, got.Used)
	}
}

// TestWhoIsNotListenedToIsNotSilent: a console that may no longer read reports
// says so, and accuses nobody.
func TestWhoIsNotListenedToIsNotSilent(t *testing.T) {
	d := newDesk(t, Config{})
	d.redis.say(worker("geo-1", draws("k", 0, 0)))
	d.look(0)
	d.redis.do(func() { d.redis.refuse["Reports"] = bucketctl.ErrDenied })
	s := d.look(60)
	if s.Workers[0].State != WorkerShared || len(s.Alerts) != 1 || s.Alerts[0].Text != "can't read reports: Redis refuses" {
		t.Errorf("%s, alerts %+v", s.Workers[0].State.Word(), s.Alerts)
	}
}
