package watch

import (
	"testing"
	"time"

	"bucketop/bucketctl"
)

func outageEvents(since, lasted float64, local string) (fallback, back bucketctl.Event) {
	began := at(since).Format(time.RFC3339Nano)
	length := time.Duration(lasted * float64(time.Second))
	fallback = bucketctl.Event{Kind: bucketctl.EventFallback, At: at(since + lasted), By: "geo-7", Reason: "timeout", Detail: map[string]string{"since": began}}
	back = bucketctl.Event{Kind: bucketctl.EventShared, At: at(since + lasted), By: "geo-7", Reason: "timeout",
		Detail: map[string]string{"since": began, "lasted": length.String(), "local": local}}
	return fallback, back
}

func TestOutageText(t *testing.T) {
	fallback, back := outageEvents(10, 32.25, "77.5")
	_, short := outageEvents(10, 9.831, "0")
	_, long := outageEvents(-100_000, 100_000, "1234567")
	_, odd := outageEvents(10, 1, "NaN")
	unread := bucketctl.Event{Kind: bucketctl.EventFallback, Detail: map[string]string{"since": "\x1b[2J"}}
	hold := bucketctl.Event{Kind: bucketctl.EventHold, Detail: fallback.Detail}
	for _, test := range []struct {
		event bucketctl.Event
		want  string
	}{
		{fallback, "without Redis from 14:32:10"},
		{back, "32s without Redis, 78 granted alone, 14:32:10 to 14:32:42"},
		{short, "9.8s without Redis, nothing granted alone, 14:32:10 to 14:32:19"},
		{long, "27h without Redis, 1234567 granted alone, 2026-03-13 10:45:20 to 14:32:00"},
		{odd, ""}, {unread, ""}, {hold, ""},
	} {
		if got := OutageText(&test.event, at(60)); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestMarksStandWhereThingsHappened(t *testing.T) {
	d := newDesk(t, Config{})
	d.w.Show([]string{"k"})
	fallback, back := outageEvents(20, 30, "5")
	cooldown := bucketctl.Event{Kind: bucketctl.EventCooldown, At: at(25), Key: "k", Detail: map[string]string{"until": at(40).Format(time.RFC3339Nano)}}
	for second := range 60 {
		d.now = at(float64(second))
		d.state("k", full(0))
		w := worker("geo-7", draws("k", 0, 0))
		w.Interval = time.Second
		switch {
		case second == 50:
			d.redis.do(func() {
				cooldown.ID, fallback.ID, back.ID = "1", "2", "3"
				d.redis.events = append(d.redis.events, cooldown, fallback, back)
			})
		case second > 50:
			w.Buckets[0].Mode, w.Buckets[0].Since = bucketctl.ModeShare, at(51)
		}
		if second < 56 {
			d.redis.say(w)
		}
		d.look(float64(second))
	}
	want := []Mark{{at(20), bucketctl.EventFallback}, {at(25), bucketctl.EventCooldown}, {at(40), MarkCooled}, {at(50), bucketctl.EventShared}}
	check := func(when string, last Mark) {
		t.Helper()
		got := d.row(d.w.Snapshot(), "k").History.Marks
		if len(got) != len(want)+1 || got[len(got)-1] != last {
			t.Fatalf("%s: %+v, want %+v and %+v", when, got, want, last)
		}
		for i, mark := range want {
			if got[i] != mark {
				t.Errorf("%s: mark %d is %+v, want %+v", when, i, got[i], mark)
			}
		}
	}
	d.look(58)
	check("while it tells that it is alone", Mark{at(51), bucketctl.EventFallback})
	d.look(59.5)
	check("and when it tells no more", Mark{at(55), MarkSilent})
}
