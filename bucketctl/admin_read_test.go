package bucketctl

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

func newAdmin(t *testing.T, c redis.UniversalClient) *Admin {
	t.Helper()
	a, err := NewAdmin(AdminConfig{Client: c, By: "anna@ops1"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// takeFrom runs the take script as a worker of generation 1 does: it brings a
// bucket into being with a limit and some tokens gone, without a worker.
func takeFrom(t *testing.T, c redis.UniversalClient, key string, limit Limit, n float64) verdict {
	t.Helper()
	a := newAdmin(t, c)
	args := takeArguments(limit, 1, 0, n, 0)
	r, err := runScript(t.Context(), c, a.scripts.take, []string{key, a.keys.Limit(key)}, args...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := decodeOne(r, args)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// do runs raw commands that must not fail.
func do(t *testing.T, c redis.UniversalClient, commands ...[]any) {
	t.Helper()
	for _, args := range commands {
		if err := c.Do(t.Context(), args...).Err(); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
	}
}

// snapshot is all that a server holds: each key with its value and its end.
func snapshot(t *testing.T, c *redis.Client) map[string]string {
	t.Helper()
	keys, err := c.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, key := range keys {
		all[key] = fmt.Sprintf("%q until %v", c.Dump(t.Context(), key).Val(), c.PExpireTime(t.Context(), key).Val())
	}
	return all
}

// hostileKeys are names that other programs may give to keys.
func hostileKeys() []string {
	return []string{
		"a\x1b]0;title\x07\x1b[2J", "bell\x07", "two\nlines", "car\rriage", "tab\t", "nul\x00inside", "nul", "\xff\xfe", "caf\xc3",
		" leading", "trailing ", "quote\"'`", "back\\slash", "a{b}c{d}", "{a}", "a", "b", "{b}:x", "x*?[y]", "é", "\u202eabc", "%s%d", "key=value", "--flag",
	}
}

func TestListSeesEveryBucketOnce(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	const buckets = 2500
	members := make([]redis.Z, buckets)
	for i := range members {
		members[i] = redis.Z{Score: float64(1_700_000_000_000 + i), Member: fmt.Sprintf("bucket:%d", i)}
	}
	members[0].Member = "odd\x00\n\xff"
	if err := c.ZAdd(t.Context(), a.keys.Buckets(), members...).Err(); err != nil {
		t.Fatal(err)
	}
	seen, pages := map[string]time.Time{}, 0
	for cursor := ""; ; pages++ {
		page, err := a.List(t.Context(), cursor, 200)
		if err != nil {
			t.Fatal(err)
		}
		if page.Total != buckets {
			t.Errorf("a page says there are %d buckets, want %d", page.Total, buckets)
		}
		if len(page.Buckets) > 500 {
			t.Errorf("a page of %d buckets, asked for about 200", len(page.Buckets))
		}
		for _, b := range page.Buckets {
			if _, twice := seen[b.Key]; twice {
				t.Errorf("%q was listed twice", b.Key)
			}
			seen[b.Key] = b.Seen
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if len(seen) != buckets || pages < 5 {
		t.Errorf("%d buckets in %d pages, want %d in several", len(seen), pages+1, buckets)
	}
	if got, want := seen["odd\x00\n\xff"], time.UnixMilli(1_700_000_000_000); !got.Equal(want) {
		t.Errorf("last seen %v, want %v", got, want)
	}
	for _, cursor := range []string{"x", "-1", "1:2"} {
		if _, err := a.List(t.Context(), cursor, 10); err == nil {
			t.Errorf("cursor %q was taken", cursor)
		}
	}
}

func TestListOfNothing(t *testing.T) {
	page, err := newAdmin(t, redistest.Start(t).Client(t)).List(t.Context(), "", 0)
	if err != nil || len(page.Buckets) != 0 || page.Next != "" {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestGetTellsWhatAKeyIs(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	takeFrom(t, c, "bucket", PerMinute(300), 5)
	do(t, c,
		[]any{"SET", "string", "5"},
		[]any{"RPUSH", "list", "5"},
		[]any{"HSET", "stranger", "name", "bob"},
		[]any{"HSET", "foreign", "tokens", "3", "ts", "1700000000.25"},
		[]any{"ZADD", "window", "1700000000", "a"},
		[]any{"HSET", a.keys.Limit("promised"), "capacity", "9", "rate", "3", "rev", "4"},
		[]any{"ZADD", a.keys.Buckets(), "1700000000000", "idle"},
		[]any{"HSET", "typed", "tokens", "3", "ts", "1700000000.25"},
		[]any{"SET", a.keys.Limit("typed"), "not a hash"},
	)
	keys := []string{"bucket", "string", "list", "stranger", "foreign", "window", "promised", "idle", "typed", "unheard"}
	want := []Kind{KindBucket, KindWrongType, KindWrongType, KindWrongType, KindForeign, KindForeignWindow, KindNone, KindNone, KindForeign, KindNone}
	states, err := a.GetMany(t.Context(), keys)
	if err != nil || len(states) != len(keys) {
		t.Fatalf("%d states of %d, %v", len(states), len(keys), err)
	}
	for i, key := range keys {
		if s := states[i]; s.Key != key || s.Kind != want[i] || s.At.IsZero() {
			t.Errorf("%s: %+v, want kind %s", key, s, want[i])
		}
		s, err := a.Get(t.Context(), key)
		if key == "unheard" {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %v", key, err)
			}
			continue
		}
		if err != nil || s.Kind != want[i] {
			t.Errorf("Get(%q): %+v, %v", key, s, err)
		}
	}
	bucket, promised := states[0], states[6]
	if bucket.Level < 10 || bucket.Level > 15 || bucket.Granted != 5 || bucket.Declared != PerMinute(300) || bucket.TTL < 24*time.Hour {
		t.Errorf("the bucket: %+v", bucket)
	}
	if promised.Effective.Capacity != 9 || promised.Rev != 4 || promised.Known() {
		t.Errorf("an override before any state: %+v", promised)
	}
}

func TestGetManyOfNoneAndOfImpossibleNames(t *testing.T) {
	a := newAdmin(t, redistest.Start(t).Client(t))
	if states, err := a.GetMany(t.Context(), nil); err != nil || len(states) != 0 {
		t.Errorf("of none: %v, %v", states, err)
	}
	for _, key := range []string{"", "a{b", "{}", "bucketctl:events"} {
		if _, err := a.GetMany(t.Context(), []string{"good", key}); !errors.Is(err, ErrKey) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

// What a viewer's user has to be allowed, and no more: reading, the clock, and
// a PING for the connection.
func TestViewersNeedReadCommandsAlone(t *testing.T) {
	s := redistest.Start(t)
	owner := s.Client(t)
	takeFrom(t, owner, "k", PerMinute(300), 1)
	a := newAdmin(t, owner)
	if _, err := a.Hold(t.Context(), "k", AnyRev, NoEnd(), "why"); err != nil {
		t.Fatal(err)
	}
	do(t, owner,
		[]any{"ZADD", a.keys.Buckets(), "1", "k"},
		[]any{"XADD", a.keys.Reports(), "*", "report", encodeReport(Worker{ID: "w", Interval: time.Second})},
		[]any{"ACL", "SETUSER", "viewer", "on", ">look", "%R~*", "+@read", "+time", "+ping"},
	)
	v := newAdmin(t, plainClient(t, &redis.Options{Addr: s.Addr, Username: "viewer", Password: "look"}))
	ctx := t.Context()
	state, err := v.Get(ctx, "k")
	if err != nil || !state.Hold.Active {
		t.Errorf("Get: %+v, %v", state, err)
	}
	if _, err := v.Get(ctx, "nobody"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get of an unknown bucket: %v", err)
	}
	if page, err := v.List(ctx, "", 10); err != nil || len(page.Buckets) != 1 {
		t.Errorf("List: %+v, %v", page, err)
	}
	if workers, _, err := v.Workers(ctx); err != nil || len(workers) != 1 {
		t.Errorf("Workers: %+v, %v", workers, err)
	}
	if workers, _, err := v.Reports(ctx, "0-0", 10); err != nil || len(workers) != 1 {
		t.Errorf("Reports: %+v, %v", workers, err)
	}
	if events, err := v.Events(ctx, EventQuery{}); err != nil || len(events) != 1 {
		t.Errorf("Events: %+v, %v", events, err)
	}
	if page, err := v.Scan(ctx, "*", "", 100); err != nil || len(page.Keys) != 1 {
		t.Errorf("Scan: %+v, %v", page, err)
	}
	if server, err := v.Server(ctx); err != nil || server.Time.IsZero() {
		t.Errorf("Server: %+v, %v", server, err)
	}
	if _, err := v.Resume(ctx, "k", AnyRev, ""); !errors.Is(err, ErrDenied) {
		t.Errorf("a viewer's change: %v", err)
	}
	if state, err := a.Get(ctx, "k"); err != nil || !state.Hold.Active {
		t.Errorf("after a viewer's change: %+v, %v", state, err)
	}
}

func TestServer(t *testing.T) {
	c := redistest.Start(t, "--maxmemory", "4mb", "--maxmemory-policy", "allkeys-lru").Client(t)
	s, err := newAdmin(t, c).Server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Product == "" || s.Version == "" || len(s.RunID) != 40 || s.Eviction != "allkeys-lru" || s.MaxMemory != 4<<20 || s.Evicted != 0 {
		t.Errorf("%+v", s)
	}
	if math.Abs(time.Since(s.Time).Seconds()) > 60 || s.Uptime > time.Minute {
		t.Errorf("clock %v, up for %v", s.Time, s.Uptime)
	}
}

func TestReadingWithoutRedis(t *testing.T) {
	s := redistest.Start(t)
	a := newAdmin(t, s.Client(t))
	s.Kill()
	ctx := t.Context()
	_, get := a.Get(ctx, "k")
	_, list := a.List(ctx, "", 1)
	_, _, workers := a.Workers(ctx)
	_, _, reports := a.Reports(ctx, "", 1)
	_, _, more := a.Reports(ctx, "1-1", 1)
	_, events := a.Events(ctx, EventQuery{})
	_, scan := a.Scan(ctx, "*", "", 1)
	_, server := a.Server(ctx)
	_, hold := a.Hold(ctx, "k", AnyRev, NoEnd(), "")
	_, undo := a.Undo(ctx, "k", AnyRev, "")
	for i, err := range []error{get, list, workers, reports, more, events, scan, server, hold, undo} {
		if !errors.Is(err, ErrUnavailable) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
