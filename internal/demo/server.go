package demo

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// server is the Redis of one demo.
type server struct {
	url   string
	title string       // product and version
	name  string       // the same with its path, and why it is not another
	end   func() error // ends it and takes away what it left
}

// programs are looked for on PATH, in this order.
func programs() []string { return []string{"redis-server", "valkey-server"} }

// startServer starts a real server if there is one, else one in this process:
// Go alone must suffice. A real one that does not serve is not worth failing
// for either, but it is told.
func startServer(ctx context.Context) (*server, error) {
	var failed []string
	for _, program := range programs() {
		path, err := exec.LookPath(program)
		if err != nil || runtime.GOOS == "windows" { // there they have no unix sockets
			continue
		}
		s, err := startProcess(ctx, path)
		if err == nil {
			return s, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		failed = append(failed, fmt.Sprintf("%s: %v", path, err))
	}
	s, err := startInProcess()
	if err != nil {
		return nil, fmt.Errorf("start a Redis in this process: %w", err)
	}
	if len(failed) > 0 {
		s.name += " (instead of " + strings.Join(failed, "; ") + ")"
	}
	return s, nil
}

// identify fills in the title from what the server says of itself, and refuses
// one that the scripts don't run on.
func (s *server) identify(ctx context.Context) error {
	admin, closeAdmin, err := s.admin(ctx, "")
	if err != nil {
		return err
	}
	defer closeAdmin()
	about, err := admin.Server(ctx)
	if err != nil {
		return fmt.Errorf("ask the server for its version: %w", err)
	}
	s.title = about.Product + "-server " + about.Version
	if tooOld(about.Version) {
		return errors.New(s.title + " is older than 6.2")
	}
	return nil
}

// tooOld reports whether a version, such as "7.0.15", lies before 6.2. One that
// can't be read counts as new: the scripts will tell.
func tooOld(version string) bool {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, err := strconv.Atoi(first)
	if err != nil {
		return false
	}
	minor, err := strconv.Atoi(second)
	return err == nil && (major < 6 || major == 6 && minor < 2)
}
