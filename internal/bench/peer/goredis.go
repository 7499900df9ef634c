package peer

import (
	"github.com/redis/go-redis/v9"
)

// goRedis is the Session of those that use go-redis, with its own defaults.
type goRedis struct {
	*redis.Client
	limiter func(client *redis.Client, key string, limit Limit) (Limiter, error)
}

func newGoRedis(addr string, limiter func(*redis.Client, string, Limit) (Limiter, error)) goRedis {
	return goRedis{redis.NewClient(&redis.Options{Addr: addr}), limiter}
}

func (g goRedis) Limiter(key string, limit Limit) (Limiter, error) {
	return g.limiter(g.Client, key, limit)
}
