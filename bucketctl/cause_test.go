package bucketctl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// What failed is told by type, so that nobody has to look for words in a text
// that may quote a bucket's name.
func TestFaultsOfCalls(t *testing.T) {
	s := redistest.Start(t)
	gone := redistest.Start(t)
	gone.Kill()
	frozen := redistest.Start(t)
	frozen.Freeze()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	list := func(ctx context.Context, client redis.UniversalClient) error {
		_, err := newAdmin(t, client).List(ctx, "", 10)
		return err
	}
	cluster := NewClient(&redis.UniversalOptions{Addrs: []string{s.Addr}, IsClusterMode: true})
	t.Cleanup(func() { _ = cluster.Close() })
	master := fmt.Errorf("redis: all sentinels are unreachable: %w", errors.Join(redis.Nil))
	for name, tt := range map[string]struct {
		err   error
		class error
		fault Fault
		says  string
	}{
		"refused":      {list(t.Context(), gone.Client(t)), ErrUnavailable, FaultConnect, ": list buckets: can't connect: connection refused"},
		"frozen":       {list(t.Context(), impatientClient(t, frozen)), ErrUnavailable, FaultTimeout, ": list buckets: Redis does not answer (timeout)"},
		"ended":        {list(ended, s.Client(t)), context.Canceled, FaultEnded, "bucketctl: list buckets: context canceled"},
		"no cluster":   {list(t.Context(), cluster), ErrDenied, FaultNoCluster, "cluster support disabled"},
		"a replica":    {list(t.Context(), stubServer(t, "READONLY no")), ErrDenied, FaultReplica, "READONLY no"},
		"another node": {list(t.Context(), stubServer(t, "MOVED 1 127.0.0.1:2")), ErrDenied, FaultCluster, "MOVED 1"},
		"denied":       {list(t.Context(), stubServer(t, "NOPERM no")), ErrDenied, FaultPermission, "NOPERM no"},
		"no login":     {list(t.Context(), stubServer(t, "NOAUTH no")), ErrDenied, FaultLogin, "NOAUTH no"},
		"no password":  {list(t.Context(), stubServer(t, "ERR AUTH <password> called without any password configured")), ErrDenied, FaultLogin, "without any password"},
		"unheard of":   {list(t.Context(), stubServer(t, "ERR unknown command")), ErrDenied, FaultReply, "ERR unknown"},
		"no master":    {adminError(t.Context(), "read", "k", master), ErrDenied, FaultMaster, `: read "k": the sentinels know no such master`},
		"no sentinel":  {list(t.Context(), stubServer(t, "ERR unknown command `sentinel`, with args beginning with: `x`")), ErrDenied, FaultNoSentinel, "ERR unknown command"},
	} {
		var call *CallError
		if !errors.As(tt.err, &call) || !errors.Is(tt.err, tt.class) || call.Fault != tt.fault || !strings.Contains(tt.err.Error(), tt.says) {
			t.Errorf("%s: %v, a %+v; want %v by %s that says %q", name, tt.err, call, tt.class, tt.fault, tt.says)
		}
	}
}

func impatientClient(t *testing.T, s *redistest.Server) *redis.Client {
	t.Helper()
	return plainClient(t, &redis.Options{Addr: s.Addr, MaxRetries: -1, ReadTimeout: 200 * time.Millisecond})
}

// A server that said no, or was never reached, did nothing, and nobody need look.
func TestOnlyALostAnswerLeavesAChangeUnsure(t *testing.T) {
	s := redistest.Start(t)
	c := impatientClient(t, s)
	a := newAdmin(t, c)
	takeFrom(t, c, "k", PerMinute(300), 1)
	hold := func() *CallError {
		_, err := a.Hold(t.Context(), "k", AnyRev, NoEnd(), "")
		var call *CallError
		if !errors.As(err, &call) || !errors.Is(err, ErrUnavailable) {
			t.Fatalf("%v", err)
		}
		return call
	}
	do(t, c, []any{"CONFIG", "SET", "maxmemory", "1"})
	if call := hold(); call.Unsure || call.Fault != FaultReply || c.Exists(t.Context(), a.keys.Limit("k")).Val() != 0 {
		t.Errorf("without memory: %+v", call)
	}
	s.Freeze()
	if call := hold(); call.Unsure || call.Doing != "look up" {
		t.Errorf("frozen, and only asked: %+v", call)
	}
	var call *CallError
	if err := writeError(t.Context(), "hold", "k", context.DeadlineExceeded); !errors.As(err, &call) || !call.Unsure {
		t.Errorf("an answer that did not come: %+v", call)
	}
	if err := writeError(t.Context(), "hold", "k", redis.ErrPoolTimeout); !errors.As(err, &call) || call.Unsure {
		t.Errorf("never sent: %+v", call)
	}
}
