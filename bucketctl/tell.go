package bucketctl

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// tellOutage adds the events of an outage that is over.
func (c *Client) tellOutage(ctx context.Context, from *link, o outage, local float64) {
	began := map[string]string{"since": o.since.Format(time.RFC3339Nano)}
	ended := map[string]string{
		"since":  began["since"],
		"lasted": o.lasted.Round(time.Millisecond).String(),
		"local":  formatNumber(local),
	}
	if from.server != "" {
		began["server"], ended["server"] = from.server, from.server
	}
	c.tell(ctx,
		Event{Kind: EventFallback, By: c.self.ID, Reason: o.reason, Detail: began},
		Event{Kind: EventShared, By: c.self.ID, Reason: o.reason, Detail: ended})
}

// tellMended adds the event of a take that found values that can't be. It runs
// beside the caller.
func (c *Client) tellMended(key string, mended int64) {
	reason := "stored values were corrupt: begun again from empty"
	if mended == mendedAhead {
		reason = "ts was ahead of the server's clock: set to now, without credit"
	}
	c.goUnlessClosed(func(ctx context.Context) {
		c.tell(ctx, Event{Kind: EventMended, Key: key, By: c.self.ID, Reason: reason})
	})
}

// tell adds events. It is an effort: the decisions they tell of stand anyway.
func (c *Client) tell(ctx context.Context, events ...Event) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, e := range events {
			p.XAdd(ctx, eventEntry(c.keys, e))
		}
		return nil
	})
	if err != nil {
		c.config.Logger.Debug("bucketctl: events were not added", "error", cause(err))
	}
}
