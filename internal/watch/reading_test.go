package watch

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/schema"
)

// crowdOf gives the desk n idle buckets, known and read once.
func crowdOf(d *desk, n int) {
	for i := range n {
		d.state(fmt.Sprintf("b%05d", i), full(0))
	}
	d.look(-2)
	for i := 0; i < n; i += perRound {
		d.look(-1.5 + float64(i)/float64(n))
	}
}

func TestOnlyCallersThatAskRedisAreStuck(t *testing.T) {
	d := newDesk(t, Config{})
	for second := range 30 {
		d.now = at(float64(second))
		d.state("k", full(100))
		local := draws("k", 7, 3) // its own share may be small: waiting is no standstill
		local.Mode, local.Since, local.Share = bucketctl.ModeShare, at(0), 0.1
		d.redis.say(worker("geo-1", local))
		if s := d.look(float64(second)); d.row(s, "k").Status.Code == Stuck || d.row(s, "k").Waiting != 3 {
			t.Fatalf("at %d s: %+v", second, d.row(s, "k"))
		}
	}
}

func TestTimeUnderAHoldIsNoStandstill(t *testing.T) {
	d := newDesk(t, Config{})
	for second := range 40 {
		d.now = at(float64(second))
		s := full(100)
		if second < 20 {
			s.Hold = bucketctl.Hold{Active: true, Until: at(20), By: "anna"}
		}
		d.state("k", s)
		d.redis.say(worker("geo-1", draws("k", 100, 3)))
		code := d.row(d.look(float64(second)), "k").Status.Code
		if want := second >= 24; (code == Stuck) != want { // the hold was last in force at 19 s
			t.Fatalf("at %d s: %s", second, code.Word())
		}
	}
}

func TestWhereSomebodyWaitsIsReadEachTimeOutOfSight(t *testing.T) {
	d := newDesk(t, Config{})
	crowdOf(d, 3000)
	d.now = at(0)
	busy := worker("geo-1", draws("b02999", 0, 3))
	busy.Interval = time.Minute
	d.redis.say(busy)
	for second := range 10 {
		d.look(float64(second))
	}
	if got := d.redis.tried["b02999"]; got < 10 {
		t.Errorf("read %d times in 10 refreshes", got)
	}
}

func TestWhatAnEventNamesIsReadInTheSameRefresh(t *testing.T) {
	d := newDesk(t, Config{})
	crowdOf(d, 3000)
	held := full(0)
	held.Hold = bucketctl.Hold{Active: true, At: at(1), By: "anna"}
	d.now = at(1)
	d.state("b02999", held)
	d.redis.happen(bucketctl.EventHold, "b02999", "anna")
	if s := d.look(1); s.Buckets[0].Key != "b02999" || s.Buckets[0].Status.Code != Held {
		t.Errorf("first is %+v", s.Buckets[0].Status)
	}
}

func TestFieldsAsStoredAreKeptForTheScreenOnly(t *testing.T) {
	d := newDesk(t, Config{})
	for _, key := range []string{"seen", "unseen"} {
		s := full(0)
		s.Raw = map[string]string{schema.FieldTs: fmt.Sprint(at(-7300).Unix())}
		d.state(key, s)
	}
	d.w.Show([]string{"seen"})
	d.look(0)
	s := d.look(1)
	if d.row(s, "seen").State.Raw == nil || d.row(s, "unseen").State.Raw != nil {
		t.Error("fields are kept of the wrong bucket")
	}
	for _, key := range []string{"seen", "unseen"} {
		if got := d.row(s, key).Status; got.Code != Idle || got.Text != "2h" {
			t.Errorf("%s is %s %q by its stored time, want idle 2h", key, got.Code.Word(), got.Text)
		}
	}
}

func TestManyReportsAreReadInBoundedPages(t *testing.T) {
	d := newDesk(t, Config{})
	d.look(0)
	for i := range 12_500 {
		d.redis.say(worker(fmt.Sprintf("geo-%d", i%10), draws("k", float64(i), 0)))
		d.now = d.now.Add(time.Millisecond)
	}
	before := d.redis.calls["Reports"]
	d.look(13)
	if got := d.redis.calls["Reports"] - before; got != maxReportPages {
		t.Errorf("%d pages in one refresh, want %d", got, maxReportPages)
	}
	d.look(14)
	d.look(15)
	newest := time.Time{}
	for _, w := range d.w.Snapshot().Workers {
		newest = laterOf(newest, w.Seen)
	}
	if want := at(12.499); !newest.Equal(want) {
		t.Errorf("after three refreshes the newest report is of %v, want %v", newest, want)
	}
}

func TestASlowLinkGoesWithoutSweeps(t *testing.T) {
	d := newDesk(t, Config{Match: "*"})
	d.state("k", full(0))
	slow := &slowReader{fakeRedis: d.redis, desk: d}
	d.w.reader = slow
	s := d.look(0)
	if d.redis.calls["List"] != 0 || d.redis.calls["Scan"] != 0 {
		t.Errorf("calls %v", d.redis.calls)
	}
	if s.Link.State != Live || s.Link.RTT != 400*time.Millisecond || s.Cost.Refresh < time.Second {
		t.Errorf("link %+v, cost %+v", s.Link, s.Cost)
	}
}

// slowReader takes 400 ms of the desk's clock for each of two readings.
type slowReader struct {
	*fakeRedis
	desk *desk
}

func (r *slowReader) wait() { r.desk.now = r.desk.now.Add(400 * time.Millisecond) }

func (r *slowReader) Server(ctx context.Context) (bucketctl.Server, error) {
	r.wait()
	return r.fakeRedis.Server(ctx)
}

func (r *slowReader) Reports(ctx context.Context, after string, most int) ([]bucketctl.Worker, string, error) {
	r.wait()
	return r.fakeRedis.Reports(ctx, after, most)
}

func (r *slowReader) Workers(ctx context.Context) ([]bucketctl.Worker, time.Time, error) {
	r.wait()
	return r.fakeRedis.Workers(ctx)
}

func (r *slowReader) Events(ctx context.Context, q bucketctl.EventQuery) ([]bucketctl.Event, error) {
	r.wait()
	return r.fakeRedis.Events(ctx, q)
}
