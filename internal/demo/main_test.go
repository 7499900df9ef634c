package demo

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bucketop/bucketctl"
	"bucketop/internal/conn"
)

func TestMain(m *testing.M) {
	conn.Silence() // workers that lose Redis are what is tested here
	goleak.VerifyTestMain(m)
}

// patience is how long anything may take on a loaded machine.
const patience = 30 * time.Second

// kind is one of the two kinds of server.
type kind struct {
	name string // as the title says it
	path string // PATH
}

// kinds finds a real server where .ci/test and redistest do.
func kinds(t *testing.T) []kind {
	t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache")
	}
	list := string(filepath.ListSeparator)
	return []kind{
		{"-server ", os.Getenv("PATH") + list + filepath.Join(cache, "bucketop", "redis", "bin")},
		{"miniredis", t.TempDir()},
	}
}

// onBoth runs a test on both kinds of server.
func onBoth(t *testing.T, test func(t *testing.T, k kind)) {
	for _, k := range kinds(t) {
		t.Run(strings.Trim(k.name, " -"), func(t *testing.T) {
			t.Setenv("PATH", k.path)
			test(t, k)
		})
	}
}

// miniKind is the server in this process, and quick to start.
func miniKind(t *testing.T) kind { t.Helper(); return withPath(t, kinds(t)[1]) }

func withPath(t *testing.T, k kind) kind {
	t.Helper()
	t.Setenv("PATH", k.path)
	return k
}

// startKind starts a server, and checks that it is of that kind.
func startKind(t *testing.T, k kind) *server {
	t.Helper()
	s, err := startServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Error(err)
		}
	})
	if !strings.Contains(s.title, k.name) {
		t.Fatalf("%q serves, want %q", s.name, k.name)
	}
	return s
}

// startWorkers starts the whole crew, without a story.
func startWorkers(t *testing.T, s *server) *crew {
	t.Helper()
	c, err := startCrew(t.Context(), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	return c
}

// openAdmin opens an Admin that waits for a busy machine as long as the tests do.
func openAdmin(t *testing.T, s *server, by string) *bucketctl.Admin {
	t.Helper()
	options, err := bucketctl.Options(s.url)
	if err != nil {
		t.Fatal(err)
	}
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout, options.PoolTimeout = patience, patience, patience, patience
	client := bucketctl.NewClient(options)
	t.Cleanup(func() { _ = client.Close() }) // the server goes too
	admin, err := bucketctl.NewAdmin(bucketctl.AdminConfig{Client: client, By: by})
	if err != nil {
		t.Fatal(err)
	}
	return admin
}

// await returns when something has become true.
func await(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !isSo() {
		if ctx.Err() != nil {
			t.Fatalf("not within %v: %s", patience, what)
		}
		sleep(ctx, 10*time.Millisecond)
	}
}
