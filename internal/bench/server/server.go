// Package server runs a Redis server of the benchmark's own, on a free port,
// and reads what it did. redistest starts servers too, but belongs to tests and
// takes one of them.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/bench/figure"
	"bucketop/internal/redistest"
)

// patience is how long a server may take to answer; it takes milliseconds.
const patience = 10 * time.Second

// Server is a running redis-server or valkey-server that keeps nothing on disk.
type Server struct {
	Addr    string // host:port
	Version string // such as "Redis 7.0.15"

	dir    string
	cmd    *exec.Cmd
	done   chan struct{} // closed when it has ended
	client *redis.Client
}

// Start starts a server and returns when it answers.
func Start(ctx context.Context) (*Server, error) {
	path, err := redistest.Program()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, fmt.Errorf("making the server's folder: %w", err)
	}
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", port), dir: dir, done: make(chan struct{})}
	s.client = redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1, PoolSize: 1})
	if err := s.launch(ctx, path, port); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", path, err), s.End())
	}
	return s, nil
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, errors.Join(err, listener.Close())
}

func (s *Server) launch(ctx context.Context, path, port string) error {
	s.cmd = exec.Command(path, // #nosec G204 -- a fixed name, found on PATH
		"--bind", "127.0.0.1", "--port", port, "--dir", s.dir, "--save", "", "--appendonly", "no")
	s.cmd.SysProcAttr = endWithParent()
	if err := s.cmd.Start(); err != nil {
		close(s.done)
		return err
	}
	go func() {
		_ = s.cmd.Wait() // it is killed, which counts as a failure
		close(s.done)
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.awaitAnswer(ctx)
}

// awaitAnswer returns when the process that was started answers: another one
// could have got hold of the port.
func (s *Server) awaitAnswer(ctx context.Context) error {
	for {
		info, err := s.client.Info(ctx, "server").Result()
		if err == nil {
			if pid := field(info, "process_id"); pid != strconv.Itoa(s.cmd.Process.Pid) {
				return fmt.Errorf("at %s another server answers, process %s", s.Addr, pid)
			}
			s.Version = version(info)
			return nil
		}
		select {
		case <-s.done:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func version(info string) string {
	if v := field(info, "valkey_version"); v != "" {
		return "Valkey " + v
	}
	return "Redis " + field(info, "redis_version")
}

// field is a value of an INFO reply; empty where there is none.
func field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Commands are all that the server has done, without the reading itself.
func (s *Server) Commands(ctx context.Context) (figure.Commands, error) {
	info, err := s.client.Info(ctx, "commandstats").Result()
	if err != nil {
		return nil, fmt.Errorf("reading what the server did: %w", err)
	}
	return figure.ParseCommands(info).Without("info"), nil
}

// Empty deletes all keys. Scripts stay.
func (s *Server) Empty(ctx context.Context) error {
	if err := s.client.FlushAll(ctx).Err(); err != nil {
		return fmt.Errorf("emptying the server: %w", err)
	}
	return nil
}

// End kills the server, since it has nothing to keep, and removes its folder.
func (s *Server) End() error {
	err := s.client.Close()
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Kill() // fails only where it has ended by itself
		<-s.done
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
