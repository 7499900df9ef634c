package demo

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"bucketop/bucketctl"
)

func TestTooOld(t *testing.T) {
	for version, want := range map[string]bool{
		"5.0.14": true, "6.0.16": true, "6.2.0": false, "7.0.15": false, "8.1.1": false, "10.0": false,
		"": false, "255.255.255": false, "unstable": false, "6": false,
	} {
		if tooOld(version) != want {
			t.Errorf("%q is too old: %v, want %v", version, !want, want)
		}
	}
}

// program puts a script on a PATH of its own.
func program(t *testing.T, name, script string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestServerThatDoesNotServe: Go alone suffices, and who has a server that is
// not used is told why.
func TestServerThatDoesNotServe(t *testing.T) {
	path := program(t, "valkey-server", "exit 1")
	t.Setenv("PATH", filepath.Dir(path))
	s, err := startServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.end()
	if s.title != "miniredis" || !strings.Contains(s.name, path) || !strings.Contains(s.name, "ended at once") {
		t.Errorf("title %q, name %q", s.title, s.name)
	}
}

func TestStartThatIsGivenUp(t *testing.T) {
	path := program(t, "redis-server", "exec sleep 1000")
	t.Setenv("PATH", filepath.Dir(path)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	s, err := startServer(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestServerBehindAScript: the name on PATH may be a script that starts the
// server as a process of its own.
func TestServerBehindAScript(t *testing.T) {
	t.Setenv("PATH", kinds(t)[0].path)
	server, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal(err)
	}
	path := program(t, "redis-server", "'"+server+"' \"$@\" &\nwait")
	s, err := startProcess(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	gone := watchServer(t, s.url)
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, gone)
}

// watchServer returns a channel that closes when the server breaks an open
// connection: it is gone then.
func watchServer(t *testing.T, url string) <-chan struct{} {
	t.Helper()
	options, err := bucketctl.Options(url)
	if err != nil {
		t.Fatal(err)
	}
	client := bucketctl.NewClient(options)
	sub := client.Subscribe(t.Context(), "nothing")
	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, err := sub.Receive(t.Context())
		if err == nil {
			t.Error("a message on a channel that nobody uses")
		}
		_ = sub.Close()
		_ = client.Close()
	}()
	return gone
}

func awaitGone(t *testing.T, gone <-chan struct{}) {
	t.Helper()
	select {
	case <-gone:
	case <-time.After(patience):
		t.Fatal("the server is left")
	}
}

// TestOnlyThisUserReachesTheServer: whoever shares the machine must not.
func TestOnlyThisUserReachesTheServer(t *testing.T) {
	s := startKind(t, withPath(t, kinds(t)[0]))
	socket := strings.TrimPrefix(s.url, "unix://")
	info, err := os.Stat(filepath.Dir(socket))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket's folder: %v, %v", info, err)
	}
	if len(socket) > 104 {
		t.Errorf("%d bytes of path are too long for a socket on %s's kin", len(socket), runtime.GOOS)
	}
	options, err := bucketctl.Options(s.url)
	if err != nil {
		t.Fatal(err)
	}
	client := bucketctl.NewClient(options)
	defer client.Close()
	for name, want := range map[string]string{"port": "0", "save": "", "appendonly": "no"} {
		if got, err := client.ConfigGet(t.Context(), name).Result(); err != nil || got[name] != want {
			t.Errorf("%s is %q (%v), want %q", name, got[name], err, want)
		}
	}
}

// TestLongTemporaryFolder: macOS puts it deep, and the path of a socket is
// short.
func TestLongTemporaryFolder(t *testing.T) {
	deep := filepath.Join(t.TempDir(), strings.Repeat("d", 100))
	if err := os.Mkdir(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", deep)
	dir, err := privateFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(dir)
	if len(filepath.Join(dir, socketName)) > longestSocket {
		t.Errorf("%s is too long", dir)
	}
	if left, err := os.ReadDir(deep); err != nil || len(left) > 0 {
		t.Errorf("left in the long folder: %v, %v", left, err)
	}
}
