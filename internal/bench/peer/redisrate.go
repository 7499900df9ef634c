package peer

import (
	"context"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"bucketop/internal/bench/figure"
)

func redisRate() Peer {
	return Peer{
		Name: RedisRate,
		Open: func(_ context.Context, addr string) (Session, error) {
			return newGoRedis(addr, redisRateLimiter), nil
		},
		Sent: func(all figure.Commands) figure.Commands { return all.Without("time", "get", "set") },
	}
}

func redisRateLimiter(client *redis.Client, key string, limit Limit) (Limiter, error) {
	limiter := redis_rate.NewLimiter(client)
	declared := redis_rate.Limit{Rate: limit.Rate, Burst: limit.Capacity, Period: time.Second}
	return try(func(ctx context.Context) (bool, time.Duration, error) {
		result, err := limiter.Allow(ctx, key, declared)
		if err != nil {
			return false, 0, err
		}
		return result.Allowed > 0, result.RetryAfter, nil
	}), nil
}
