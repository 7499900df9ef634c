package bucketctl

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// workerCommands are what a worker's user has to be allowed, and
// operatorCommands what an operator's user has to be, beside the keys
// ~<buckets> ~<namespace>:* and the channel &<namespace>:wake.
func workerCommands() []string {
	return []string{
		"eval", "evalsha", "time", "hmget", "hset", "hdel", "pexpire", "zscore", "zcard", "zrem", "zrange", "zrangebyscore", // the scripts take, give, cool and beat
		"xadd", "xtrim", "zadd", "zremrangebyscore", // reports, events, the registry and live workers
		"publish", "subscribe", "ping", // wake
		"type", "hgetall", "pttl", // Peek
	}
}

func operatorCommands() []string {
	return []string{
		"eval", "evalsha", "time", "hget", "hlen", "hmget", "hset", "hdel", "del", "pexpire", "pexpireat", "persist", "zrange", "zadd", // the scripts
		"type", "hgetall", "pttl", "zscore", "zscan", "scan", "zrangebyscore", "zcard", "xrange", "xrevrange", "info", // reading
		"xadd", "publish", "zrem", // events, wake, and forgetting a deleted bucket
	}
}

// README lists these commands for whoever writes an ACL.
func TestReadmeListsThePermissions(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for user, commands := range map[string][]string{"worker": workerCommands(), "operator": operatorCommands()} {
		if row := "| " + user + " | `+" + strings.Join(commands, " +") + "` |"; !strings.Contains(string(text), row) {
			t.Errorf("README lacks %s", row)
		}
	}
}

// userWith makes a user that may call these commands on keys b:* and those of
// the namespace.
func userWith(t *testing.T, c *redis.Client, name string, commands []string) {
	t.Helper()
	args := []any{"ACL", "SETUSER", name, "reset", "on", ">p", "~b:*", "~bucketctl:*", "&bucketctl:wake"}
	for _, command := range commands {
		args = append(args, "+"+command)
	}
	do(t, c, args, []any{"ACL", "LOG", "RESET"})
}

// denied are the commands that the server refused since the log was reset,
// besides what the client tells of itself when it connects.
func denied(t *testing.T, c *redis.Client) []string {
	t.Helper()
	entries, err := c.ACLLog(t.Context(), 100).Result()
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Object, "client|") {
			commands = append(commands, e.Object)
		}
	}
	slices.Sort(commands)
	return slices.Compact(commands)
}

// exercise makes a worker do all that a worker does at Redis.
func exercise(t *testing.T, s *redistest.Server, user string) (granted bool) {
	t.Helper()
	ctx, owner := t.Context(), s.Client(t)
	c := patientClient(t, s, func(c *Config) { c.URL = "redis://" + user + ":p@" + s.Addr })
	l := mustBucket(t, c, "b:1", PerSecond(1000).Burst(100))
	do(t, owner, []any{"DEL", "b:1"}, []any{"SCRIPT", "FLUSH"})
	granted = l.Wait(ctx) == nil
	if err := owner.HSet(ctx, "b:1", "tokens", "abc", "blocked", "abc").Err(); err != nil { // to be mended
		t.Fatal(err)
	}
	d, err := l.AllowN(ctx, 1)
	granted = granted && err == nil && d.Mode == ModeShared
	errGive := l.give(ctx, "settle", -1, 0)
	_, errPeek := l.Peek(ctx)
	now := time.Unix(trimEvery*1000, 0)
	errRegister := c.register(ctx, c.all(), now, 100)
	errReport := c.publishReport(ctx, reportInterval, false)
	sub := c.redis.Subscribe(ctx, c.keys.Wake())
	defer closeQuietly(sub)
	_, errWake := sub.Receive(ctx)
	errPing := sub.Ping(ctx)
	_, errPong := sub.ReceiveTimeout(ctx, time.Second)
	errBeat := errors.Join(c.beat(ctx, c.pulses(), beatInterval), c.beat(ctx, c.pulses(), 0))
	errCool := l.Cooldown(ctx, time.Second)
	l.announceCooldown(ctx, cooldown{owed: providerAsked, length: time.Second}, now)
	errWindow := exerciseWindow(ctx, owner, c)
	for _, err := range []error{errGive, errPeek, errWindow, errRegister, errReport, errWake, errPing, errPong, errBeat, errCool} {
		granted = granted && err == nil
	}
	return granted
}

// exerciseWindow does the same with a window, and with the half of one that an
// eviction left.
func exerciseWindow(ctx context.Context, owner *redis.Client, c *Client) error {
	owner.Del(ctx, "b:2", c.keys.Log("b:2"))
	l, err := c.Window("b:2", Window{Limit: 3000, Per: time.Second}) // denied, it goes on with its share
	if err != nil {
		return err
	}
	g, err := l.Acquire(ctx, 2)
	if err == nil {
		err = g.Cancel(ctx)
	}
	errWait := l.Wait(ctx)
	owner.Del(ctx, "b:2")
	_, errAllow := l.Allow(ctx)
	_, errPeek := l.Peek(ctx)
	return errors.Join(err, errWait, errAllow, errPeek)
}

