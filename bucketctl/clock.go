package bucketctl

import (
	"sync/atomic"
	"time"
)

// serverClock estimates the server's time from the newest reply and this machine's
// monotonic clock. It is for showing and for ends of what was seen before an
// outage; no decision that Redis makes uses it.
type serverClock struct {
	newest atomic.Pointer[clockReading]
}

type clockReading struct {
	server time.Time
	local  time.Time // with its monotonic reading
}

// set takes in a server time just received.
func (c *serverClock) set(server time.Time) {
	c.newest.Store(&clockReading{server: server, local: time.Now()})
}

// now is the estimate; this machine's own clock before the first reply.
func (c *serverClock) now() time.Time {
	r := c.newest.Load()
	if r == nil {
		return time.Now().UTC()
	}
	return r.server.Add(time.Since(r.local))
}
