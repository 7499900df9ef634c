package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

// TestMain fails the run when anything here leaves a goroutine behind.
func TestMain(m *testing.M) {
	redis.SetLogger(silence{}) // every refused connection would be a line
	goleak.VerifyTestMain(m)
}

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// brief bounds a call that is expected to get no answer.
const brief = 100 * time.Millisecond

func set(t *testing.T, c redis.Cmdable, key, value string) {
	t.Helper()
	if err := c.Set(t.Context(), key, value, 0).Err(); err != nil {
		t.Fatalf("SET %s: %v", key, err)
	}
}

// wantValue fails unless key holds value; "" stands for no key.
func wantValue(t *testing.T, c redis.Cmdable, key, want string) {
	t.Helper()
	got, err := c.Get(t.Context(), key).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatalf("GET %s: %v", key, err)
	}
	if got != want {
		t.Fatalf("GET %s = %q, want %q", key, got, want)
	}
}

// wantSilence fails unless the command gets no answer at all.
func wantSilence(t *testing.T, c *redis.Client, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), brief)
	defer cancel()
	err := c.Do(ctx, args...).Err()
	var timeout net.Error
	if !errors.Is(err, context.DeadlineExceeded) && (!errors.As(err, &timeout) || !timeout.Timeout()) {
		t.Fatalf("%v: %v, want no answer", args, err)
	}
}

func wantRefused(t *testing.T, addr string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err == nil {
		_ = conn.Close()
		t.Fatalf("%s takes connections, want it to refuse them", addr)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("dialling %s: %v, want it refused", addr, err)
	}
}

func TestServersAreTheirTestsOwn(t *testing.T) {
	a, b := Start(t), Start(t)
	set(t, a.Client(t), "key", "of a")
	wantValue(t, b.Client(t), "key", "")
	if strings.HasSuffix(a.Addr, ":6379") || a.Addr == b.Addr {
		t.Errorf("addresses %s and %s", a.Addr, b.Addr)
	}
	options, err := redis.ParseURL(a.URL())
	if err != nil || options.Addr != a.Addr {
		t.Errorf("ParseURL(%q) = %v, %v", a.URL(), options, err)
	}
}

func TestServerEndsWithItsTest(t *testing.T) {
	var s *Server
	var pid int
	t.Run("inner", func(t *testing.T) {
		s = Start(t)
		pid = s.PID()
		s.Freeze() // also then
	})
	wantRefused(t, s.Addr)
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(syscall.Signal(0))
	}
	if !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("process %d after its test: %v, want none", pid, err)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the server's folder after its test: %v, want none", err)
	}
}

func TestArgumentsWin(t *testing.T) {
	c := Start(t, "--maxmemory", "4mb", "--appendonly", "yes").Client(t)
	for name, want := range map[string]string{"maxmemory": "4194304", "appendonly": "yes", "save": ""} {
		got, err := c.ConfigGet(t.Context(), name).Result()
		if err != nil || got[name] != want {
			t.Errorf("CONFIG GET %s = %v, %v, want %q", name, got, err, want)
		}
	}
	if err := c.Do(t.Context(), "DEBUG", "SLEEP", "0").Err(); err != nil {
		t.Errorf("DEBUG is not allowed: %v", err)
	}
}

func TestServerWithPassword(t *testing.T) {
	s := Start(t, "--requirepass", "secret")
	if err := s.Client(t).Ping(t.Context()).Err(); err == nil || !strings.HasPrefix(err.Error(), "NOAUTH") {
		t.Errorf("PING without the password: %v, want NOAUTH", err)
	}
	s.Stop()
	wantRefused(t, s.Addr)
}

func TestFreeze(t *testing.T) {
	s := Start(t)
	c := s.Client(t)
	set(t, c, "n", "1")
	s.Freeze()
	s.Freeze()
	wantSilence(t, c, "INCR", "n")
	s.Thaw()
	s.Thaw()
	// The increment lay in the socket and is done first, though nobody waits.
	wantValue(t, c, "n", "2")
}

