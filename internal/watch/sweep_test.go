package watch

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketop/bucketctl"
)

func names(rows []Bucket) []string {
	out := make([]string, 0, len(rows))
	for _, row := range rows {
		out = append(out, row.Key)
	}
	return out
}

func TestTheRegistryIsSweptInPagesAndAgain(t *testing.T) {
	d := newDesk(t, Config{})
	for i := range 12_000 {
		d.redis.registry = append(d.redis.registry, fmt.Sprintf("b%05d", i))
	}
	s := d.look(0)
	if want := (Progress{firstPages * firstCount, 12_000}); s.Known != want.Read || s.Sweep != 0 || s.First != want {
		t.Errorf("after one refresh %d are known, the sweep took %v, it is at %+v", s.Known, s.Sweep, s.First)
	}
	d.look(1)
	s = d.look(2)
	if s.Known != 12_000 || s.Sweep != 2*time.Second+sweepRest || s.First != (Progress{}) {
		t.Errorf("after three %d are known, the sweep took %v, it is at %+v", s.Known, s.Sweep, s.First)
	}
	before := d.redis.calls["List"]
	d.look(3)
	d.look(6)
	if got := d.redis.calls["List"] - before; got != 0 {
		t.Errorf("%d pages read within the rest after a sweep", got)
	}
	d.redis.do(func() { d.redis.registry = d.redis.registry[1:] })
	for second := 7; second < 7+24; second++ {
		s = d.look(float64(second))
	}
	if got := d.redis.calls["List"] - before; got != 24 {
		t.Errorf("%d pages read in 24 refreshes, want one each", got)
	}
	if s.First != (Progress{}) {
		t.Errorf("a later sweep is taken for the first: %+v", s.First)
	}
	if s.Known != 11_999 || slices.Contains(names(s.Buckets), "b00000") {
		t.Errorf("%d are known, or the one that is gone still is", s.Known)
	}
}

func TestABucketDeletedUnderTheCursorStaysUntilItIsOffScreen(t *testing.T) {
	d := newDesk(t, Config{})
	d.state("k", full(5))
	d.w.Show([]string{"k"})
	d.look(0)
	d.redis.do(func() { delete(d.redis.states, "k"); d.redis.registry = nil })
	s := d.look(1)
	if row := d.row(s, "k"); row.State.Kind != bucketctl.KindNone {
		t.Errorf("one refresh later it is a %s", row.State.Kind)
	}
	d.state("k", full(5))
	if row := d.row(d.look(2), "k"); row.State.Kind != bucketctl.KindBucket {
		t.Errorf("made anew it is a %s", row.State.Kind)
	}
	d.redis.do(func() { delete(d.redis.states, "k"); d.redis.registry = nil })
	d.w.Show(nil)
	for second := 3; second < 90; second++ {
		s = d.look(float64(second))
	}
	if len(s.Buckets) != 0 || s.Known != 0 || len(s.Counts) != 0 || len(d.w.model.all) != 0 {
		t.Errorf("a minute after it left the screen: %q, known %d, counts %v", names(s.Buckets), s.Known, s.Counts)
	}
}

func TestForeignKeysAreScannedInSteps(t *testing.T) {
	d := newDesk(t, Config{Match: "*"})
	for i := range 2500 {
		d.redis.foreign = append(d.redis.foreign, bucketctl.Foreign{Key: fmt.Sprintf("f%04d", i), Kind: bucketctl.KindForeign})
	}
	for second := range 3 {
		d.look(float64(second))
		if got := d.redis.calls["Scan"]; got != second+1 {
			t.Fatalf("%d steps in %d refreshes", got, second+1)
		}
	}
	d.look(20)
	if got := d.redis.calls["Scan"]; got != 3 {
		t.Errorf("scanned again within the rest: %d steps", got)
	}
	d.redis.do(func() { d.redis.foreign = d.redis.foreign[:1] })
	if s := d.look(40); s.Known != 1 {
		t.Errorf("%d known after a second scan that met one", s.Known)
	}
}

func TestEveryByteOfAKeyComesThrough(t *testing.T) {
	d := newDesk(t, Config{})
	keys := []string{"a\x00b", "\xff\xfe", "x\x1b[2J", " ", "käse{日本}"}
	for _, key := range keys {
		d.state(key, full(0))
	}
	d.w.Show(keys)
	d.look(0)
	got := names(d.look(1).Buckets)
	slices.Sort(got)
	slices.Sort(keys)
	if !slices.Equal(got, keys) {
		t.Errorf("got %q, want %q", got, keys)
	}
}

