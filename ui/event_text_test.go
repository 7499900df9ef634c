package ui

import (
	"testing"
	"time"

	"bucketop/bucketctl"
)

func TestEventsSayWhoBeforeTheirDetails(t *testing.T) {
	a := newBench(t, pictureSnapshot(), 80, 24).app
	limit := func(rate float64, until time.Time) bucketctl.Record {
		return bucketctl.Record{Override: bucketctl.Override{Rate: rate, Per: time.Minute, Until: until}}
	}
	since := t0.Add(-10 * time.Second).Format(time.RFC3339Nano)
	for _, c := range []struct {
		event bucketctl.Event
		want  string
	}{
		{bucketctl.Event{Kind: bucketctl.EventFallback, By: "geo-3", Reason: "i/o timeout", Detail: map[string]string{"since": since}},
			`FALLBACK geo-3: without Redis from 14:31:55: "i/o timeout"`},
		{bucketctl.Event{Kind: bucketctl.EventShared, By: "geo-3", Reason: "i/o timeout",
			Detail: map[string]string{"since": since, "lasted": "9.831s", "local": "84", "new": "x\x1b"}},
			`SHARED geo-3: 9.8s without Redis, 84 granted alone, 14:31:55 to 14:32:04: "i/o timeout" (new x\x1b)`},
		{bucketctl.Event{Kind: bucketctl.EventShared, By: "geo-3", Detail: map[string]string{"since": "\x1b", "lasted": "?"}},
			`SHARED by geo-3 (lasted ?, since \x1b)`},
		{bucketctl.Event{Kind: bucketctl.EventCooldown, By: "geo-3", Reason: "429",
			Detail: map[string]string{"length": "20s", "until": t0.Add(20 * time.Second).Format(time.RFC3339Nano)}},
			`COOLDOWN for 20s until 14:32:25 by geo-3: "429"`},
		{bucketctl.Event{Kind: bucketctl.EventReset, By: "anna",
			Detail: map[string]string{"to": "5", "level_before": "0", "level_after": "5", "type": "hash", "cause": "ts is 6m ahead"}},
			`RESET to 5, was 0 by anna (ts is 6m ahead)`},
		{bucketctl.Event{Kind: bucketctl.EventReset, By: "anna", Detail: map[string]string{"to": "full", "level_after": "15", "type": "string"}},
			`RESET to full by anna (type string)`},
		{bucketctl.Event{Kind: bucketctl.EventDelete, By: "anna", Detail: map[string]string{"level_before": "3", "type": "hash"}},
			`DELETE, was 3 by anna`},
		// A change of the end alone is a change.
		{bucketctl.Event{Kind: bucketctl.EventLimit, By: "anna", Before: limit(10, time.Time{}), After: limit(10, t0.Add(time.Hour))},
			`LIMIT 600/min → 600/min until 15:32:05 by anna`},
	} {
		if got := a.eventText(&c.event); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
