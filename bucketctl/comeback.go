package bucketctl

import "context"

// failed takes in a failed call, and starts the way back if callers now stop
// touching Redis.
func (c *Client) failed(to *link, kind class, err error) {
	if !to.failed(kind, err) {
		return
	}
	c.goUnlessClosed(func(ctx context.Context) { c.comeBack(ctx, to) })
	for _, l := range c.behind(to) {
		l.wake() // those who sleep until their turn at Redis begin with their share
	}
}

// comeBack probes until Redis can be used again, closes the link, wakes
// everybody who waits alone, and tells Redis what it missed.
func (c *Client) comeBack(ctx context.Context, to *link) {
	if !to.probe(ctx, func(ctx context.Context) error { return c.try(ctx, to) }) {
		return
	}
	limiters := c.behind(to)
	for _, l := range limiters {
		l.paying.Lock() // no shared grant before what is owed is known
	}
	o, told := to.closeAgain()
	var local float64
	for _, l := range limiters {
		local += l.owe()
		l.paying.Unlock()
	}
	for _, l := range limiters {
		l.wake()
	}
	if told {
		c.lastOutage.Store(&Outage{Reason: o.reason, Since: o.since, Lasted: o.lasted, Local: local})
		c.tellTransition(to, Transition{Mode: ModeShared, Reason: o.reason, Since: o.since, Lasted: o.lasted, Local: local})
		c.tellOutage(ctx, to, o, local)
	}
	c.payAll(ctx, limiters)
}

// payAll pays for those that nobody draws from now: others would find too much
// in their buckets.
func (c *Client) payAll(ctx context.Context, limiters []*Limiter) {
	for _, l := range limiters {
		err := bounded(ctx, l.payDebts)
		if kind := classify(ctx, err); kind == classOutage || kind == classConfig {
			c.failed(l.link(), kind, err)
			return
		}
	}
}

// try makes sure that Redis takes writes and lets the scripts run, which a PING
// would not show. Where one server has all, the report comes first: should it
// answer but refuse the scripts, operators see who decides alone and why. The
// beats come before the return: the registry may have vanished, and should Redis
// go again at once, the share is that of all who live now. That reports or beats
// alone are refused stops nobody.
func (c *Client) try(ctx context.Context, to *link) error {
	limiters := c.behind(to)
	pulses := pulsesOf(limiters)
	if !c.isCluster() {
		pulses = append(pulses, c.everybody)
		err := bounded(ctx, func(ctx context.Context) error { return knock(ctx, c.redis) })
		if err != nil {
			return err
		}
		err = bounded(ctx, func(ctx context.Context) error { return c.publishReport(ctx, c.reportInterval(), false) })
		if classify(ctx, err) == classOutage {
			return err
		}
	}
	err := bounded(ctx, func(ctx context.Context) error { return c.beat(ctx, pulses, beatInterval) })
	if classify(ctx, err) == classOutage {
		return err
	}
	for _, l := range limiters {
		// One bucket stands for all: if another can't be used, its next take
		// opens the link again.
		if err := bounded(ctx, l.try); classify(ctx, err) != classBucket {
			return err
		}
	}
	return nil
}
