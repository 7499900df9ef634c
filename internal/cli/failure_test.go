package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/conn"
	"bucketop/internal/redistest"
)

func TestErrorsHaveTheirCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, ExitOK},
		{errors.New("anything"), ExitFailed},
		{usagef("x"), ExitUsage},
		{fmt.Errorf("set: %w", bucketctl.ErrLimit), ExitUsage},
		{fmt.Errorf("set: %w", bucketctl.ErrKey), ExitUsage},
		{fmt.Errorf("read: %w", bucketctl.ErrUnavailable), ExitUnreachable},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), ExitUnreachable},
		{fmt.Errorf("read: %w", bucketctl.ErrDenied), ExitFailed},
		{bucketctl.ErrReadOnly, ExitFailed},
		{bucketctl.ErrForeign, ExitFailed},
		{bucketctl.ErrWrongType, ExitFailed},
		{bucketctl.ErrNotFound, ExitNotFound},
		{bucketctl.ErrNothing, ExitNotFound},
		{&bucketctl.ConflictError{}, ExitConflict},
		{alreadySaid{bucketctl.ErrNotFound}, ExitNotFound},
	} {
		if got := exitCode(t.Context(), c.err); got != c.code {
			t.Errorf("%v: %d, want %d", c.err, got, c.code)
		}
		if said := sentence(errors.Join(c.err, errors.New("a\nb\x1b")), "h:1"); strings.ContainsAny(said, "\n\x1b") {
			t.Errorf("not one line: %q", said)
		}
	}
}

func TestASignalDecidesTheCode(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(Stopped{Code: ExitInterrupted})
	env := fakeEnv(&fakeAdmin{fail: context.Canceled})
	if r := runIn(ctx, env, "ls"); r.code != ExitInterrupted || r.stderr != "" {
		t.Errorf("%+v, want exit %d and silence", r, ExitInterrupted)
	}
	env = fakeEnv(scene())
	if r := runIn(ctx, env, "ls"); r.code != ExitOK {
		t.Errorf("what was done is done: %+v", r)
	}
	env.Interactive = true
	env.Console = func(context.Context, Screen) error { return nil }
	if r := runIn(ctx, env); r.code != ExitInterrupted {
		t.Errorf("a console that left in order: %+v", r)
	}
}

func TestEveryCodeIsDocumented(t *testing.T) {
	table := ExitMarkdown()
	for _, code := range []int{ExitOK, ExitFailed, ExitUsage, ExitUnreachable, ExitNotFound, ExitConflict, ExitCheck, ExitHangup, ExitInterrupted, ExitTerminated} {
		if !strings.Contains(table, fmt.Sprintf("| %d |", code)) {
			t.Errorf("%d is missing in %s", code, table)
		}
	}
}

func TestLostAnswerOfAChangeIsSaid(t *testing.T) {
	admin := scene()
	for lost, says := range map[*bucketctl.CallError]string{
		{Doing: "limit", Fault: bucketctl.FaultTimeout, Unsure: true}:                "gave no answer to set (no answer in time), so it may or may not have been written",
		{Doing: "look up", Fault: bucketctl.FaultTimeout}:                            "can't be reached: no answer in time",
		{Doing: "limit", Fault: bucketctl.FaultReply, Key: "k", Cause: "OOM no"}:     `can't limit "k" now: OOM no; try again later`,
		{Doing: "limit", Fault: bucketctl.FaultConnect, Cause: "connection refused"}: "can't be reached: connection refused",
	} {
		lost.Class = bucketctl.ErrUnavailable
		admin.failAll = map[string]error{"SetLimit": lost}
		r := fakeRun(t, admin, "set", "geocode:{acme}:eu", "--rate", "1/s")
		if r.code != ExitUnreachable || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, says) {
			t.Errorf("%+v, want %q", r, says)
		}
	}
}

func TestAuditErrorIsAWarning(t *testing.T) {
	admin := scene()
	admin.failAll = map[string]error{"Resume": &bucketctl.AuditError{Event: errors.New("OOM")}}
	if r := fakeRun(t, admin, "resume", "stripe:charge"); r.code != ExitOK || !strings.Contains(r.stderr, "warning") || r.stdout == "" {
		t.Errorf("%+v", r)
	}
}

func TestRedisDown(t *testing.T) {
	frozen := redistest.Start(t)
	frozen.Freeze()
	for name, url := range map[string]string{
		"nobody listens": fmt.Sprintf("redis://u:hunter2@127.0.0.1:%d", redistest.FreePort(t)),
		"frozen":         "redis://u:hunter2@" + frozen.Addr,
	} {
		for _, args := range [][]string{{"ls"}, {"set", "k", "--rate", "1/s"}, {"hold", "k"}, {"events", "--follow"}} {
			t.Run(name+" "+args[0], func(t *testing.T) {
				t.Parallel()
				r := runIn(t.Context(), realEnv(url), args...)
				if r.code != ExitUnreachable || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "127.0.0.1:") || strings.Contains(r.stderr, "hunter2") {
					t.Errorf("%+v", r)
				}
			})
		}
	}
}

