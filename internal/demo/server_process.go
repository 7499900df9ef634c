package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"bucketop/bucketctl"
)

const (
	startPatience = 5 * time.Second // a server takes some 15 ms to answer
	socketName    = "s"
	longestSocket = 100 // bytes of a unix socket's path; macOS takes 104
)

// process is a real server in a private folder.
type process struct {
	dir  string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// startProcess starts the program at path on a unix socket that only this user
// can reach. It opens no port and keeps nothing on disk.
func startProcess(ctx context.Context, path string) (*server, error) {
	dir, err := privateFolder()
	if err != nil {
		return nil, err
	}
	p := &process{dir: dir, done: make(chan struct{})}
	s := &server{url: "unix://" + p.socket(), end: p.end}
	if err := p.launch(ctx, path, s); err != nil {
		return nil, errors.Join(err, p.end())
	}
	s.name = s.title + " (" + path + ")"
	return s, nil
}

func (p *process) launch(ctx context.Context, path string, s *server) error {
	p.cmd = exec.Command(path, // #nosec G204 -- a fixed name, found on PATH
		"--port", "0", "--unixsocket", p.socket(), "--unixsocketperm", "700",
		"--save", "", "--appendonly", "no", "--dir", p.dir)
	p.cmd.Dir = p.dir
	p.cmd.SysProcAttr = endWithParent()
	if err := p.cmd.Start(); err != nil {
		close(p.done)
		return err
	}
	go func() {
		_ = p.cmd.Wait() // it is killed, which counts as a failure
		close(p.done)
	}()
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	if err := p.awaitAnswer(ctx, s.url); err != nil {
		return err
	}
	return s.identify(ctx)
}

// awaitAnswer returns when the server answers.
func (p *process) awaitAnswer(ctx context.Context, url string) error {
	options, err := bucketctl.Options(url)
	if err != nil {
		return err
	}
	client := bucketctl.NewClient(options)
	defer func() { _ = client.Close() }() // nothing was written
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		if err = client.Ping(ctx).Err(); err == nil {
			return nil
		}
		select {
		case <-p.done:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", err)
		case <-time.After(wait):
		}
	}
}

func (p *process) socket() string { return filepath.Join(p.dir, socketName) }

// end kills the server, since it has nothing to keep, waits until it is gone,
// and removes its folder.
func (p *process) end() error {
	if p.cmd != nil && p.cmd.Process != nil {
		killGroup(p.cmd.Process)
	}
	if p.cmd != nil {
		<-p.done
	}
	if err := os.RemoveAll(p.dir); err != nil {
		return fmt.Errorf("demo: remove the server's folder: %w", err)
	}
	return nil
}

// privateFolder makes a folder that only this user can enter, on a path that is
// short enough for a socket.
func privateFolder() (string, error) {
	const pattern = "bucketop-"
	dir, err := os.MkdirTemp("", pattern)
	if err == nil && len(filepath.Join(dir, socketName)) <= longestSocket {
		return dir, nil
	}
	if err == nil {
		if err := os.Remove(dir); err != nil {
			return "", fmt.Errorf("remove a folder with too long a path: %w", err)
		}
	}
	if dir, err = os.MkdirTemp("/tmp", pattern); err != nil {
		return "", fmt.Errorf("make a folder for the server: %w", err)
	}
	return dir, nil
}
