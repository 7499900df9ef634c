package redistest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
)

// program is a server's executable: its path, and the first
// number of its version.
type program struct {
	path  string
	major int
}

var errNoServer = errors.New("no redis-server and no valkey-server on PATH: run .ci/test once, which gets one, or install either")

// findServer looks once per test binary.
var findServer = sync.OnceValues(func() (program, error) {
	path, err := Program()
	if err != nil {
		return program{}, err
	}
	return identify(path)
})

// Program is the path of the server that tests run: what is on PATH, else what
// .ci/test unpacked.
func Program() (string, error) {
	names := []string{"redis-server", "valkey-server"}
	if dir, err := cacheDir(); err == nil {
		names = append(names, filepath.Join(dir, "bucketop", "redis", "bin", "redis-server"))
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoServer
}

// cacheDir is where .ci/test keeps things on every system; os.UserCacheDir is
// another place on some.
func cacheDir() (string, error) {
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".cache"), err
}

func identify(path string) (program, error) {
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return program{}, fmt.Errorf("asking %s for its version: %w", path, err)
	}
	found := regexp.MustCompile(`\bv=(\d+)\.`).FindSubmatch(out)
	if found == nil {
		return program{}, fmt.Errorf("%s --version says %q, which names no version", path, out)
	}
	major, err := strconv.Atoi(string(found[1]))
	return program{path: path, major: major}, err
}

// FreePort returns a loopback port on which nothing listens. It is chosen outside
// the range from which systems number outgoing connections, so it stays free
// also while a test has its server down.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 20000 + rand.IntN(12000)
		listener, err := net.Listen("tcp", loopback(strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatalf("giving port %d back: %v", port, err)
		}
		return port
	}
	t.Fatal("found no free port in 1000 tries")
	return 0
}

func loopback(port string) string { return net.JoinHostPort("127.0.0.1", port) }
