package peer

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/ulule/limiter/v3"
	store "github.com/ulule/limiter/v3/drivers/store/redis"

	"bucketop/internal/bench/figure"
)

// ulule counts in fixed windows and knows no capacity: it allows the rate in
// each second, whenever within it. No shortage is a window that is never full.
func ulule() Peer {
	return Peer{
		Name: "ulule/limiter",
		Open: func(_ context.Context, addr string) (Session, error) {
			return newGoRedis(addr, ululeLimiter), nil
		},
		Sent: func(all figure.Commands) figure.Commands { return all.Without("incrby", "pexpire", "pttl") },
	}
}

func ululeLimiter(client *redis.Client, key string, limit Limit) (Limiter, error) {
	redisStore, err := store.NewStore(client)
	if err != nil {
		return nil, fmt.Errorf("opening ulule's store: %w", err)
	}
	l := limiter.New(redisStore, limiter.Rate{Period: time.Second, Limit: int64(limit.Rate)})
	return try(func(ctx context.Context) (bool, time.Duration, error) {
		result, err := l.Get(ctx, key)
		// Reset is in whole seconds and often past already.
		return err == nil && !result.Reached, time.Until(time.Unix(result.Reset, 0)), err
	}), nil
}