func TestWhatRedisRefusesToReadIsSaidAndTheRestGoesOn(t *testing.T) {
	d := newDesk(t, Config{})
	for i := range 50 {
		d.state(fmt.Sprintf("b%02d", i), full(0))
	}
	d.redis.locked["b07"] = true
	d.redis.refuse["Events"] = fmt.Errorf("%w: read events: NOPERM no", bucketctl.ErrDenied)
	d.w.Show(slices.Sorted(maps.Keys(d.redis.states)))
	s := d.look(0)
	if s.Link.State != Live {
		t.Fatalf("the link is %+v", s.Link)
	}
	tried := d.redis.tried["b07"]
	s = d.look(1)
	for _, row := range s.Buckets {
		if want := row.Key != "b07"; !row.State.At.IsZero() != want {
			t.Errorf("%s: read %v, want %v", row.Key, !want, want)
		}
	}
	if row := d.row(s, "b07"); row.State.Kind != bucketctl.KindDenied || row.Status.Code != Unread || row.Status.Text != "denied" {
		t.Errorf("the one that is refused: %+v, a %s", row.Status, row.State.Kind)
	}
	var texts []string
	for _, a := range s.Alerts {
		texts = append(texts, a.Text)
	}
	want := []string{"can't read events: the Redis user lacks a permission", "can't read some buckets: the Redis user lacks a permission"}
	if !slices.Equal(texts, want) {
		t.Errorf("alerts %q, want %q", texts, want)
	}
	if d.redis.tried["b07"] != tried {
		t.Error("what was refused is asked for again at once")
	}
	d.redis.locked["b07"] = false
	delete(d.redis.refuse, "Events")
	d.look(32)
	if s = d.look(63); len(s.Alerts) != 0 || d.row(s, "b07").State.At.IsZero() {
		t.Errorf("once allowed: %+v, read at %v", s.Alerts, d.row(s, "b07").State.At)
	}
}

func TestARedisThatRefusesEverythingIsLost(t *testing.T) {
	d := newDesk(t, Config{})
	for _, method := range []string{"Server", "Workers", "Reports", "Events", "List", "GetMany"} {
		d.redis.refuse[method] = fmt.Errorf("%w: x: NOAUTH Authentication required", bucketctl.ErrDenied)
	}
	if s := d.look(0); s.Link.State != Lost || s.Link.Err != "Redis wants a password" {
		t.Errorf("the link is %+v", s.Link)
	}
}

// Where a password was changed under a running console, asking bucket by bucket
// would only hammer Redis with attempts to connect.
func TestARedisThatRefusesEverythingIsNotAskedBucketByBucket(t *testing.T) {
	d := newDesk(t, Config{})
	for i := range 50 {
		d.state(fmt.Sprintf("b%02d", i), full(0))
	}
	d.w.Show(slices.Sorted(maps.Keys(d.redis.states)))
	d.look(0)
	for _, method := range []string{"Server", "Workers", "Reports", "Events", "List", "GetMany"} {
		d.redis.refuse[method] = fmt.Errorf("%w: x: WRONGPASS", bucketctl.ErrDenied)
	}
	before := d.redis.calls["GetMany"]
	if s := d.look(1); s.Link.State != Lost {
		t.Errorf("the link is %+v", s.Link)
	}
	if asked := d.redis.calls["GetMany"] - before; asked != 1 {
		t.Errorf("asked for states %d times, want once", asked)
	}
}

func TestARestartIsNewsForAMinute(t *testing.T) {
	d := newDesk(t, Config{})
	d.state("k", full(100))
	d.redis.happen(bucketctl.EventReset, "k", "anna")
	d.look(0)
	d.redis.do(func() {
		d.redis.server.RunID, d.redis.server.Uptime = "run-2", 2*time.Second
		d.redis.events = nil
		d.redis.states["k"] = full(3)
	})
	s := d.look(6)
	if len(s.Alerts) != 1 || !strings.HasPrefix(s.Alerts[0].Text, "Redis restarted 2s ago") {
		t.Errorf("alerts %+v", s.Alerts)
	}
	d.look(7)
	if got := d.row(d.w.Snapshot(), "k").Granted; got < 0 {
		t.Errorf("granted %v after a restart", got)
	}
	d.redis.happen(bucketctl.EventHold, "k", "anna")
	if s = d.look(8); len(s.Events) != 1 || s.Events[0].Kind != bucketctl.EventHold {
		t.Errorf("events of the new run: %+v", s.Events)
	}
	if s = d.look(70); len(s.Alerts) != 0 {
		t.Errorf("a minute later: %+v", s.Alerts)
	}
}

