package peer

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v9"

	"bucketop/internal/bench/figure"
)

func throttledPeer() Peer {
	return Peer{
		Name: "throttled",
		Open: func(_ context.Context, addr string) (Session, error) {
			return newGoRedis(addr, throttledLimiter), nil
		},
		Sent: throttledSent,
	}
}

func throttledLimiter(client *redis.Client, key string, limit Limit) (Limiter, error) {
	store, err := goredisstore.NewCtx(client, "throttled:")
	if err != nil {
		return nil, fmt.Errorf("opening throttled's store: %w", err)
	}
	quota := throttled.RateQuota{MaxRate: throttled.PerSec(limit.Rate), MaxBurst: limit.Capacity - 1}
	limiter, err := throttled.NewGCRARateLimiterCtx(store, quota)
	if err != nil {
		return nil, fmt.Errorf("making throttled's limiter: %w", err)
	}
	// It compares and swaps, and gives up with an error after ten tries: such a
	// call counts as failed.
	return try(func(ctx context.Context) (bool, time.Duration, error) {
		limited, result, err := limiter.RateLimitCtx(ctx, key, 1)
		return err == nil && !limited, result.RetryAfter, err
	}), nil
}

// throttledSent knows that each read is a TIME and a GET, and that each swap
// is an EVAL with a GET and at most one SETEX inside.
func throttledSent(all figure.Commands) figure.Commands {
	return all.Without("setex").Only("get", all["time"].Calls)
}
