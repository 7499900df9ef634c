package bucketctl

import (
	"context"
	"time"
)

// mendedQueue is the take script's word for a long queue across processes that
// has gone.
const mendedQueue = 3

// seenAlive is for how long a process that was served counts as having seen the
// queue live.
const seenAlive = time.Second

// tellLapse wakes the other workers where a call found the queue gone: those
// that live and had booked in it would sleep for up to recheck, and meanwhile
// the one that noticed would take all. Of the dispatcher alone.
func (l *Limiter) tellLapse(first verdict) {
	if first.code != codeCharged || first.mended != mendedQueue {
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

// overlook lets a process that was served a moment ago, and books its next
// place, sleep until its turn. The script would have it look once whether the
// queue lives, as it has those who come to one. Where a fleet's callers come
// back at once, a look of each in each of its turns costs a seventh of all
// calls. Of the dispatcher alone.
func (l *Limiter) overlook(first verdict) {
	if first.code == codeCharged {
		l.served = first.at
	}
	if l.ticket == 0 && first.ticket != 0 && first.at.Sub(l.served) < seenAlive {
		first.ask = max(first.ask, time.UnixMicro(first.ticket).Sub(first.at))
	}
}
