package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/bucketctl"
	"bucketop/internal/conn"
	"bucketop/internal/redistest"
	"bucketop/internal/schema"
)

// realEnv is what a process would have, without a terminal.
func realEnv(url string) Env {
	return Env{Version: "test", Getenv: func(name string) string {
		return map[string]string{conn.EnvURL: url}[name]
	}}
}

func realRun(t *testing.T, url string, args ...string) result {
	t.Helper()
	return runIn(t.Context(), realEnv(url), append([]string{"--by", "anna@test"}, args...)...)
}

// draw lets a real worker take from a bucket, so that it exists as workers make
// it, and is registered.
func draw(t *testing.T, url, key string, limit bucketctl.Limit, n float64) {
	t.Helper()
	client, err := bucketctl.Open(t.Context(), bucketctl.Config{URL: url, App: "cli-test", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}()
	lim, err := client.Bucket(key, limit)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := lim.AllowN(t.Context(), n); err != nil || !d.OK {
		t.Fatalf("taking %v from %q: %+v %v", n, key, d, err)
	}
}

// put writes a bucket as it would lie in Redis, registered, one token left.
func put(t *testing.T, client *redis.Client, key string) {
	t.Helper()
	ctx := t.Context()
	err := client.HSet(ctx, key, schema.FieldTokens, "1", schema.FieldTs, strconv.FormatInt(time.Now().Unix(), 10),
		schema.FieldGranted, "14", schema.FieldCapacity, "15", schema.FieldRate, "0.000001", schema.FieldPer, "60000000", schema.FieldGen, "1").Err()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := schema.New("")
	if err != nil {
		t.Fatal(err)
	}
	if err := client.ZAdd(ctx, keys.Buckets(), redis.Z{Score: float64(time.Now().UnixMilli()), Member: key}).Err(); err != nil {
		t.Fatal(err)
	}
}

// one decodes the only record, or object, of a JSON output.
func one[T any](t *testing.T, r result) T {
	t.Helper()
	var value T
	if r.code != ExitOK {
		t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	if err := json.Unmarshal([]byte(r.stdout), &value); err != nil {
		t.Fatalf("%v in %s", err, r.stdout)
	}
	return value
}

func TestVerbsOnARealBucket(t *testing.T) {
	s := redistest.Start(t)
	const key = "geocode:{acme}:eu"
	draw(t, s.URL(), key, bucketctl.PerMinute(300).Burst(15), 10)
	run := func(args ...string) result { t.Helper(); return realRun(t, s.URL(), args...) }
	get := func() jsonBucket { t.Helper(); return one[[]jsonBucket](t, run("get", key, "-o", "json"))[0] }

	if b := get(); b.State != stateOK || *b.Level < 5 || *b.Granted != 10 || *b.Declared.Rate != 5 || *b.Declared.RateText != "300/min" || b.Rev != 0 {
		t.Fatalf("at first: %+v", b)
	}
	if r := run("set", key, "--rate", "600/min", "--dry-run"); r.code != ExitOK || !strings.Contains(r.stdout, "600/min burst 15") || get().Rev != 0 {
		t.Errorf("dry run: %+v, rev %d", r, get().Rev)
	}
	set := one[jsonChange](t, run("set", key, "--rate", "600/min", "--capacity", "30", "--for", "1h", "--reason", "backlog", "-o", "json"))
	if b := get(); !set.Written || set.Event == nil || *set.Event.By != "anna@test" || b.State != stateOverride || *b.Effective.Rate != 10 ||
		*b.Effective.Capacity != 30 || *b.Declared.Rate != 5 || b.Override.Until == nil || *b.Override.Reason != "backlog" || b.Rev != set.After.Rev {
		t.Errorf("set: %+v, then %+v", set, b)
	}
	stale := strconv.FormatInt(set.Before.Rev, 10)
	if r := run("set", key, "--rate", "x2", "--if-rev", stale); r.code != ExitConflict || *get().Effective.Rate != 10 {
		t.Errorf("stale revision: %+v", r)
	}
	if r := run("set", key, "--rate", "x2", "--dry-run", "--if-rev", stale); r.code != ExitConflict {
		t.Errorf("stale revision of a dry run: %+v", r)
	}
	fresh := strconv.FormatInt(set.After.Rev, 10)
	if r := run("set", key, "--rate", "x0.5", "--if-rev", fresh); r.code != ExitOK || *get().Effective.Rate != 5 {
		t.Errorf("right revision: %+v", r)
	}
	if r := run("undo", key); r.code != ExitOK || *get().Effective.Rate != 10 || !strings.Contains(r.stderr, "anna@test") {
		t.Errorf("undo: %+v", r)
	}
	if r := run("undo", key); r.code != ExitNotFound {
		t.Errorf("undo of an undo: %+v", r)
	}
	if r := run("unset", key); r.code != ExitOK || get().Override != nil {
		t.Errorf("unset: %+v", r)
	}
	if r := run("unset", key); r.code != ExitNotFound {
		t.Errorf("unset of nothing: %+v", r)
	}
	if r := run("set", key, "--for", "1h"); r.code != ExitNotFound {
		t.Errorf("an end for no override: %+v", r)
	}
	if r := run("--read-only", "set", key, "--rate", "1/s"); r.code != ExitFailed || get().Override != nil {
		t.Errorf("read-only: %+v", r)
	}
}

func TestHoldAndReset(t *testing.T) {
	s := redistest.Start(t)
	const key = "stripe:charge"
	put(t, s.Client(t), key)
	run := func(args ...string) result { t.Helper(); return realRun(t, s.URL(), args...) }
	get := func() jsonBucket { t.Helper(); return one[[]jsonBucket](t, run("get", key, "-o", "json"))[0] }

	if r := run("resume", key); r.code != ExitNotFound {
		t.Errorf("resume of nothing: %+v", r)
	}
	if r := run("hold", key, "--reason", "asked to"); r.code != ExitOK {
		t.Fatalf("hold: %+v", r)
	}
	held := get()
	until, err := time.Parse(time.RFC3339Nano, *held.Hold.Until)
	if err != nil || held.State != stateHeld || *held.Hold.By != "anna@test" || *held.Hold.Reason != "asked to" {
		t.Errorf("held: %+v %v", held, err)
	}
	if left := time.Until(until); left < 9*time.Minute || left > 11*time.Minute {
		t.Errorf("a hold without an end lasts %v, want 10m", left)
	}
	if r := run("hold", key, "--for", "forever"); r.code != ExitOK || get().Hold.Until != nil {
		t.Errorf("hold for ever: %+v", r)
	}
	if r := run("hold", key); r.code != ExitOK || get().Hold.Until != nil {
		t.Errorf("holding what is held moved its end: %+v", r)
	}
	if r := run("reset", key, "--to", "full"); r.code != ExitOK || *get().Level != 15 || get().Hold == nil || !strings.Contains(r.stderr, "resume") {
		t.Errorf("reset while held: %+v", r)
	}
	if r := run("resume", key); r.code != ExitOK || get().Hold != nil {
		t.Errorf("resume: %+v", r)
	}
	for to, want := range map[string]float64{"empty": 0, "5": 5, "7.5": 7.5, "99": 15} {
		if r := run("reset", key, "--to", to); r.code != ExitOK || int(*get().Level*10) != int(want*10) {
			t.Errorf("reset to %s: %+v", to, r)
		}
	}
	if r := run("reset", key, "--delete"); r.code != ExitOK {
		t.Errorf("delete: %+v", r)
	}
}

func TestKeysThatRedisDoesNotKnow(t *testing.T) {
	s := redistest.Start(t)
	client := s.Client(t)
	put(t, client, "known")
	for _, args := range [][]string{
		{"get", "nope"}, {"set", "nope", "--rate", "1/s"}, {"set", "nope", "--rate", "1/s", "--dry-run"}, {"unset", "nope"},
		{"reset", "nope", "--to", "full"}, {"reset", "nope", "--delete"}, {"hold", "nope"}, {"resume", "nope"}, {"undo", "nope"}, {"get", "Known"}, {"get", "known", "nope"},
		{"get", "known "},
	} {
		if r := realRun(t, s.URL(), args...); r.code != ExitNotFound || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%q: %+v, want one line and exit %d", args, r, ExitNotFound)
		}
	}
	if r := realRun(t, s.URL(), "get", "nope", "known", "-o", "jsonl"); r.code != ExitNotFound || strings.Count(r.stdout, "\n") != 1 {
		t.Errorf("one of two: %+v, want the other and exit %d", r, ExitNotFound)
	}
	if n := client.Exists(t.Context(), "nope").Val(); n != 0 {
		t.Error("a bucket was made of nothing")
	}
}

func TestForeignKeys(t *testing.T) {
	s := redistest.Start(t)
	client := s.Client(t)
	ctx := t.Context()
	client.HSet(ctx, "p[1]:a", "tokens", "3", "ts", strconv.FormatInt(time.Now().Unix(), 10))
	client.ZAdd(ctx, "p1:a", redis.Z{Score: 1, Member: "x"})
	client.Set(ctx, "p:text", "x", 0)
	if r := realRun(t, s.URL(), "set", "p[1]:a", "--rate", "1/s"); r.code != ExitFailed || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("set: %+v", r)
	}
	if r := realRun(t, s.URL(), "set", "p[1]:a", "--rate", "1/s", "--dry-run"); r.code != ExitFailed {
		t.Errorf("dry run: %+v", r)
	}
	if r := realRun(t, s.URL(), "reset", "p[1]:a", "--to", "full"); r.code != ExitFailed {
		t.Errorf("reset to a capacity that is unknown: %+v", r)
	}
	if r := realRun(t, s.URL(), "reset", "p[1]:a", "--to", "5"); r.code != ExitOK || client.HGet(ctx, "p[1]:a", "tokens").Val() != "5" {
		t.Errorf("reset: %+v", r)
	}
	if r := realRun(t, s.URL(), "set", "p:text", "--rate", "1/s"); r.code != ExitFailed || !strings.Contains(r.stderr, "--delete") {
		t.Errorf("wrong type: %+v", r)
	}
	found := one[[]jsonBucket](t, realRun(t, s.URL(), "ls", "--match", "p*", "-o", "json"))
	if len(found) != 2 || *found[0].Key != "p1:a" || found[0].Kind != "foreign-window" || *found[1].Key != "p[1]:a" || found[1].State != stateForeign {
		t.Errorf("scan: %+v", found)
	}
	if found := one[[]jsonBucket](t, realRun(t, s.URL(), "ls", "p[1]:*", "--match", "*", "-o", "json")); len(found) != 1 || *found[0].Key != "p[1]:a" {
		t.Errorf("brackets stand for themselves in PATTERN: %+v", found)
	}
}

