package redistest

import (
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Forwarder is a TCP proxy whose connections can be spoiled; see [Proxy].
//
// Its switches are independent of each other, take effect at once, and are in
// force when the method returns. [Forwarder.Heal] sets all of them back.
type Forwarder struct {
	Addr string // host:port, to be used as a Redis address

	t      testing.TB
	target string
	busy   sync.WaitGroup

	mu       sync.Mutex // guards what follows
	listener net.Listener
	links    map[*link]struct{}

	// rules is held for reading while a piece is judged and passed on, so that
	// whoever changes a rule has no piece slip through afterwards.
	rules        sync.RWMutex
	swallow      bool
	toward, back time.Duration
	random       bool // each piece is held back for a part of that, by its own luck
}

// Proxy listens on a free port and forwards every connection to target
// (host:port) until the test ends.
func Proxy(t testing.TB, target string) *Forwarder {
	t.Helper()
	f := &Forwarder{t: t, target: target, links: map[*link]struct{}{}}
	var err error
	for range 5 { // somebody else may get the port first
		f.Addr = loopback(strconv.Itoa(FreePort(t)))
		if err = f.listen(); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatalf("listening for the proxy: %v", err)
	}
	t.Cleanup(func() {
		f.Cut()
		f.busy.Wait()
	})
	return f
}

// URL is the proxy's address as bucketop and go-redis take it.
func (f *Forwarder) URL() string { return "redis://" + f.Addr }

// Client returns a plain client that goes through the proxy; see [Server.Client].
func (f *Forwarder) Client(t testing.TB) *redis.Client {
	t.Helper()
	return client(t, f.Addr)
}

// Cut closes all connections and refuses new ones, as a dead host behind a live
// router does.
func (f *Forwarder) Cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listener != nil {
		_ = f.listener.Close()
		f.listener = nil
	}
	for l := range f.links {
		l.close()
	}
}

// Drop closes all connections; new ones are welcome.
func (f *Forwarder) Drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.links {
		l.close()
	}
}

// SwallowReplies lets requests through and throws away what the server answers:
// scripts run and nobody learns of it. A connection that has lost an answer
// stays mute, since its next answer would pass for the lost one.
func (f *Forwarder) SwallowReplies() { f.setRule(func() { f.swallow = true }) }

// Delay holds each piece back for so long on its way toward the server and on its
// way back. Order is kept, and pieces that follow each other do not add up.
func (f *Forwarder) Delay(toward, back time.Duration) {
	f.setRule(func() { f.toward, f.back, f.random = toward, back, false })
}

// DelayAtRandom is Delay with a random part of the delays, from none to all of
// it, anew for each piece. Order is still kept within a connection, but not
// between connections.
func (f *Forwarder) DelayAtRandom(toward, back time.Duration) {
	f.setRule(func() { f.toward, f.back, f.random = toward, back, true })
}

// Freeze lets nothing pass through the connections that are open now, in either
// direction, without closing them: a firewall that forgot them. New connections
// work.
func (f *Forwarder) Freeze() {
	f.eachLink(func(l *link) {
		if l.thawed == nil {
			l.thawed = make(chan struct{})
		}
	})
}

// Heal undoes everything: it listens again, forwards at once, and lets frozen
// connections go on with what they had been sent.
func (f *Forwarder) Heal() {
	f.t.Helper()
	f.setRule(func() { f.swallow, f.toward, f.back, f.random = false, 0, 0, false })
	f.eachLink(func(l *link) {
		if l.thawed != nil {
			close(l.thawed)
			l.thawed = nil
		}
	})
	f.mu.Lock()
	cut := f.listener == nil
	f.mu.Unlock()
	if !cut {
		return
	}
	if err := f.listen(); err != nil {
		f.t.Fatalf("listening again: %v", err)
	}
}

func (f *Forwarder) setRule(set func()) {
	f.rules.Lock()
	defer f.rules.Unlock()
	set()
}

func (f *Forwarder) eachLink(do func(*link)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules.Lock()
	defer f.rules.Unlock()
	for l := range f.links {
		do(l)
	}
}

// listen opens the port and accepts until Cut closes it.
func (f *Forwarder) listen() error {
	listener, err := net.Listen("tcp", f.Addr)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.listener = listener
	f.mu.Unlock()
	f.busy.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			f.busy.Go(func() { f.serve(listener, client) })
		}
	})
	return nil
}

// serve forwards one connection until either end closes it.
func (f *Forwarder) serve(listener net.Listener, client net.Conn) {
	defer func() { _ = client.Close() }()
	target, err := net.DialTimeout("tcp", f.target, patience)
	if err != nil {
		return
	}
	l := &link{client: client, target: target, closed: make(chan struct{})}
	if !f.add(listener, l) {
		l.close()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { f.forward(l, client, target, false) })
	both.Go(func() { f.forward(l, target, client, true) })
	both.Wait()
	f.mu.Lock()
	delete(f.links, l)
	f.mu.Unlock()
}

// add reports false for a connection whose listener was cut while it was made.
func (f *Forwarder) add(listener net.Listener, l *link) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listener != listener {
		return false
	}
	f.links[l] = struct{}{}
	return true
}
