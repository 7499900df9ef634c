package server

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

var errNoServer = errors.New("no redis-server and no valkey-server on PATH: run .ci/test once, which gets one, or install either")

// find prefers what is on PATH and takes what .ci/test unpacked otherwise.
func find() (string, error) {
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
