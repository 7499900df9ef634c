package bucketctl

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

// servers are the links to the servers of a cluster, each for the buckets that
// it holds: the outage of one sends only those into fallback. A link may outlive
// its server; that costs nothing.
type servers struct {
	mu    sync.Mutex
	links map[string]*link // by address
}

func (c *Client) newLink(server string) *link {
	to := &link{server: server, clock: &c.clock}
	to.tell = func(t Transition) { c.tellTransition(to, t) }
	return to
}

func (c *Client) isCluster() bool {
	_, is := c.redis.(*redis.ClusterClient)
	return is
}

// linkTo is the link to the server at this address of a cluster.
func (c *Client) linkTo(server string) *link {
	c.servers.mu.Lock()
	defer c.servers.mu.Unlock()
	to, ok := c.servers.links[server]
	if !ok {
		to = c.newLink(server)
		if c.servers.links == nil {
			c.servers.links = map[string]*link{}
		}
		c.servers.links[server] = to
	}
	return to
}

// behind returns the limiters whose buckets are reached by this link.
func (c *Client) behind(to *link) []*Limiter {
	var limiters []*Limiter
	for _, l := range c.all() {
		if l.link() == to {
			limiters = append(limiters, l)
		}
	}
	return limiters
}

// link is what tells whether the bucket's server is asked.
func (l *Limiter) link() *link { return l.route.Load() }

// run runs one of the bucket's scripts.
func (l *Limiter) run(ctx context.Context, script *redis.Script, args ...any) (reply, error) {
	return l.client.run(ctx, script, l.keys, []*Limiter{l}, args...)
}

// run runs a script on buckets of one slot.
func (c *Client) run(ctx context.Context, script *redis.Script, keys []string, buckets []*Limiter, args ...any) (reply, error) {
	return runOnce(ctx, c.redis, script, keys, func(server string) {
		for _, l := range buckets {
			l.goVia(server)
		}
	}, args...)
}

// runOnce runs a script and never repeats it. In a cluster it asks the server of
// the keys itself, and says which that is: the cluster's own client sends a call
// again whose connection broke, and nobody would know whether it was done twice.
// Only a redirection, which did nothing, is left to that client.
func runOnce(ctx context.Context, client redis.UniversalClient, script *redis.Script, keys []string, via func(server string), args ...any) (reply, error) {
	cluster, is := client.(*redis.ClusterClient)
	if !is {
		return runScript(ctx, client, script, keys, args...)
	}
	server, err := cluster.MasterForKey(ctx, keys[0])
	if err != nil {
		return nil, err
	}
	via(server.Options().Addr)
	r, err := runScript(ctx, server, script, keys, args...)
	if isRedirection(err) {
		return runScript(ctx, cluster, script, keys, args...)
	}
	return r, err
}

// isRedirection reports whether a server of a cluster sent the caller to another
// one, and so did nothing.
func isRedirection(err error) bool {
	return redis.HasErrorPrefix(err, "MOVED") || redis.HasErrorPrefix(err, "ASK")
}

// goVia puts the bucket behind the link to its server. While the link that it
// is behind is open it stays there, until what was granted alone is settled.
func (l *Limiter) goVia(server string) {
	now := l.link()
	if open, _, _ := now.isOpen(); !open && now.server != server {
		l.route.CompareAndSwap(now, l.client.linkTo(server))
	}
}
