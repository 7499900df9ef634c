package bucketctl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// stubServer answers whatever it is asked with one error reply, and returns a
// client of it: for replies that would take a broken server.
func stubServer(t *testing.T, text string) *redis.Client {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerAll(conn, text)
		}
	}()
	return plainClient(t, &redis.Options{Addr: listener.Addr().String()})
}

// answerAll reads commands as arrays of bulk strings.
func answerAll(conn net.Conn, text string) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	for {
		var items int
		if _, err := fmt.Fscanf(in, "*%d\r\n", &items); err != nil {
			return
		}
		for range 2 * items {
			if _, err := in.ReadString('\n'); err != nil {
				return
			}
		}
		if _, err := fmt.Fprintf(conn, "-%s\r\n", text); err != nil {
			return
		}
	}
}

func plainClient(t *testing.T, options *redis.Options) *redis.Client {
	t.Helper()
	options.MaxRetries, options.DialerRetries, options.ContextTimeoutEnabled = -1, 1, true
	c := redis.NewClient(options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestErrorReplies(t *testing.T) {
	for text, want := range map[string]class{
		"LOADING Redis is loading the dataset in memory":                                classOutage,
		"READONLY You can't write against a read only replica. script: x, on y.":        classOutage,
		"ERR READONLY You can't write against a read only replica":                      classOutage,
		"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to no": classOutage,
		"BUSY Redis is busy running a script":                                           classOutage,
		"OOM command not allowed when used memory > 'maxmemory'.":                       classOutage,
		"MISCONF Redis is configured to save RDB snapshots":                             classOutage,
		"CLUSTERDOWN The cluster is down":                                               classOutage,
		"TRYAGAIN Multiple keys request during rehashing of slot":                       classOutage,
		"NOREPLICAS Not enough good replicas to write.":                                 classOutage,
		"UNBLOCKED force unblock from blocking operation":                               classOutage,
		"MOVED 3999 127.0.0.1:6381":                                                     classConfig,
		"ASK 3999 127.0.0.1:6381":                                                       classConfig,
		"CROSSSLOT Keys in request don't hash to the same slot":                         classConfig,
		"NOAUTH Authentication required.":                                               classConfig,
		"WRONGPASS invalid username-password pair or user is disabled.":                 classConfig,
		"NOPERM this user has no permissions to run the 'hset' command":                 classConfig,
		"ERR unknown command 'EVALSHA', with args beginning with: 'x'":                  classConfig,
		"DENIED something that no version knows yet":                                    classConfig,
		"WRONGTYPE Operation against a key holding the wrong kind of value":             classBucket,
	} {
		c := stubServer(t, text)
		err := c.HSet(t.Context(), "k", "f", "v").Err()
		if got := classify(t.Context(), err); got != want {
			t.Errorf("%q (%T): class %d, want %d", text, err, got, want)
		}
		// Wrapped, as it reaches whoever decides what follows.
		if got := classify(t.Context(), fmt.Errorf("take from %q: %w", "k", err)); got != want {
			t.Errorf("%q, wrapped: class %d, want %d", text, got, want)
		}
	}
}

// refusalsOfRedis are errors as a real server gives them.
func TestRefusalsOfARealServer(t *testing.T) {
	ctx := t.Context()
	s := redistest.Start(t)
	c := s.Client(t)
	for _, args := range [][]any{
		{"ACL", "SETUSER", "few", "on", ">sesame", "~*", "+get", "+evalsha", "+eval"},
		{"SET", "text", "5"},
	} {
		if err := c.Do(ctx, args...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	few := plainClient(t, &redis.Options{Addr: s.Addr, Username: "few", Password: "sesame"})
	wrong := plainClient(t, &redis.Options{Addr: s.Addr, Username: "few", Password: "open"})
	locked := redistest.Start(t, "--requirepass", "sesame").Client(t)
	scripts := newScripts()
	take := func(c *redis.Client, key string) error {
		_, err := runScript(ctx, c, scripts.take, []string{key, "l"}, takeArguments(PerSecond(1), 1, 0, 1, 0)...)
		return err
	}
	for _, tt := range []struct {
		name string
		err  error
		want class
	}{
		{"no password", locked.Get(ctx, "k").Err(), classConfig},
		{"a wrong password", wrong.Get(ctx, "k").Err(), classConfig},
		{"a command denied", few.HSet(ctx, "k", "f", "v").Err(), classConfig},
		{"a command denied in a script", take(few, "k"), classConfig},
		{"a string", take(c, "text"), classBucket},
		{"a script that is wrong", c.Eval(ctx, "return nil + 1", nil).Err(), classConfig},
	} {
		if got := classify(ctx, tt.err); got != tt.want {
			t.Errorf("%s: %v: class %d, want %d", tt.name, tt.err, got, tt.want)
		}
	}
	if err := c.Do(ctx, "REPLICAOF", "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if err := take(c, "k"); classify(ctx, err) != classOutage || firstWord(err.Error()) != "READONLY" {
		t.Errorf("a take at a replica: %v", err)
	}
	if err := c.Do(ctx, "REPLICAOF", "NO", "ONE").Err(); err != nil {
		t.Fatal(err)
	}
	if err := c.ConfigSet(ctx, "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if err := take(c, "k"); classify(ctx, err) != classOutage || firstWord(err.Error()) != "OOM" {
		t.Errorf("a take without memory: %v", err)
	}
}

func TestNoAnswerIsAnOutage(t *testing.T) {
	s := redistest.Start(t)
	c := s.Client(t)
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	s.Freeze()
	call, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	timeout := c.Ping(call).Err()
	if got := classify(t.Context(), timeout); got != classOutage || !strings.Contains(cause(timeout), "timeout") {
		t.Errorf("a timeout of the call's own, %v: class %d, %q", timeout, got, cause(timeout))
	}
	// The same error under the caller's context is the caller's own doing.
	<-call.Done()
	if got := classify(call, timeout); got != classCaller {
		t.Errorf("the caller's deadline: class %d", got)
	}
	s.Kill()
	refused := c.Ping(t.Context()).Err()
	if got := classify(t.Context(), refused); got != classOutage || !strings.HasPrefix(cause(refused), "can't connect: ") {
		t.Errorf("refused, %v: class %d, %q", refused, got, cause(refused))
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if got := classify(cancelled, c.Ping(cancelled).Err()); got != classCaller {
		t.Errorf("cancelled: class %d", got)
	}
	if got := classify(t.Context(), errors.New("connection pool exhausted")); got != classOutage {
		t.Errorf("anything else: class %d", got)
	}
	if got := classify(cancelled, nil); got != classNone {
		t.Errorf("no error: class %d", got)
	}
}

// No password is quoted, whoever quotes it: a server that does not know AUTH
// repeats its arguments.
func TestCausesShowNoPassword(t *testing.T) {
	const secret = "open-sesame-123"
	s := redistest.Start(t, "--rename-command", "AUTH", "", "--rename-command", "HELLO", "")
	for name, c := range map[string]*redis.Client{
		"AUTH unknown":      plainClient(t, &redis.Options{Addr: s.Addr, Password: secret}),
		"password unwanted": plainClient(t, &redis.Options{Addr: redistest.Start(t).Addr, Password: secret}),
		"wrong":             plainClient(t, &redis.Options{Addr: redistest.Start(t, "--requirepass", "other").Addr, Password: secret}),
		"HELLO unknown": withPassword(stubServer(t,
			"ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `default`, `"+secret+"`, "), secret, t),
		"another quote": withPassword(stubServer(t, `ERR unknown command 'AUTH' with args '`+secret+`'`), secret, t),
	} {
		err := c.Get(t.Context(), "k").Err()
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if text := cause(err); strings.Contains(text, secret) || text == "" {
			t.Errorf("%s: %q", name, text)
		}
		if told := adminError(t.Context(), "read", "k", err); strings.Contains(told.Error(), secret) {
			t.Errorf("%s: %v", name, told)
		}
	}
}

func withPassword(c *redis.Client, password string, t *testing.T) *redis.Client {
	return plainClient(t, &redis.Options{Addr: c.Options().Addr, Password: password})
}

func TestCausesAreShort(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 5000), strings.Repeat("é", 5000), strings.Repeat("\xff", 5000)} {
		if got := cause(errors.New(text)); len(got) > 130 {
			t.Errorf("a cause of %d bytes", len(got))
		}
	}
}

func TestAdminErrors(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	reply := func(text string) error { return stubServer(t, text).Get(t.Context(), "k").Err() }
	for name, tt := range map[string]struct {
		ctx  context.Context
		err  error
		want error
	}{
		"outage":       {t.Context(), errors.New("i/o timeout"), ErrUnavailable},
		"loading":      {t.Context(), reply("LOADING wait"), ErrUnavailable},
		"denied":       {t.Context(), reply("NOPERM no"), ErrDenied},
		"a replica":    {t.Context(), reply("READONLY no"), ErrDenied},
		"a wrong type": {t.Context(), reply("WRONGTYPE no"), ErrWrongType},
		"the caller":   {ended, errors.New("whatever"), context.Canceled},
	} {
		err := adminError(tt.ctx, "read", "geo:\x1b[2J", tt.err)
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), `read "geo:\x1b[2J"`) {
			t.Errorf("%s: %v, want %v that says what was read", name, err, tt.want)
		}
	}
	if err := adminError(ended, "read", "k", nil); err != nil {
		t.Errorf("no error: %v", err)
	}
}
