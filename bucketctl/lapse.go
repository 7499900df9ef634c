package bucketctl

import (
	"context"
	"time"
)

// A queue across processes that has gone is noticed by whoever asks first. Those
// that sleep until turns behind it would go on sleeping for up to recheck, so
// the one that notices wakes them. In a queue that lives nobody is served this
// long before its turn.
const tooEarly = time.Second

// tellLapse wakes the other workers where a call was served long before the
// place that it showed: those who had booked before it are no more. Of the
// dispatcher alone.
func (l *Limiter) tellLapse(ticket int64, first verdict) {
	if first.code != codeCharged || ticket == 0 || time.UnixMicro(ticket).Sub(first.at) < tooEarly {
		return
	}
	now := time.Now()
	if now.Sub(l.lapseTold) < recheck { // enough for those who sleep
		return
	}
	l.lapseTold = now
	l.client.goUnlessClosed(func(ctx context.Context) {
		err := bounded(ctx, func(ctx context.Context) error {
			return l.client.redis.Publish(ctx, l.client.keys.Wake(), l.key).Err()
		})
		if err != nil {
			l.client.config.Logger.Debug("bucketctl: those who wait behind a queue that has gone were not woken", "error", cause(err))
		}
	})
}
