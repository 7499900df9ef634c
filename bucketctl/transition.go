package bucketctl

import "time"

// Transition is an outage that began, or that is over. Before, between and
// after, every Decision says who made it.
type Transition struct {
	Mode   Mode          // ModeShared: back; else Config.Fallback's; buckets may have one of their own
	Reason string        // why Redis could not be asked
	Since  time.Time     // server time, estimated, at which the worker began to decide alone
	Lasted time.Duration // ModeShared: how long it did
	Local  float64       // ModeShared: tokens granted alone in that time, in all buckets
	Server string        // of a cluster: which one this is about; else empty
	Share  string        // what the buckets do without Redis, in words: "rate / 4 workers"

	reminder bool
}

// transitionsKept is how many transitions wait for a slow OnTransition.
const transitionsKept = 16

// tellTransition writes the one line of a transition, and hands it on.
func (c *Client) tellTransition(from *link, t Transition) {
	message := "bucketctl: Redis can't be asked, deciding alone"
	switch {
	case t.reminder:
		message = "bucketctl: still deciding alone"
	case t.Mode == ModeShared:
		message = "bucketctl: back on the shared buckets"
	}
	if t.Mode == "" {
		t.Mode = Mode(c.config.Fallback)
	}
	t.Share, t.Server = c.describeFallback(c.behind(from)), from.server
	args := []any{"app", c.config.App, "mode", t.Mode, "reason", t.Reason, "since", t.Since.Format(time.RFC3339), "share", t.Share}
	if t.Server != "" {
		args = append(args, "server", t.Server)
	}
	if t.Lasted > 0 {
		args = append(args, "lasted", t.Lasted.Round(time.Millisecond).String())
	}
	if t.Mode == ModeShared {
		args = append(args, "granted_alone", formatNumber(t.Local))
	}
	c.config.Logger.Warn(message, args...)
	if t.reminder {
		return
	}
	c.transitions.Add(1)
	if c.config.OnTransition == nil {
		return
	}
	select {
	case c.news <- t:
	default:
		c.config.Logger.Warn("bucketctl: Config.OnTransition is too slow: it was not told of this transition")
	}
}

// callOnTransition calls the user's function beside everything else, one
// transition after another. Nobody waits for it, not even Close.
func (c *Client) callOnTransition() {
	for {
		select {
		case t := <-c.news:
			c.config.OnTransition(t)
		case <-c.alive.Done():
			return
		}
	}
}
