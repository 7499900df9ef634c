package bucketctl

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// decide answers a batch of requests in order, as Limiter.decide does for one
// bucket: by Redis, or alone while any of the buckets' server can't be asked.
func (s *set) decide(ctx context.Context, batch []*request, verdicts []verdict) ([]verdict, error) {
	for _, l := range s.members {
		if open, reason, since := l.link().isOpen(); open {
			return s.decideAlone(batch, verdicts, reason, since), nil
		}
	}
	taken, err := s.take(ctx, batch, verdicts)
	kind := classify(ctx, err)
	switch kind {
	case classNone:
		for i, l := range s.members {
			l.took(taken[0].of.each[i])
		}
		return taken, nil
	case classCaller:
		return nil, ErrClosed // the only context here is the Client's life
	case classBucket:
		return nil, fmt.Errorf("%w: %s: %s", ErrWrongType, s.culprit(err), cause(err))
	case classOutage, classConfig:
		for _, l := range s.members {
			l.stats.failed()
		}
		s.client.failed(s.members[0].link(), kind, err)
	}
	return s.decideAlone(batch, verdicts, reasonOf(kind, err), s.client.clock.now()), nil
}

// culprit names the bucket that an error of the script is about: the script
// counts them.
func (s *set) culprit(err error) string {
	var answer redis.Error
	if errors.As(err, &answer) {
		text := answer.Error()
		for i, l := range s.members {
			if strings.HasPrefix(text, "WRONGTYPE bucket "+strconv.Itoa(i+1)+":") {
				return strconv.Quote(l.key)
			}
		}
	}
	return s.name()
}

// take makes the call, after what Redis is owed.
func (s *set) take(ctx context.Context, batch []*request, verdicts []verdict) ([]verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, s.client.config.callTimeout)
	defer cancel()
	if err := s.payDebts(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	s.appendTakeAll(batch, began)
	r, err := s.client.run(ctx, s.client.scripts.takeAll, s.keys, s.members, s.arguments...)
	took := time.Since(began)
	for _, l := range s.members {
		l.stats.called(took)
	}
	if err != nil {
		return nil, err
	}
	s.roundTrip = took
	taken, err := decodeTakeAll(r, len(s.members), len(batch), verdicts)
	if err != nil {
		return nil, fmt.Errorf("take from %s: %w", s.name(), err)
	}
	for i, c := range taken[0].of.each {
		s.tickets[i] = c.ticket
	}
	return taken, nil
}

// appendTakeAll makes the script's arguments for a batch of requests.
func (s *set) appendTakeAll(batch []*request, now time.Time) {
	args := append(s.arguments[:0], s.client.config.Horizon.Microseconds())
	for i, l := range s.members {
		args = append(l.declare(args), s.tickets[i])
	}
	for _, r := range batch {
		var text []byte
		for _, n := range r.each {
			text = append(strconv.AppendFloat(text, n, 'f', -1, 64), ':')
		}
		args = append(args, string(strconv.AppendInt(text, r.patience(now), 10)))
	}
	s.arguments = args
}

// Items of take_all's reply: of the whole, of each bucket, of each request.
const (
	allHead    = 2
	allBucket  = 10
	allRequest = 3
)

// decodeTakeAll is the one place where take_all's reply is decoded. It appends
// one verdict for each of n requests.
func decodeTakeAll(r reply, buckets, n int, verdicts []verdict) ([]verdict, error) {
	head := allHead + allBucket*buckets
	if err := r.length(head); err != nil {
		return nil, err
	}
	each, err := decodeEach(r, buckets)
	if err != nil {
		return nil, err
	}
	received := time.Now()
	if len(r) == head {
		for range n {
			verdicts = append(verdicts, verdict{circumstances: each[0], code: codeCharged, due: received, of: &together{each: each}})
		}
		return verdicts, nil
	}
	if err := r.length(head + allRequest*n); err != nil {
		return nil, err
	}
	for i := range n {
		ints, err := r.integers(head+allRequest*i, allRequest)
		if err != nil {
			return nil, err
		}
		code, wait, by := ints[0], ints[1], ints[2]
		if code < codeCharged || code > codeImpossible || wait < 0 || by < 1 || by > int64(buckets) {
			return nil, fmt.Errorf("the take_all script replied with code %d, wait %d, bucket %d", code, wait, by)
		}
		which := int(by - 1)
		v := verdict{circumstances: each[which], code: code, wait: micros(wait), of: &together{which: which, each: each}}
		if code == codeCharged {
			v.due = received.Add(v.wait)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// decodeEach decodes what the reply says of each bucket.
func decodeEach(r reply, buckets int) ([]*circumstances, error) {
	head, err := r.integers(0, allHead)
	if err != nil {
		return nil, err
	}
	each := make([]*circumstances, buckets)
	for b := range each {
		at := allHead + allBucket*b
		own, err := r.integers(at, 7)
		if err != nil {
			return nil, err
		}
		ints := append([]int64{head[0], own[0], own[1], own[2], head[1]}, own[3:]...)
		if each[b], err = circumstancesOf(ints, r, at+7); err != nil {
			return nil, err
		}
	}
	return each, nil
}
