package bucketctl

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// changeReply is what limit, hold and reset reply alike.
func changeReply() reply {
	return reply{
		"ok", int64(1_700_000_000_000_000), "hash",
		[]any{"tokens", "1", "ts", "1699999999"}, []any{},
		[]any{"tokens", "5", "ts", "1700000000"}, []any{"rev", "9"},
		int64(60_000), "", "",
	}
}

func TestDecodeChange(t *testing.T) {
	c, result, err := decodeChange("k", changeReply())
	if err != nil || result != "ok" {
		t.Fatalf("%q, %v", result, err)
	}
	if c.Before.Level != 1 || c.After.Level != 5 || c.Before.Rev != 0 || c.After.Rev != 9 || c.After.TTL != time.Minute {
		t.Errorf("decoded %+v", c)
	}
	if !c.Before.At.Equal(c.After.At) || c.Before.Key != "k" || c.After.Key != "k" {
		t.Errorf("before and after are not of one moment and key: %+v", c)
	}
}

func TestTypeAfterAChange(t *testing.T) {
	for _, tt := range []struct {
		name  string
		typ   string
		after []any
		ttl   int64
		want  string
	}{
		{"deleted", "hash", []any{}, -2, "none"},
		{"created", "none", []any{"tokens", "0"}, 1000, "hash"},
		{"left alone", "zset", []any{}, -1, "zset"},
		{"left alone, with a life", "string", []any{}, 1000, "string"},
		{"not there", "none", []any{}, -2, "none"},
	} {
		r := changeReply()
		r[2], r[5], r[7] = tt.typ, tt.after, tt.ttl
		c, _, err := decodeChange("k", r)
		if err != nil || c.After.Type != tt.want || c.Before.Type != tt.typ {
			t.Errorf("%s: %s to %s, %v, want %s", tt.name, c.Before.Type, c.After.Type, err, tt.want)
		}
	}
}

func TestChangeReplyOfAnotherShapeIsAnError(t *testing.T) {
	for i := range changeReply() {
		for _, wrong := range []any{nil, true, []any{"odd"}, []any{"a", int64(1)}, []any{int64(1), "a"}, map[any]any{}} {
			r := changeReply()
			r[i] = wrong
			if _, _, err := decodeChange("k", r); err == nil {
				t.Errorf("item %d as %v is taken", i+1, wrong)
			}
		}
		if _, _, err := decodeChange("k", changeReply()[:i]); err == nil {
			t.Errorf("a reply of %d items is taken", i)
		}
	}
}

func TestRunScriptNeedsNoLoading(t *testing.T) {
	c := redistest.Start(t, "--rename-command", "SCRIPT", "").Client(t)
	s := newScripts()
	for range 2 { // EVAL, then EVALSHA
		args := takeArguments(PerSecond(1), 1, 0, 1, 0)
		r, err := runScript(t.Context(), c, s.take, []string{"k", "l"}, args...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeOne(r, args); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFlushedScriptCacheCostsNoToken(t *testing.T) {
	c := redistest.Start(t).Client(t)
	s := newScripts()
	for range 5 {
		if _, err := runScript(t.Context(), c, s.take, []string{"k", "l"}, takeArguments(PerDay(1).Burst(10), 1, 0, 1, 0)...); err != nil {
			t.Fatal(err)
		}
		if err := c.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if granted := c.HGet(t.Context(), "k", "granted").Val(); granted != "5" {
		t.Errorf("5 takes charged %s", granted)
	}
}

func TestScriptThatRepliesNoList(t *testing.T) {
	c := redistest.Start(t).Client(t)
	_, err := runScript(t.Context(), c, redis.NewScript("return 1"), nil)
	if err == nil || !strings.Contains(err.Error(), "int64") {
		t.Errorf("a script that replies 1: %v", err)
	}
}

// The same replies whichever protocol the client speaks: with RESP3 servers
// may send doubles and maps.
func TestRepliesAreTheSameInBothProtocols(t *testing.T) {
	s := redistest.Start(t)
	admins := map[int]*Admin{}
	for _, protocol := range []int{2, 3} {
		c := redis.NewClient(&redis.Options{Addr: s.Addr, Protocol: protocol, MaxRetries: -1})
		t.Cleanup(func() { _ = c.Close() })
		admins[protocol] = newAdmin(t, c)
		takeFrom(t, c, "k", PerMinute(60).Burst(20), 5)
	}
	ctx := context.Background()
	for protocol, a := range admins {
		change, err := a.SetLimit(ctx, "k", AnyRev, LimitChange{Rate: To(2), Capacity: To(40), End: EndAfter(time.Hour)})
		if err != nil || change.After.Effective.Rate != 2 || change.Before.Granted != 10 {
			t.Errorf("protocol %d: %+v, %v", protocol, change, err)
		}
	}
	two, err2 := admins[2].Get(ctx, "k")
	three, err3 := admins[3].Get(ctx, "k")
	if err2 != nil || err3 != nil || !maps.Equal(two.Raw, three.Raw) || !maps.Equal(two.RawLimit, three.RawLimit) {
		t.Errorf("read by RESP2 %+v, %v and by RESP3 %+v, %v", two, err2, three, err3)
	}
}