// hostile names break rows, drive terminals, or are no text at all.
var hostile = []string{
	"a\x1b]0;x\x07", "a\nb", "a\r\tb", "a\x00b", "\xff\xfe", "a\u009b31m", "a\u202eb", " a ", "--to", "配额", `a\nb`,
}

func TestHostileKeys(t *testing.T) {
	s := redistest.Start(t)
	client := s.Client(t)
	for _, key := range hostile {
		put(t, client, key)
	}
	for _, format := range []string{"table", "tsv", "json", "jsonl"} {
		r := realRun(t, s.URL(), "ls", "-o", format)
		if r.code != ExitOK || strings.ContainsAny(r.stdout, "\x1b\x00\x07\r\u009b\u202e") {
			t.Errorf("%s: exit %d, a control character is in %q", format, r.code, r.stdout)
		}
		if lines := strings.Count(r.stdout, "\n"); format != "json" && format != "jsonl" && lines != len(hostile)+1 {
			t.Errorf("%s: %d lines for %d buckets and a header", format, lines, len(hostile))
		}
	}
	listed := map[string]bool{}
	for _, b := range one[[]jsonBucket](t, realRun(t, s.URL(), "ls", "-o", "json")) {
		listed[exactKey(t, b.jsonKey)] = true
	}
	for _, key := range hostile {
		if !listed[key] {
			t.Errorf("%q is not in the JSON list", key)
		}
		r := realRun(t, s.URL(), "reset", "--key-b64", base64.StdEncoding.EncodeToString([]byte(key)), "--to", "5")
		if r.code != ExitOK || strings.ContainsAny(r.stdout+r.stderr, "\x1b\x00\x07\r\u009b\u202e") {
			t.Errorf("reset of %q: %+v", key, r)
		}
		for _, other := range hostile {
			want := "1"
			if other == key {
				want = "5"
			}
			if got := client.HGet(t.Context(), other, schema.FieldTokens).Val(); got != want {
				t.Errorf("after the reset of %q, %q has %s tokens, want %s", key, other, got, want)
			}
		}
		client.HSet(t.Context(), key, schema.FieldTokens, "1")
	}
	if r := realRun(t, s.URL(), "get", "a\x1b]0;x\x07b"); r.code != ExitNotFound || strings.ContainsAny(r.stderr, "\x1b\x07") {
		t.Errorf("the error line is not escaped: %q", r.stderr)
	}
}

