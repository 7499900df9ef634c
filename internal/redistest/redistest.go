// Package redistest starts real Redis servers for tests and takes them down in
// every way a test asks for. Only tests import it.
//
// A test starts its own server, which takes some 15 ms, and so needs to agree
// with no other test about keys; nothing here ever talks to a server it did not
// start. Servers end with their test, and on Linux also when the test process
// dies without running its cleanups.
//
// [Server] is one server: freeze it, kill it, restart it. [Cluster] is some
// masters that share the slots. [Proxy] stands between a client and a server and
// spoils the connection while the server stays well.
//
// Methods that fail end the test through the testing.TB given at the start, so
// they belong in the test's own goroutine.
package redistest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// patience is how long a server may take to start or to end. It takes
// milliseconds; a loaded machine must not fail a test.
const patience = 20 * time.Second

// Server is a redis-server or valkey-server process on a loopback port.
type Server struct {
	Addr   string // host:port, the same for the server's whole life
	Socket string // path of its unix socket

	t      testing.TB
	binary string
	dir    string
	args   []string

	mu     sync.Mutex
	cmd    *exec.Cmd     // nil while no process runs
	done   chan struct{} // closed when the process has been reaped
	frozen bool
}

// Start starts a server that keeps nothing on disk and allows DEBUG, waits until
// it answers, and ends it with the test. The arguments are the server's own and
// win over what is set here: Start(t, "--maxmemory", "4mb").
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, func() []string { return args })
}

// start takes a fresh port, and with it fresh arguments, when somebody else got
// hold of the port between its choice and its use.
func start(t testing.TB, args func() []string) *Server {
	t.Helper()
	binary, err := findServer()
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: a unix socket's path must stay short.
	dir, err := os.MkdirTemp("", "rt-")
	if err != nil {
		t.Fatalf("making the server's folder: %v", err)
	}
	s := &Server{t: t, binary: binary.path, dir: dir, Socket: filepath.Join(dir, "sock")}
	t.Cleanup(s.remove)
	for range 5 {
		port := strconv.Itoa(FreePort(t))
		s.Addr = loopback(port)
		s.args = append(defaults(binary, dir, s.Socket, port), args()...)
		if err = s.launch(); !errors.Is(err, errPortTaken) {
			break
		}
	}
	if err != nil {
		t.Fatalf("starting %s: %v", binary.path, err)
	}
	return s
}

func defaults(binary program, dir, socket, port string) []string {
	args := []string{
		"--bind", "127.0.0.1", "--port", port, "--dir", dir, "--unixsocket", socket,
		"--save", "", "--appendonly", "no",
	}
	if binary.major >= 7 { // older ones always allow DEBUG
		args = append(args, "--enable-debug-command", "local")
	}
	return args
}

var errPortTaken = errors.New("somebody else took the port")

// launch starts the process and returns when it answers.
func (s *Server) launch() error {
	log, err := os.Create(s.logPath())
	if err != nil {
		return fmt.Errorf("creating its log: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own descriptor
	cmd := exec.Command(s.binary, s.args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = endWithParent()
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	s.mu.Lock()
	s.cmd, s.done = cmd, done
	s.mu.Unlock()
	go func() {
		_ = cmd.Wait() // how it ended is told by its log
		close(done)
	}()
	return s.awaitReady(done)
}

func (s *Server) logPath() string { return filepath.Join(s.dir, "log") }

// awaitReady asks through the unix socket, which is in a folder of our own, so
// that no other server can answer in this one's place.
func (s *Server) awaitReady(done <-chan struct{}) error {
	deadline := time.Now().Add(patience)
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		err := ping(s.Socket)
		if err == nil {
			return nil
		}
		select {
		case <-done:
			return s.explain()
		case <-time.After(wait):
		}
		if time.Now().After(deadline) {
			s.end()
			return fmt.Errorf("no answer in %v: %w; log:\n%s", patience, err, s.log())
		}
	}
}

// explain says why a process ended that should have answered.
func (s *Server) explain() error {
	log := s.log()
	if strings.Contains(log, "Address already in use") {
		return fmt.Errorf("%w; log:\n%s", errPortTaken, log)
	}
	return fmt.Errorf("it ended at once; log:\n%s", log)
}

func (s *Server) log() string {
	text, err := os.ReadFile(s.logPath())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// ping succeeds when a server answers at the socket and is done with loading. One
// that wants a password first does answer.
func ping(socket string) error {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	reply := make([]byte, 64)
	n, err := conn.Read(reply)
	if err != nil {
		return err
	}
	for _, up := range []string{"+PONG", "-NOAUTH", "-NOPERM"} {
		if strings.HasPrefix(string(reply[:n]), up) {
			return nil
		}
	}
	return fmt.Errorf("it answers %q", reply[:n])
}

// URL is the server's address as bucketop and go-redis take it.
func (s *Server) URL() string { return "redis://" + s.Addr }

// PID is the id of the running process, 0 when there is none.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return 0
	}
	return s.cmd.Process.Pid
}

// Client returns a plain client of this server, closed with the test. It sends
// what it is told and nothing besides: no retries, no CLIENT commands.
func (s *Server) Client(t testing.TB) *redis.Client {
	t.Helper()
	return client(t, s.Addr)
}

func client(t testing.TB, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{
		Addr:                     addr,
		MaxRetries:               -1,
		DialerRetries:            1,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Freeze stops the process where it stands: connections stay open, new ones are
// taken by the kernel, nothing is answered. Nothing runs in the server any more
// when Freeze returns.
func (s *Server) Freeze() { s.t.Helper(); s.setFrozen(true) }

// Thaw lets a frozen server go on, beginning with what it was sent meanwhile.
func (s *Server) Thaw() { s.t.Helper(); s.setFrozen(false) }

func (s *Server) setFrozen(frozen bool) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		s.t.Fatal("the server does not run, so it can be neither frozen nor thawed")
	}
	if s.frozen == frozen {
		return
	}
	signal := thaw
	if frozen {
		signal = freeze
	}
	if err := signal(s.cmd.Process); err != nil {
		s.t.Fatalf("setting frozen to %v: %v", frozen, err)
	}
	s.frozen = frozen
}

// Kill ends the server as a crash would (SIGKILL), also a frozen one. When it
// returns the port refuses connections. Killing twice is harmless.
func (s *Server) Kill() { s.end() }

// end kills the process and waits until it has been reaped.
func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill() // fails only where the process has ended by itself
	<-s.done
	s.cmd, s.frozen = nil, false
}

// Stop ends the server in order (SIGTERM), as a service manager would.
func (s *Server) Stop() {
	s.t.Helper()
	s.mu.Lock()
	cmd, done := s.cmd, s.done
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatalf("asking the server to end: %v", err)
	}
	select {
	case <-done:
		s.end()
	case <-time.After(patience):
		s.t.Fatalf("the server has not ended %v after SIGTERM", patience)
	}
}

// Restart ends the server if it runs and starts it again at the same address. It
// comes back empty, unless it was started with some persistence.
func (s *Server) Restart() {
	s.t.Helper()
	s.end()
	deadline := time.Now().Add(patience)
	err := s.launch()
	for errors.Is(err, errPortTaken) && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond) // whoever has the port tells nobody when it is free
		err = s.launch()
	}
	if err != nil {
		s.t.Fatalf("restarting the server: %v", err)
	}
}

// remove ends the server with its test and takes its folder away.
func (s *Server) remove() {
	s.end()
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Errorf("removing the server's folder: %v", err)
	}
}