// Every verb ends within two seconds when Redis does not answer, because its
// first call does.
func TestEveryCallIsBounded(t *testing.T) {
	known := "geocode:{acme}:eu"
	for _, args := range [][]string{
		{"ls"}, {"get", known}, {"get", "crm:sync"}, {"set", known, "--rate", "1/s"}, {"set", known, "--rate", "1/s", "--dry-run"},
		{"unset", known}, {"reset", known, "--to", "full"}, {"reset", known, "--delete"}, {"hold", known}, {"resume", known},
		{"undo", known}, {"workers"}, {"events"}, {"ls", "--match", "*"},
	} {
		down := scene()
		down.fail = bucketctl.ErrUnavailable
		if r := fakeRun(t, down, args...); r.code != ExitUnreachable || len(down.endless) > 0 {
			t.Errorf("%q: exit %d, without a deadline: %q", args, r.code, down.endless)
		}
		up := scene()
		fakeRun(t, up, args...)
		if len(up.endless) > 0 {
			t.Errorf("%q: without a deadline: %q", args, up.endless)
		}
	}
}

// However many keys are given, each call stays short.
func TestManyKeysAreAskedForInParts(t *testing.T) {
	admin := scene()
	keys := slices.Repeat([]string{"stripe:charge"}, 3*pageSize+1)
	r := fakeRun(t, admin, append([]string{"get", "-o", "jsonl"}, keys...)...)
	if r.code != ExitOK || strings.Count(r.stdout, "\n") != len(keys) || admin.largest != pageSize {
		t.Errorf("exit %d, %d records, %d keys at once, want %d", r.code, strings.Count(r.stdout, "\n"), admin.largest, pageSize)
	}
}

func TestRefusals(t *testing.T) {
	guarded := redistest.Start(t, "--requirepass", "right")
	for name, url := range map[string]string{"no password": guarded.URL(), "wrong password": "redis://:hunter2@" + guarded.Addr} {
		if r := realRun(t, url, "ls"); r.code != ExitFailed || strings.Count(r.stderr, "\n") != 1 || strings.Contains(r.stderr, "hunter2") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	env := realEnv(guarded.URL())
	env.Getenv = func(name string) string {
		return map[string]string{conn.EnvURL: guarded.URL(), conn.EnvAuth: "right"}[name]
	}
	if r := runIn(t.Context(), env, "ls"); r.code != ExitOK {
		t.Errorf("right password: %+v", r)
	}
}

func TestReadOnlyServer(t *testing.T) {
	replica := redistest.Start(t)
	client := replica.Client(t)
	put(t, client, "geo")
	// Of a master that is not there: it keeps what it has, and refuses writes.
	if err := client.ReplicaOf(t.Context(), "127.0.0.1", strconv.Itoa(redistest.FreePort(t))).Err(); err != nil {
		t.Fatal(err)
	}
	if r := realRun(t, replica.URL(), "get", "geo"); r.code != ExitOK {
		t.Errorf("reading: %+v", r)
	}
	if r := realRun(t, replica.URL(), "hold", "geo"); r.code != ExitFailed || !strings.Contains(r.stderr, "replica") {
		t.Errorf("writing: %+v", r)
	}
}

func TestConsoleAtTheDefaultAddress(t *testing.T) {
	opened := 0
	env := fakeEnv(&fakeAdmin{fail: fmt.Errorf("%w: can't connect: connection refused", bucketctl.ErrUnavailable)})
	env.Interactive = true
	env.Console = func(context.Context, Screen) error { opened++; return nil }
	r := runIn(t.Context(), env)
	if r.code != ExitUnreachable || opened != 0 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "bucketop demo") || !strings.Contains(r.stderr, "-u") {
		t.Errorf("%+v", r)
	}
	if r := runIn(t.Context(), env, "-u", "redis://127.0.0.1:6379"); r.code != ExitOK || opened != 1 || r.stderr != "" {
		t.Errorf("with an address of one's own: %+v, opened %d times", r, opened)
	}
}

func TestConsoleGetsItsFlags(t *testing.T) {
	env := fakeEnv(scene())
	env.Interactive = true
	env.Getenv = func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] }
	var got Screen
	env.Console = func(_ context.Context, s Screen) error { got = s; return nil }
	r := runIn(t.Context(), env, "-u", "redis://h", "--match", "x*", "--refresh", "2s", "--ascii")
	if r.code != ExitOK || got.Target.Addr() != "h:6379" || got.Match != "x*" || got.Refresh != 2*time.Second || !got.ASCII || !got.NoColor {
		t.Errorf("%+v %+v", r, got)
	}
	var demo Demo
	env.Demo = func(_ context.Context, d Demo) error { demo = d; return nil }
	if r := runIn(t.Context(), env, "demo", "--headless", "10s"); r.code != ExitOK || demo.Headless != 10*time.Second {
		t.Errorf("%+v %+v", r, demo)
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAFailedWriteIsAFailure(t *testing.T) {
	var stderr bytes.Buffer
	env := fakeEnv(scene())
	env.Stdout, env.Stderr = full{}, &stderr
	if code := Run(t.Context(), []string{"ls"}, env); code != ExitFailed || !strings.Contains(stderr.String(), "no space left") {
		t.Errorf("exit %d, %q", code, stderr.String())
	}
	stderr.Reset()
	code := Run(t.Context(), []string{"hold", "geocode:{acme}:eu"}, env)
	if said := stderr.String(); code != ExitFailed || !strings.HasPrefix(said, "bucketop: the change is written, but not shown: writing to stdout: no space left") {
		t.Errorf("of a change: exit %d, %q", code, said)
	}
}