func TestAnotherServerOfAClusterIsNoRestart(t *testing.T) {
	d := newDesk(t, Config{})
	for i := range 6 {
		d.redis.do(func() {
			d.redis.server.RunID = fmt.Sprintf("run-%d", i%3)
			d.redis.server.Uptime = d.now.Sub(epoch) + 20*time.Second // young, but older than the console
		})
		if s := d.look(float64(i * 6)); len(s.Alerts) != 0 {
			t.Fatalf("alerts %+v", s.Alerts)
		}
	}
}

func TestAfterALongPauseReportsAreReadFromTheNewest(t *testing.T) {
	d := newDesk(t, Config{})
	d.look(0)
	d.look(60)
	if got := d.redis.calls["Workers"]; got != 1 {
		t.Fatalf("read from the newest %d times within a minute", got)
	}
	for i := range 9000 {
		d.now = at(60 + float64(i)/10)
		d.redis.say(worker("geo-1", draws("k", float64(i), 0)))
	}
	s := d.look(960)
	if len(s.Workers) != 1 || !s.Workers[0].Seen.Equal(d.redis.reports[8999].Seen) {
		t.Errorf("after a pause of 15 minutes: %+v", s.Workers)
	}
}

func TestAPolicyThatEvictsBucketsIsSaid(t *testing.T) {
	tests := []struct {
		policy string
		memory int64
		want   string
	}{
		{"noeviction", 1 << 20, ""},
		{"allkeys-lru", 0, ""}, // without a bound nothing is evicted
		{"volatile-ttl", 1 << 20, "maxmemory-policy volatile-ttl may evict buckets, which then start full"},
		{"allkeys-lru", 1 << 20, "maxmemory-policy allkeys-lru may evict buckets, which then start full"},
	}
	for _, test := range tests {
		d := newDesk(t, Config{})
		d.redis.server.Eviction, d.redis.server.MaxMemory = test.policy, test.memory
		got := ""
		if s := d.look(0); len(s.Alerts) > 0 {
			got = s.Alerts[0].Text
		}
		if got != test.want {
			t.Errorf("%s, %d bytes: %q, want %q", test.policy, test.memory, got, test.want)
		}
	}
	d := newDesk(t, Config{})
	d.redis.server.Eviction, d.redis.server.MaxMemory = "allkeys-lru", 1<<20
	d.look(0)
	d.redis.do(func() { d.redis.server.Evicted = 12 })
	d.look(6)
	if s := d.look(10); !strings.HasSuffix(s.Alerts[0].Text, "; 12 keys evicted, the last 4s ago") {
		t.Errorf("alerts %+v", s.Alerts)
	}
}

func TestWhatTheConsoleCostsIsTold(t *testing.T) {
	d := newDesk(t, Config{})
	d.state("k", full(0))
	d.w.Show([]string{"k"})
	for second := range 20 {
		d.look(float64(second))
	}
	cost := d.w.Snapshot().Cost
	// Reports, events, and five commands for one bucket, each second; the server and
	// the registry now and then.
	if cost.Calls < 7 || cost.Calls > 9 || !math.IsNaN(cost.Bytes) {
		t.Errorf("cost %+v", cost)
	}
	calls := int64(0)
	d = newDesk(t, Config{Count: func() (int64, int64) { calls += 20; return calls, calls * 100 }})
	for second := range 20 {
		d.look(float64(second))
	}
	if cost := d.w.Snapshot().Cost; !same(cost.Calls, 20) || !same(cost.Bytes, 2000) {
		t.Errorf("counted cost %+v", cost)
	}
}

func TestEventsKeepTheNewestThousand(t *testing.T) {
	d := newDesk(t, Config{})
	for range 1500 {
		d.redis.happen(bucketctl.EventCooldown, "k", "geo-1")
	}
	if s := d.look(0); len(s.Events) != maxEvents || s.Events[maxEvents-1].ID != "1500" {
		t.Fatalf("%d events", len(s.Events))
	}
	old := d.w.Snapshot().Events
	d.redis.happen(bucketctl.EventReset, "k", "anna")
	s := d.look(1)
	if len(s.Events) != maxEvents || s.Events[maxEvents-1].ID != "1501" || old[maxEvents-1].ID != "1500" {
		t.Errorf("%d events up to %s", len(s.Events), s.Events[len(s.Events)-1].ID)
	}
}
