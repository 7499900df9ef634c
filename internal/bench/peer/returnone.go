package peer

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/bench/figure"
)

// returnOne is one call of the smallest script for each grant: what no limiter
// that asks once for each grant can be faster than.
func returnOne() Peer {
	return Peer{
		Name: "return 1",
		Open: func(_ context.Context, addr string) (Session, error) {
			return newGoRedis(addr, returnOneLimiter), nil
		},
		Sent:      func(all figure.Commands) figure.Commands { return all },
		Unlimited: true,
	}
}

func returnOneLimiter(client *redis.Client, key string, _ Limit) (Limiter, error) {
	script, keys := redis.NewScript("return 1"), []string{key}
	return try(func(ctx context.Context) (bool, time.Duration, error) {
		return true, 0, script.Run(ctx, client, keys).Err()
	}), nil
}