func exactKey(t *testing.T, k jsonKey) string {
	t.Helper()
	if k.Key != nil {
		return *k.Key
	}
	decoded, err := base64.StdEncoding.DecodeString(*k.KeyB64)
	if err != nil {
		t.Fatal(err)
	}
	return string(decoded)
}

func TestVerbsOnACluster(t *testing.T) {
	nodes := redistest.Cluster(t, 3)
	seeds := "redis://" + strings.Join(nodes.Addrs(), ",")
	for i := range 5 {
		draw(t, "redis://"+nodes.Addrs()[0]+"?cluster=true", fmt.Sprintf("geo:{%d}", i), bucketctl.PerMinute(300), 1)
	}
	run := func(args ...string) result { return realRun(t, seeds, append(args, "--cluster", "-o", "json")...) }
	if found := one[[]jsonBucket](t, run("ls")); len(found) != 5 {
		t.Errorf("ls: %+v", found)
	}
	if found := one[[]jsonBucket](t, run("ls", "--match", "geo:*")); len(found) != 5 {
		t.Errorf("scan: %+v", found)
	}
	one[jsonChange](t, run("hold", "geo:{3}"))
	if b := one[[]jsonBucket](t, run("get", "geo:{3}")); b[0].State != stateHeld {
		t.Errorf("%+v", b)
	}
	// Who forgets to say so is told.
	r := realRun(t, "redis://"+nodes.Addrs()[0], "get", "geo:{0}", "geo:{1}", "geo:{2}", "geo:{3}", "geo:{4}")
	if r.code != ExitFailed || r.stdout != "" || !strings.HasSuffix(r.stderr, "say --cluster\n") {
		t.Errorf("one of its servers as a server: %+v", r)
	}
	if r := realRun(t, redistest.Start(t).URL(), "ls", "--cluster"); r.code != ExitFailed || !strings.Contains(r.stderr, "is no cluster: leave out --cluster") {
		t.Errorf("a server as a cluster: %+v", r)
	}
}

