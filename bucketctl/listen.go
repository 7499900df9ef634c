package bucketctl

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	wakeQuiet   = 10 * time.Second // without a message the connection is asked whether it lives
	resubscribe = time.Second      // between attempts
)

// listen subscribes to the wake channel until ctx ends, so that an operator's
// change ends a sleep at once. Without it (pub/sub denied, a broken
// connection) sleepers ask again within recheck.
func (c *Client) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if open, _, _ := c.link.isOpen(); !open { // else every attempt would be a line in somebody's log
			c.listenOnce(ctx)
		}
		sleep(ctx, jitter(resubscribe))
	}
}

// listenOnce serves one subscription until it breaks.
func (c *Client) listenOnce(ctx context.Context) {
	sub := c.redis.Subscribe(ctx, c.keys.Wake())
	stop := context.AfterFunc(ctx, func() { closeQuietly(sub) }) // ends a Receive at once
	defer closeQuietly(sub)
	defer stop()
	for asked := false; ; {
		message, err := sub.ReceiveTimeout(ctx, wakeQuiet)
		var network net.Error
		switch {
		case err == nil:
			asked = false
			c.heard(message)
		case errors.As(err, &network) && network.Timeout() && !asked && sub.Ping(ctx) == nil:
			asked = true // no answer to that either, and the connection is dead
		default:
			return
		}
	}
}

func closeQuietly(sub *redis.PubSub) {
	if err := sub.Close(); err != nil {
		return // closed before, which is all we want
	}
}

// heard wakes the waiters of the bucket that a message names. A fresh
// subscription wakes all: messages may have been missed before it.
func (c *Client) heard(message any) {
	switch m := message.(type) {
	case *redis.Message:
		c.mu.Lock()
		l := c.limiters[m.Payload]
		c.mu.Unlock()
		if l != nil {
			l.wake()
		}
	case *redis.Subscription:
		for _, l := range c.all() {
			l.wake()
		}
	}
}