func TestCommandsOfAWorkersUserSuffice(t *testing.T) {
	s := redistest.Start(t)
	owner := s.Client(t)
	userWith(t, owner, "worker", workerCommands())
	if !exercise(t, s, "worker") {
		t.Error("a worker with the documented permissions can't do all its work")
	}
	if refused := denied(t, owner); len(refused) != 0 {
		t.Errorf("it was refused %v", refused)
	}
	if workers, _, err := openAdmin(t, s).Workers(t.Context()); err != nil || len(workers) == 0 {
		t.Errorf("its reports: %+v, %v", workers, err)
	}
	// And each of them is needed: a shorter list would do less.
	for _, without := range workerCommands() {
		less := slices.DeleteFunc(workerCommands(), func(command string) bool { return command == without })
		userWith(t, owner, "less", less)
		exercise(t, s, "less")
		if refused := denied(t, owner); !slices.Contains(refused, without) {
			t.Errorf("without %s nothing was missing: %v", without, refused)
		}
	}
}

func TestCommandsOfAnOperatorsUserSuffice(t *testing.T) {
	s := redistest.Start(t)
	owner := s.Client(t)
	work := func(user string) error {
		a := newAdmin(t, plainClient(t, &redis.Options{Addr: s.Addr, Username: user, Password: "p"}))
		ctx := t.Context()
		var first error
		keep := func(err error) {
			if first == nil {
				first = err
			}
		}
		for _, name := range []string{"SetLimit", "Hold", "Undo", "Resume", "ClearLimit", "Reset", "Delete"} {
			do(t, owner, []any{"DEL", "b:1", a.keys.Limit("b:1")})
			arrange(t, newAdmin(t, owner), "b:1")
			do(t, owner, []any{"HSET", "b:1", "tokens", "abc"}, []any{"SCRIPT", "FLUSH"}, []any{"DEL", "b:w", "b:z"},
				[]any{"HSET", "b:w", "kind", "window", "used", 1, "ts", 1, "gen", 1, "capacity", 5, "rate", 5, "per", 1000000},
				[]any{"ZADD", "b:z", 1, 1})
			_, err := changes(a)[name](t, "b:1", AnyRev)
			keep(err)
		}
		arrange(t, newAdmin(t, owner), "b:1")
		_, err := a.ClearLimit(ctx, "b:1", AnyRev, "")
		keep(err)
		_, err = a.Resume(ctx, "b:1", AnyRev, "") // and nothing is in force any more: the record gets an end
		keep(err)
		_, err = a.Get(ctx, "b:2")
		if !errors.Is(err, ErrNotFound) {
			keep(err)
		}
		_, err = a.Reset(ctx, "b:w", AnyRev, ToLevel(2), "")
		keep(err)
		states, err := a.GetMany(ctx, []string{"b:w", "b:z"})
		keep(err)
		for _, state := range states {
			keep(state.Err())
		}
		_, err = a.List(ctx, "", 10)
		keep(err)
		_, _, err = a.Reports(ctx, "0-0", 10)
		keep(err)
		_, _, err = a.Workers(ctx)
		keep(err)
		_, err = a.Scan(ctx, "b:*", "", 10)
		keep(err)
		_, err = a.Server(ctx)
		keep(err)
		return first
	}
	userWith(t, owner, "operator", operatorCommands())
	if err := work("operator"); err != nil {
		t.Errorf("an operator with the documented permissions: %v", err)
	}
	if refused := denied(t, owner); len(refused) != 0 {
		t.Errorf("it was refused %v", refused)
	}
	for _, without := range operatorCommands() {
		less := slices.DeleteFunc(operatorCommands(), func(command string) bool { return command == without })
		userWith(t, owner, "less", less)
		if err := work("less"); err == nil && without != "info" {
			t.Errorf("without %s nothing was missing", without)
		}
		if refused := denied(t, owner); !slices.Contains(refused, without) {
			t.Errorf("without %s nothing was missing: %v", without, refused)
		}
	}
}

// A client that is refused while it connects has read nothing, whatever its
// commands say.
func TestAWrongPasswordIsRefusedWhateverIsRead(t *testing.T) {
	s := redistest.Start(t, "--requirepass", "right")
	a := newAdmin(t, plainClient(t, &redis.Options{Addr: s.Addr, Password: "wrong", MaxRetries: -1}))
	_, errServer := a.Server(t.Context())
	_, errMany := a.GetMany(t.Context(), []string{"a", "b"})
	_, errGet := a.Get(t.Context(), "a")
	for what, err := range map[string]error{"Server": errServer, "GetMany": errMany, "Get": errGet} {
		if !errors.Is(err, ErrDenied) {
			t.Errorf("%s with a wrong password: %v", what, err)
		}
	}
}
