package redistest

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// proxied starts a server and a proxy before it, and returns a client of each.
func proxied(t *testing.T) (f *Forwarder, direct, through *redis.Client) {
	t.Helper()
	s := Start(t)
	f = Proxy(t, s.Addr)
	return f, s.Client(t), f.Client(t)
}

// eventually waits for something that announces itself nowhere.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func (f *Forwarder) open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.links)
}

func TestProxyForwards(t *testing.T) {
	f, direct, through := proxied(t)
	big := string(make([]byte, 1<<20)) // many pieces, each way
	set(t, through, "key", big)
	wantValue(t, direct, "key", big)
	wantValue(t, through, "key", big)
	if f.URL() != "redis://"+f.Addr {
		t.Errorf("URL() = %q", f.URL())
	}
	if err := through.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the client's connection is closed toward the server", func() bool { return f.open() == 0 })
}

func TestProxyCut(t *testing.T) {
	f, direct, through := proxied(t)
	set(t, through, "key", "1")
	conn := dial(t, f.Addr)
	f.Cut()
	f.Cut()
	if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("reading from a cut connection: %v, want it closed", err)
	}
	wantRefused(t, f.Addr)
	if err := through.Get(t.Context(), "key").Err(); err == nil {
		t.Error("a client got through")
	}
	f.Heal()
	f.Heal()
	wantValue(t, direct, "key", "1")
	eventually(t, "the client gets through again", func() bool { return through.Get(t.Context(), "key").Err() == nil })
}

func TestProxyDrop(t *testing.T) {
	f, _, through := proxied(t)
	set(t, through, "key", "1")
	conn := dial(t, f.Addr)
	set(t, f.Client(t), "key", "2") // so that the proxy has accepted conn too
	f.Drop()
	if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("reading from a dropped connection: %v, want it closed", err)
	}
	wantValue(t, f.Client(t), "key", "2")
}

func TestProxySwallowsReplies(t *testing.T) {
	f, direct, through := proxied(t)
	set(t, through, "n", "1")
	conn := dial(t, f.Addr)
	wantEcho(t, conn)

	f.SwallowReplies()
	wantSilence(t, through, "INCR", "n")
	wantValue(t, direct, "n", "2")
	send(t, conn, "INCR n\r\n")
	eventually(t, "the server has run the command", func() bool {
		return direct.Get(t.Context(), "n").Val() == "3"
	})

	f.Heal()
	wantValue(t, through, "n", "3") // on a connection of its own: the old one timed out
	// An old connection must not take the next answer for the one it lost.
	send(t, conn, "INCR n\r\n")
	eventually(t, "the server has run the command", func() bool {
		return direct.Get(t.Context(), "n").Val() == "4"
	})
	wantNothing(t, conn)
}

func TestProxyFreezesWhatIsOpen(t *testing.T) {
	f, direct, _ := proxied(t)
	set(t, direct, "n", "1")
	conn := dial(t, f.Addr)
	wantEcho(t, conn)

	f.Freeze()
	f.Freeze()
	send(t, conn, "INCR n\r\n")
	wantNothing(t, conn)
	wantValue(t, f.Client(t), "n", "1") // a new connection works, and nothing was forwarded

	f.Heal()
	wantLine(t, conn, ":2\r\n")
}

func TestProxyCutEndsFrozenConnections(t *testing.T) {
	f, _, _ := proxied(t)
	conn := dial(t, f.Addr)
	wantEcho(t, conn)
	f.Freeze()
	send(t, conn, "PING\r\n")
	wantNothing(t, conn) // so that the proxy has the command in hand
	f.Cut()
	if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("reading from a cut connection: %v, want it closed", err)
	}
}

