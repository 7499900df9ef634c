package bucketctl

import (
	"context"
	"fmt"
	"time"
)

// Need is so many tokens of one bucket. Limiter.Need makes it.
type Need struct {
	limiter *Limiter
	n       float64
}

// Need says that n tokens of the bucket are needed, for Client.All, or were
// used, for AllGrant.Settle.
func (l *Limiter) Need(n float64) Need { return Need{l, n} }

// All draws from several buckets at once: each call takes what it needs of all
// of them, or nothing of any. It may be used by several goroutines at once, and
// is cheap to make for each request, as needs vary. Its methods are a Limiter's;
// most callers want Wait, or Acquire where the true cost is known only afterwards.
//
// All calls for the same buckets stand in one queue of this process, in the
// order of arrival, and one call to Redis serves it. Since one script takes from
// all buckets or from none, nobody ever holds one bucket's tokens while waiting for
// another's: it can't deadlock, whoever asks for which buckets in which order.
//
// Callers of single buckets and of other sets may draw from the same buckets;
// across queues there are turns, bucket by bucket. A set is not served before it
// is its turn in all of its buckets, and meanwhile nobody waits for it: whoever's
// turn it is takes what is there. So beside busy callers of single buckets a set
// that wants much of several may wait longer than each of them would make it
// wait alone. No bucket's tokens are left unused for it for longer than they take
// to come.
type All struct {
	set  *set
	each []float64 // in the order of the set's buckets
}

// All returns what draws these needs together. The order does not matter. All
// buckets must share a slot of Redis Cluster, which names with one {tag} do:
// otherwise it is a SlotsError (ErrSlots), also on a single server, so that
// moving to a cluster breaks nothing. ErrTogether: no bucket, more than MaxTogether,
// one named twice, or one of another Client; sliding windows can't be drawn from
// together with others yet. ErrTokens: tokens that are no finite number above 0.
func (c *Client) All(needs ...Need) (*All, error) {
	sorted, err := c.sortNeeds(needs)
	if err != nil {
		return nil, err
	}
	a := &All{each: make([]float64, len(sorted))}
	members := make([]*Limiter, len(sorted))
	for i, need := range sorted {
		a.each[i], members[i] = need.n, need.limiter
	}
	if a.set, err = c.setOf(members); err != nil {
		return nil, err
	}
	return a, nil
}

// Wait blocks until the tokens of all buckets are taken. Errors are as
// Limiter.WaitN's; those of one bucket name it: the one that is too small, or no
// bucket, that stops the call, or that it would wait for longest.
func (a *All) Wait(ctx context.Context) error {
	_, err := a.acquire(ctx)
	return err
}

// Allow takes the tokens of all buckets if they are there now, and nobody waits
// for them; it never waits for tokens. Decision.Key is the bucket that decides.
// Errors are as Limiter.AllowN's.
func (a *All) Allow(ctx context.Context) (Decision, error) {
	if l := a.single(); l != nil {
		return l.AllowN(ctx, a.each[0])
	}
	s := a.set
	if err := s.check(ctx); err != nil {
		return Decision{}, err
	}
	if due, short := s.queue.shortage(); short {
		s.refuse()
		return s.othersWait(due), nil
	}
	v, err := s.ask(ctx, 0, a.each, time.Time{}, true)
	if err != nil {
		return Decision{}, err
	}
	d := v.decision(s.keyOf(v))
	if v.code == codeImpossible {
		return d, s.exceeds(a.each, v)
	}
	return d, nil
}

// Do calls f once the tokens of all buckets are taken, and returns its error,
// or Wait's.
func (a *All) Do(ctx context.Context, f func(context.Context) error) error {
	if err := a.Wait(ctx); err != nil {
		return err
	}
	return f(ctx)
}

// Acquire is Wait for callers that learn the true cost only afterwards. Errors
// are as Wait's.
func (a *All) Acquire(ctx context.Context) (*AllGrant, error) {
	if l := a.single(); l != nil {
		g, err := l.Acquire(ctx, a.each[0])
		if err != nil {
			return nil, err
		}
		return &AllGrant{At: g.At, grants: []*Grant{g}}, nil
	}
	v, err := a.acquire(ctx)
	if err != nil {
		return nil, err
	}
	g := &AllGrant{At: v.start()}
	for i, l := range a.set.members {
		own := verdict{circumstances: v.of.each[i], code: v.code, wait: v.wait, due: v.due}
		g.grants = append(g.grants, l.newGrant(a.each[i], own))
	}
	return g, nil
}

// acquire waits until all tokens are charged and their start has come.
func (a *All) acquire(ctx context.Context) (verdict, error) {
	if l := a.single(); l != nil {
		return l.acquire(ctx, a.each[0])
	}
	s := a.set
	if err := s.check(ctx); err != nil {
		return verdict{}, err
	}
	deadline, _ := ctx.Deadline()
	v, err := s.ask(ctx, 0, a.each, deadline, false)
	if err != nil {
		return v, err
	}
	switch v.code {
	case codeImpossible:
		return v, s.exceeds(a.each, v)
	case codeRefused:
		return v, s.members[v.of.which].refused(v, deadline)
	}
	return v, s.untilStart(ctx, orphan{each: a.each, verdict: v})
}

// single is the one bucket of a set of one: its own queue serves that.
func (a *All) single() *Limiter {
	if len(a.set.members) == 1 {
		return a.set.members[0]
	}
	return nil
}

var _ Waiter = (*All)(nil)

// check refuses what could not be served, before any I/O.
func (s *set) check(ctx context.Context) error {
	if s.client.alive.Err() != nil {
		return ErrClosed
	}
	if ctx.Err() != nil {
		return s.gaveUp(ctx)
	}
	return nil
}

// keyOf names the bucket that decides.
func (s *set) keyOf(v verdict) string { return s.members[v.of.which].key }

func (s *set) exceeds(each []float64, v verdict) error {
	return s.members[v.of.which].exceeds(each[v.of.which], v)
}

// gaveUp is the error of a caller whose context ended.
func (s *set) gaveUp(ctx context.Context) error {
	return fmt.Errorf("bucketctl: wait for %s: %w", s.name(), ctx.Err())
}
