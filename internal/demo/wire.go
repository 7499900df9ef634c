package demo

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
)

// wire is one worker's way to Redis, with a switch: the worker itself notices
// what any process would whose network breaks.
type wire struct {
	mu   sync.Mutex
	cut  bool
	open map[*wireConn]struct{}
}

func newWire() *wire { return &wire{open: make(map[*wireConn]struct{})} }

// setCut breaks all connections and refuses new ones, or takes them again.
func (w *wire) setCut(cut bool) {
	w.mu.Lock()
	w.cut = cut
	var broken []*wireConn
	if cut {
		for c := range w.open {
			broken = append(broken, c)
		}
	}
	w.mu.Unlock()
	for _, c := range broken {
		_ = c.Close() // broken is what it should be
	}
}

// dial is a redis.Options.Dialer.
func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &wireConn{Conn: raw, wire: w}
	if !w.add(c) {
		_ = raw.Close() // nobody has used it
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
	}
	return c, nil
}

// add reports whether the connection may be used.
func (w *wire) add(c *wireConn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		return false
	}
	w.open[c] = struct{}{}
	return true
}

// wireConn is one connection over a wire.
type wireConn struct {
	net.Conn
	wire *wire
}

// Close implements net.Conn.
func (c *wireConn) Close() error {
	c.wire.mu.Lock()
	delete(c.wire.open, c)
	c.wire.mu.Unlock()
	return c.Conn.Close()
}

// SyscallConn lets the pool see that an idle connection is broken before it
// hands it out.
func (c *wireConn) SyscallConn() (syscall.RawConn, error) {
	inner, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return inner.SyscallConn()
}