func TestProxyDelays(t *testing.T) {
	const delay = 50 * time.Millisecond
	f, _, _ := proxied(t)
	for name, way := range map[string][2]time.Duration{"toward": {delay, 0}, "back": {0, delay}} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, f.Addr)
			wantEcho(t, conn)
			f.Delay(way[0], way[1])
			defer f.Heal()
			start := time.Now()
			wantEcho(t, conn)
			if took := time.Since(start); took < delay {
				t.Errorf("an answer came after %v, want at least %v", took, delay)
			}
		})
	}
}

// TestProxyDelaysDoNotAddUp sends ten pieces apart from each other: were each
// held only when the one before it has gone, they would take ten delays.
func TestProxyDelaysDoNotAddUp(t *testing.T) {
	const delay = 300 * time.Millisecond
	f, _, _ := proxied(t)
	conn := dial(t, f.Addr)
	wantEcho(t, conn)
	f.Delay(delay, 0)
	start := time.Now()
	for range 10 {
		send(t, conn, "PING\r\n")
		time.Sleep(2 * time.Millisecond) // or the kernel would make one piece of them
	}
	for range 10 {
		wantLine(t, conn, "+PONG\r\n")
	}
	if took := time.Since(start); took < delay || took > 5*delay {
		t.Errorf("ten delayed answers took %v, want a little over %v", took, delay)
	}
}

// Each piece has its own luck: of twenty answers, one after the other, some come
// sooner than the longest delay, and together they take more than none.
func TestProxyDelaysAtRandom(t *testing.T) {
	const most, answers = 50 * time.Millisecond, 20
	f, _, _ := proxied(t)
	conn := dial(t, f.Addr)
	wantEcho(t, conn)
	f.DelayAtRandom(0, most)
	var all time.Duration
	fastest := time.Hour
	for range answers {
		start := time.Now()
		wantEcho(t, conn)
		took := time.Since(start)
		all, fastest = all+took, min(fastest, took)
	}
	if all < most || fastest >= most {
		t.Errorf("%d answers took %v, the fastest %v, with delays from 0 to %v", answers, all, fastest, most)
	}
}

func TestProxyToNowhere(t *testing.T) {
	s := Start(t)
	f := Proxy(t, s.Addr)
	s.Kill()
	conn := dial(t, f.Addr)
	if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("reading from a proxy without a server: %v, want it closed", err)
	}
}

// TestProxyUnderFire throws the switches while clients talk, for the race
// detector and for what Proxy must take down afterwards.
func TestProxyUnderFire(t *testing.T) {
	f, direct, _ := proxied(t)
	var clients sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		c := f.Client(t)
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = c.Incr(t.Context(), "n").Err() // errors are what the switches make
				}
			}
		})
	}
	for range 20 {
		f.Delay(time.Millisecond, time.Millisecond)
		f.Freeze()
		f.Drop()
		f.Cut()
		f.Heal()
		eventually(t, "somebody gets through", func() bool {
			before := direct.Get(t.Context(), "n").Val()
			return f.Client(t).Incr(t.Context(), "n").Err() == nil && direct.Get(t.Context(), "n").Val() != before
		})
	}
	close(stop)
	clients.Wait()
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("dialling %s: %v", addr, err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func send(t *testing.T, conn net.Conn, command string) {
	t.Helper()
	if _, err := conn.Write([]byte(command)); err != nil {
		t.Fatalf("sending %q: %v", command, err)
	}
}

func wantLine(t *testing.T, conn net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Fatalf("read %q, %v, want %q", got, err, want)
	}
}

// wantEcho makes sure that the connection is through to the server.
func wantEcho(t *testing.T, conn net.Conn) {
	t.Helper()
	send(t, conn, "PING\r\n")
	wantLine(t, conn, "+PONG\r\n")
}

// wantNothing fails when anything arrives, or the connection is closed.
func wantNothing(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(brief)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || !isTimeout(err) {
		t.Fatalf("read %d bytes, %v, want silence", n, err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
}

// isTimeout tells silence from a closed connection.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout() && !errors.Is(err, syscall.ECONNRESET)
}
