package bucketctl

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/schema"
)

// List returns one page of the registry, which knows every bucket that a
// worker reported. cursor is "" for the first page, Page.Next after that;
// count is the page's size, roughly. A bucket that is registered while the
// pages are walked may be missed, or met twice.
func (a *Admin) List(ctx context.Context, cursor string, count int) (Page, error) {
	from, err := parseCursor(cursor)
	if err != nil {
		return Page{}, err
	}
	var (
		scan *redis.ScanCmd
		size *redis.IntCmd
	)
	_, err = a.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		scan = p.ZScan(ctx, a.keys.Buckets(), from, "", int64(count))
		size = p.ZCard(ctx, a.keys.Buckets())
		return nil
	})
	if err != nil {
		return Page{}, adminError(ctx, "list buckets", "", err)
	}
	pairs, next := scan.Val()
	page := Page{Next: formatCursor(next), Total: int(size.Val())}
	for i := 0; i+1 < len(pairs); i += 2 {
		ms, _ := storedNumber(pairs[i+1])
		page.Buckets = append(page.Buckets, Registered{Key: pairs[i], Seen: time.UnixMilli(int64(ms)).UTC()})
	}
	return page, nil
}

func parseCursor(cursor string) (uint64, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("bucketctl: %q is no cursor of an earlier page: %w", cursor, err)
	}
	return n, nil
}

func formatCursor(next uint64) string {
	if next == 0 {
		return ""
	}
	return strconv.FormatUint(next, 10)
}

// Get returns one bucket's state, or ErrNotFound. It uses read commands alone.
func (a *Admin) Get(ctx context.Context, key string) (State, error) {
	states, err := a.GetMany(ctx, []string{key})
	if err != nil {
		return State{}, err
	}
	s := states[0]
	if s.Kind != KindNone || len(s.RawLimit) > 0 {
		return s, s.Err()
	}
	known, err := a.registered(ctx, key)
	if err == nil && !known {
		err = fmt.Errorf("%w: %q is neither registered nor has it state or an override", ErrNotFound, key)
	}
	return s, err
}

// registered reports whether a worker of bucketctl ever reported the bucket.
func (a *Admin) registered(ctx context.Context, key string) (bool, error) {
	err := a.client.ZScore(ctx, a.keys.Buckets(), key).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, adminError(ctx, "look up", key, err)
}

// GetMany returns the states of keys, in their order, in one round trip, or two
// where there are windows among them (for each node of a cluster). An unknown
// bucket has KindNone, no Override and no Hold; a key of a wrong type has
// KindWrongType; one that Redis' ACL keeps from this user has KindDenied, and its
// State.Err says why. None of them keeps the others from being read, and none is
// an error.
func (a *Admin) GetMany(ctx context.Context, keys []string) ([]State, error) {
	return readStates(ctx, a.client, a.keys, keys)
}

// pending is one bucket's part of a pipeline.
type pending struct {
	typ    *redis.StatusCmd
	fields *redis.SliceCmd // in the order of schema.StateFields: a hash that is no bucket may be huge
	record *redis.MapStringStringCmd
	ttl    *redis.DurationCmd
}

// readStates reads buckets with read commands alone. The clock comes last, so
// that no `ts` just written lies ahead of it.
func readStates(ctx context.Context, client redis.UniversalClient, names schema.Keys, keys []string) ([]State, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	for _, key := range keys {
		if err := checkKey(names, key); err != nil {
			return nil, err
		}
	}
	parts := make([]pending, len(keys))
	var now *redis.TimeCmd
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			parts[i] = pending{
				typ:    p.Type(ctx, key),
				fields: p.HMGet(ctx, key, schema.StateFields()...),
				record: p.HGetAll(ctx, names.Limit(key)),
				ttl:    p.PTTL(ctx, key),
			}
		}
		now = p.Time(ctx)
		return nil
	})
	if err := clockError(now, err); err != nil {
		return nil, adminError(ctx, "read", keys[0], err)
	}
	readings := make([]reading, len(keys))
	for i, part := range parts {
		if readings[i], err = part.reading(keys[i], now.Val().UTC()); err != nil {
			return nil, adminError(ctx, "read", keys[i], err)
		}
		if isWrongType(part.record.Err()) {
			readings[i].broken = names.Limit(keys[i])
		}
	}
	if err := readLogs(ctx, client, names, readings); err != nil {
		return nil, adminError(ctx, "read", keys[0], err)
	}
	states := make([]State, len(keys))
	for i, r := range readings {
		states[i] = r.state()
	}
	return states, nil
}

// clockError is why a pipeline that ends with TIME told no time, or nil. Where
// the client is refused while it connects, only the pipeline's own error tells;
// errors of single commands beside a clock are looked at one by one.
func clockError(now *redis.TimeCmd, pipeline error) error {
	switch {
	case now.Err() != nil:
		return now.Err()
	case now.Val().IsZero() && pipeline != nil:
		return pipeline
	case now.Val().IsZero():
		return errors.New("the server told no time")
	}
	return nil
}

// untold is a pipeline's error that none of its commands tells: that of a client
// which is refused while it connects.
func untold(pipeline error, cmds []redis.Cmder) error {
	for _, cmd := range cmds {
		if cmd.Err() != nil {
			return nil
		}
	}
	return pipeline
}

func (p pending) reading(key string, now time.Time) (reading, error) {
	r := reading{key: key, at: now, typ: p.typ.Val(), fields: namedFields(schema.StateFields(), p.fields.Val()), record: p.record.Val()}
	for _, err := range []error{p.typ.Err(), ignoreWrongType(p.fields.Err()), ignoreWrongType(p.record.Err()), p.ttl.Err()} {
		if err := r.deny(err); err != nil {
			return r, err
		}
	}
	if ttl := p.ttl.Val(); ttl > 0 {
		r.ttl = ttl
	}
	return r, nil
}

// deny keeps the refusal of one bucket, and returns the errors that concern all
// of them.
func (r *reading) deny(err error) error {
	if !isNoPermission(err) {
		return err
	}
	r.denied = err
	return nil
}

// isNoPermission reports whether the ACL refused this one command or key.
func isNoPermission(err error) bool { return err != nil && firstWord(err.Error()) == "NOPERM" }

// namedFields are the fields of a hash that are there.
func namedFields(names []string, values []any) map[string]string {
	fields := make(map[string]string, len(values))
	for i, value := range values {
		if text, ok := value.(string); ok {
			fields[names[i]] = text
		}
	}
	return fields
}

// ignoreWrongType: the type is read beside the fields and tells it better.
func ignoreWrongType(err error) error {
	if isWrongType(err) {
		return nil
	}
	return err
}

func isWrongType(err error) bool { return err != nil && firstWord(err.Error()) == "WRONGTYPE" }

func checkKey(names schema.Keys, key string) error {
	if err := names.Check(key); err != nil {
		return fmt.Errorf("%w: %q: %w", ErrKey, key, err)
	}
	return nil
}