func TestWorkersAreListed(t *testing.T) {
	s := redistest.Start(t)
	draw(t, s.URL(), "geo", bucketctl.PerMinute(300), 1)
	workers := one[[]jsonWorker](t, realRun(t, s.URL(), "workers", "-o", "json"))
	if len(workers) != 1 || workers[0].App != "cli-test" || !workers[0].Left || workers[0].State != "gone" || workers[0].Since == nil {
		t.Fatalf("%+v, want one that left in order", workers)
	}
	if others := one[[]jsonWorker](t, realRun(t, s.URL(), "workers", "other", "-o", "json")); len(others) != 0 {
		t.Errorf("those of another bucket: %+v", others)
	}
}

func TestFollowEndsWithASignalOnly(t *testing.T) {
	s := redistest.Start(t)
	put(t, s.Client(t), "geo")
	ctx, cancel := context.WithCancelCause(t.Context())
	lines := lineWriter{written: make(chan string, 100), seen: map[string]bool{}}
	env := realEnv(s.URL())
	env.Stdout, env.Stderr = lines, lines
	code := make(chan int, 1)
	go func() {
		code <- Run(ctx, []string{"events", "geo", "--follow", "--refresh", "250ms", "-o", "jsonl"}, env)
	}()
	for _, reason := range []string{"first", "second"} {
		if r := realRun(t, s.URL(), "hold", "geo", "--reason", reason); r.code != ExitOK {
			t.Fatalf("%+v", r)
		}
		lines.await(t, reason)
	}
	s.Stop()
	lines.await(t, "still trying")
	s.Restart()
	lines.await(t, "answers again")
	cancel(Stopped{Code: ExitTerminated})
	if got := <-code; got != ExitTerminated {
		t.Errorf("exit %d, want %d", got, ExitTerminated)
	}
}

// lineWriter passes on what is written to it.
type lineWriter struct {
	written chan string
	seen    map[string]bool // by await alone
}

func (w lineWriter) Write(p []byte) (int, error) { w.written <- string(p); return len(p), nil }

func (w lineWriter) await(t *testing.T, part string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case text := <-w.written:
			if w.seen[text] {
				t.Fatalf("written twice: %s", text)
			}
			w.seen[text] = true
			if strings.Contains(text, part) {
				return
			}
		case <-deadline:
			t.Fatalf("%q was never written", part)
		}
	}
}