func TestKillAndRestart(t *testing.T) {
	s := Start(t)
	c, addr, pid := s.Client(t), s.Addr, s.PID()
	set(t, c, "key", "value")
	s.Kill()
	s.Kill()
	wantRefused(t, addr)
	if s.PID() != 0 {
		t.Errorf("a killed server has process %d", s.PID())
	}
	s.Restart()
	if s.Addr != addr || s.PID() == pid {
		t.Errorf("restarted at %s in process %d, was at %s in %d", s.Addr, s.PID(), addr, pid)
	}
	wantValue(t, s.Client(t), "key", "")
	s.Freeze()
	s.Restart()
	wantValue(t, s.Client(t), "key", "")
	s.Freeze()
	wantSilence(t, s.Client(t), "PING")
}

func TestStop(t *testing.T) {
	s := Start(t)
	s.Stop()
	s.Stop()
	wantRefused(t, s.Addr)
	if log := s.log(); !strings.Contains(log, "bye bye") {
		t.Errorf("the server did not end in order; log:\n%s", log)
	}
}

func TestRestartKeepsWhatWasAskedFor(t *testing.T) {
	s := Start(t, "--appendonly", "yes", "--appendfsync", "always")
	set(t, s.Client(t), "key", "value")
	s.Restart()
	wantValue(t, s.Client(t), "key", "value")
}

// recorder stands in for the testing.TB of a test that ought to fail.
type recorder struct {
	testing.TB
	fatal string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.fatal = fmt.Sprintf(format, args...)
	panic(r)
}

// fatality runs f with a recorder and returns what f ended the test with.
func fatality(t *testing.T, f func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	func() {
		defer func() {
			if got := recover(); got != nil && got != r {
				panic(got)
			}
		}()
		f(r)
	}()
	return r.fatal
}

func TestStartExplainsABadArgument(t *testing.T) {
	got := fatality(t, func(t testing.TB) { Start(t, "--no-such-thing", "1") })
	if !strings.Contains(got, "no-such-thing") {
		t.Errorf("the test ended with %q, want the server's own words", got)
	}
}

func TestTakenPortIsAnotherPort(t *testing.T) {
	taken := Start(t)
	_, port, _ := strings.Cut(taken.Addr, ":")
	ports := []string{port, fmt.Sprint(FreePort(t))}
	// The port chosen for the second server is overruled by one that is taken,
	// then by a free one: it may neither give up nor believe the first server.
	s := start(t, func() []string {
		next := ports[0]
		ports = ports[1:]
		return []string{"--port", next}
	})
	if len(ports) != 0 || s.PID() == taken.PID() {
		t.Errorf("ports left: %v", ports)
	}
}

func TestLookup(t *testing.T) {
	empty, path, cache := t.TempDir(), t.TempDir(), t.TempDir()
	program := func(dir, name string) string {
		t.Helper()
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("#!/bin/sh\necho 'Server v=8.1.4 sha=0'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return full
	}
	valkey := program(path, "valkey-server")
	cached := program(cache, "bucketop/redis/bin/redis-server")

	for _, c := range []struct {
		name, path, cache, want string
		err                     error
	}{
		{"on PATH", path, cache, valkey, nil},
		{"in the cache", empty, cache, cached, nil},
		{"nowhere", empty, empty, "", errNoServer},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PATH", c.path)
			t.Setenv("XDG_CACHE_HOME", c.cache)
			got, err := Program()
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("Program() = %q, %v, want %q, %v", got, err, c.want, c.err)
			}
		})
	}
	if got, err := identify(valkey); err != nil || got.major != 8 {
		t.Errorf("identify = %v, %v, want version 8", got, err)
	}
	if !strings.Contains(errNoServer.Error(), ".ci/test") {
		t.Errorf("%q does not say what to do", errNoServer)
	}
}

func TestFreePortIsFree(t *testing.T) {
	for range 20 {
		wantRefused(t, loopback(fmt.Sprint(FreePort(t))))
	}
}
