package bucketctl

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Tune sets what a limiter needs of a client and what the client's defaults
// don't give: a script is never run twice by a retry, a call ends with its
// context, and a dead server is noticed within a second or so.
func Tune(o *redis.UniversalOptions) {
	o.MaxRetries = -1              // 0 would mean the default of 3
	o.ContextTimeoutEnabled = true // else a context's deadline is ignored
	o.DialTimeout = time.Second
	o.DialerRetries = 1
	o.ReadTimeout = time.Second
	o.WriteTimeout = time.Second
	o.PoolTimeout = callTimeout * 4 / 5 // sooner than a call, which then says what it waited for
}

// clusterReload is how often a cluster client asks who serves which slot: the
// default of a minute would leave a failed-over slot failing for as long.
const clusterReload = time.Second

// NewClient returns a client for o: to a cluster, to a sentinel's master, or
// to one server. It does no I/O.
func NewClient(o *redis.UniversalOptions) redis.UniversalClient {
	if o.IsClusterMode || (len(o.Addrs) > 1 && o.MasterName == "") {
		cluster := o.Cluster()
		cluster.ClusterStateReloadInterval = clusterReload
		return redis.NewClusterClient(cluster)
	}
	return redis.NewUniversalClient(o)
}

// knock reaches the server past the client's pool, which writes a line to stderr
// for each dial that fails, and offers no way to silence one client: an outage
// would be a line for each probe. A cluster's client is not knocked for: its
// servers are many.
func knock(ctx context.Context, client redis.UniversalClient) error {
	one, ok := client.(*redis.Client)
	if !ok {
		return nil
	}
	o := one.Options()
	conn, err := o.Dialer(ctx, o.Network, o.Addr)
	if err != nil {
		return fmt.Errorf("reach Redis: %w", err)
	}
	return conn.Close()
}
