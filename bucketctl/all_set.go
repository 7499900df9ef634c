package bucketctl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"bucketop/internal/schema"
)

// MaxTogether is how many buckets can be drawn from together. One script reads
// and writes them all, and Redis does nothing else meanwhile.
const MaxTogether = 16

// set is several buckets that are drawn from together: a desk of this process,
// as each of them has one of its own.
type set struct {
	desk

	members []*Limiter // in the order of their keys
	keys    []string   // of the script

	// Of the dispatcher alone.
	arguments []any
	tickets   []int64 // its places in the queues across processes
}

// sortNeeds checks the needs, and returns them in the order of their keys.
func (c *Client) sortNeeds(needs []Need) ([]Need, error) {
	if len(needs) == 0 || len(needs) > MaxTogether {
		return nil, fmt.Errorf("%w: %d buckets: it must be from 1 to %d", ErrTogether, len(needs), MaxTogether)
	}
	for _, need := range needs {
		if need.limiter == nil || need.limiter.client != c {
			return nil, fmt.Errorf("%w: %s is not of this Client", ErrTogether, need.name())
		}
		if need.limiter.window {
			return nil, fmt.Errorf("%w: %q is a sliding window, which can't be drawn from together with others yet", ErrTogether, need.limiter.key)
		}
		if err := validateTokens(need.n); err != nil {
			return nil, fmt.Errorf("bucket %q: %w", need.limiter.key, err)
		}
	}
	sorted := slices.SortedStableFunc(slices.Values(needs), func(a, b Need) int { return strings.Compare(a.limiter.key, b.limiter.key) })
	for i, need := range sorted[1:] {
		before, key := sorted[i].limiter.key, need.limiter.key
		if before == key {
			return nil, fmt.Errorf("%w: %q is named twice", ErrTogether, key)
		}
		if schema.HashTag(before) != schema.HashTag(key) {
			return nil, &SlotsError{Key: before, Other: key}
		}
	}
	return sorted, nil
}

func (n Need) name() string {
	if n.limiter == nil {
		return "a need of no bucket"
	}
	return strconv.Quote(n.limiter.key)
}

// setOf returns the one set of these buckets.
func (c *Client) setOf(members []*Limiter) (*set, error) {
	var name []byte // no two sets have one
	for _, l := range members {
		name = strconv.AppendQuote(name, l.key)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if s, ok := c.sets[string(name)]; ok {
		return s, nil
	}
	s := &set{members: members, tickets: make([]int64, len(members))}
	s.desk = newDesk(c, s)
	for _, l := range members {
		s.keys = append(s.keys, l.keys[:2]...)
	}
	if len(members) > 1 {
		for _, l := range members {
			l.mu.Lock()
			l.sets = append(l.sets, s)
			l.mu.Unlock()
		}
	}
	c.sets[string(name)] = s
	return s, nil
}

// name lists the buckets, for errors.
func (s *set) name() string {
	names := make([]string, len(s.members))
	for i, l := range s.members {
		names[i] = strconv.Quote(l.key)
	}
	return strings.Join(names, " and ")
}

// affordable is how many requests the bucket that allows fewest can hope to
// charge.
func (s *set) affordable(verdicts []verdict) int {
	most := maxBatch
	for i, l := range s.members {
		most = min(most, l.affordable([]verdict{{circumstances: verdicts[0].of.each[i]}}))
	}
	return most
}

// count counts answered requests in each bucket.
func (s *set) count(all []served, now time.Time) {
	for i, l := range s.members {
		l.stats.count(all, i, now)
	}
}

func (s *set) refuse() {
	for _, l := range s.members {
		l.stats.refuse()
	}
}

// putBack refunds what nobody uses, bucket by bucket.
func (s *set) putBack(o orphan) {
	for i, l := range s.members {
		v := o.verdict
		v.circumstances = o.of.each[i]
		l.putBack(orphan{n: o.each[i], verdict: v})
	}
}

// othersWait is the Decision where nobody need be asked: others of this process
// wait already, until due.
func (s *set) othersWait(due time.Time) Decision {
	d := Decision{Key: s.members[0].key, Wait: max(0, time.Until(due)), Level: math.NaN(), Mode: ModeShared, Reason: "others wait", Source: SourceQueue}
	for _, l := range s.members {
		if mode, since := l.mode(); mode.Local() {
			d.Key, d.Mode, d.Since = l.key, mode, since
			break
		}
	}
	return d
}

// payDebts tells Redis what it missed of any of the buckets.
func (s *set) payDebts(ctx context.Context) error {
	for _, l := range s.members {
		if err := l.payDebts(ctx); err != nil {
			return err
		}
	}
	return nil
}
