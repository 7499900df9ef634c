package peer

import (
	"context"

	"golang.org/x/time/rate"

	"bucketop/internal/bench/figure"
)

// xTime is golang.org/x/time/rate: no Redis, and so a whole bucket for each
// process.
func xTime() Peer {
	return Peer{
		Name: "x/time/rate (local)",
		Open: func(context.Context, string) (Session, error) { return xTimeSession{}, nil },
		Sent: func(all figure.Commands) figure.Commands { return all },
	}
}

type xTimeSession struct{}

func (xTimeSession) Limiter(_ string, limit Limit) (Limiter, error) {
	return rate.NewLimiter(rate.Limit(limit.Rate), limit.Capacity), nil
}

func (xTimeSession) Close() error { return nil }
