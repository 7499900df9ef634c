package peer

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/bench/figure"
)

//go:embed article.lua
var articleScript string

// longestSleep is the article's bound of one sleep.
const longestSleep = 5 * time.Second

// article is a token bucket in a script that takes the caller's clock, in the
// form it is often published in.
func article() Peer {
	return Peer{
		Name: Article,
		Open: func(_ context.Context, addr string) (Session, error) {
			return newGoRedis(addr, articleLimiter), nil
		},
		Sent: func(all figure.Commands) figure.Commands { return all.Without("hmget", "hmset", "expire") },
	}
}

func articleLimiter(client *redis.Client, key string, limit Limit) (Limiter, error) {
	script, keys := redis.NewScript(articleScript), []string{key}
	return try(func(ctx context.Context) (bool, time.Duration, error) {
		reply, err := script.Run(ctx, client, keys, limit.Capacity, limit.Rate, clock(), 1).Slice()
		if err != nil {
			return false, 0, err
		}
		return readArticle(reply)
	}), nil
}

func clock() string {
	const digits = 6
	return strconv.FormatFloat(float64(time.Now().UnixMicro())/1e6, 'f', digits, 64)
}

func readArticle(reply []any) (taken bool, wait time.Duration, err error) {
	if len(reply) != 2 {
		return false, 0, fmt.Errorf("the article's script replied with %d items", len(reply))
	}
	granted, ok1 := reply[0].(int64)
	text, ok2 := reply[1].(string)
	if !ok1 || !ok2 {
		return false, 0, fmt.Errorf("the article's script replied %v", reply)
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false, 0, fmt.Errorf("reading the article's wait: %w", err)
	}
	return granted == 1, min(time.Duration(seconds*float64(time.Second)), longestSleep), nil
}
