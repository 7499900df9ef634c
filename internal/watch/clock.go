package watch

import "time"

// clock tells the server's time between readings of it, by this machine's
// monotonic clock. Where none was read yet it tells this machine's own.
type clock struct {
	server time.Time
	local  time.Time
}

// set takes in a server time read at local. What arrives late in a refresh is
// newer, so the last one counts.
func (c *clock) set(server, local time.Time) {
	if !server.IsZero() {
		c.server, c.local = server, local
	}
}

// now is the server's time at local.
func (c *clock) now(local time.Time) time.Time {
	if c.server.IsZero() {
		return local.UTC()
	}
	return c.server.Add(local.Sub(c.local))
}

// Now is the server's time at this machine's time local, for ages and levels
// that move between two snapshots. It stands still while Redis is lost.
func (s *Snapshot) Now(local time.Time) time.Time {
	if s.Link.State != Live || s.At.IsZero() {
		return s.At
	}
	return s.At.Add(max(0, local.Sub(s.Taken)))
}
