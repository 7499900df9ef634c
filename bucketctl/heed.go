package bucketctl

import (
	"context"
	"time"
)

// brief is how long a caller may stand in the queue before it must heed its
// context. Most are answered long before, and waiting for the answer alone
// costs half of waiting for one of two: many callers share one context, and its
// lock. So a call outlives its context by twice that at most.
const brief = 5 * time.Millisecond

// await waits for the answer to a request, or until its caller's context ends.
func (r *request) await(ctx context.Context, heeds bool) (a answer, answered bool) {
	if !heeds {
		if a = <-r.answer; !a.heed {
			return a, true
		}
	}
	select {
	case a = <-r.answer: // also ErrClosed, from Close
		return a, true
	case <-ctx.Done():
		return answer{}, false
	}
}

// watch sees to it that those who stand in the queue heed their contexts before
// long. Needs q.mu.
func (q *queue) watch() {
	if q.watching {
		return
	}
	q.watching = true
	if q.watcher == nil {
		q.watcher = time.AfterFunc(brief, q.tell)
		return
	}
	q.watcher.Reset(brief)
}

// tell tells all who have stood for longer than brief to heed their contexts,
// and comes again while there are others.
func (q *queue) tell() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.watching = false
	now := time.Now()
	for r := q.front; r != nil; r = r.behind {
		if r.heeds {
			continue
		}
		if now.Sub(r.joined) < brief {
			q.watch()
			return
		}
		r.heeds = true
		r.answer <- answer{heed: true}
	}
}
