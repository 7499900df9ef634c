package demo

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/schema"
)

// foreign is a worker of a program that keeps a bucket by itself: two fields, by
// its own clock, which nobody checks. It is what one meets in the field.
type foreign struct {
	redis    redis.UniversalClient
	capacity float64 // tokens
	rate     float64 // tokens per second

	mu sync.Mutex // between reading and writing: the two clocks are one process here
}

const (
	foreignPace = 100 * time.Millisecond // between its requests
	foreignLead = 570 * time.Second      // how far ahead the wrong clock is
)

func newForeign(client redis.UniversalClient) *foreign {
	return &foreign{redis: client, capacity: 12, rate: 3}
}

// run takes tokens until ctx ends. An error is not worth more than another try
// here: the key may be anything that somebody at the console makes of it.
func (f *foreign) run(ctx context.Context) {
	for ctx.Err() == nil {
		_, _ = f.take(ctx, time.Now())
		sleep(ctx, foreignPace)
	}
}

// take takes one token if it is there at now. It writes only what it grants, so
// a time that lies ahead stays, and nothing comes back until it is reached.
func (f *foreign) take(ctx context.Context, now time.Time) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	level, at, err := f.read(ctx)
	if err != nil {
		return false, err
	}
	clock := unixSeconds(now)
	if math.IsNaN(level) {
		level, at = f.capacity, clock
	}
	level = math.Min(f.capacity, level+math.Max(0, clock-at)*f.rate)
	if level >= 1 {
		return true, f.write(ctx, level-1, math.Max(at, clock))
	}
	return false, f.keep(ctx)
}

// read returns the level, NaN where there is none, and when it was so, in
// seconds.
func (f *foreign) read(ctx context.Context) (level, at float64, err error) {
	stored, err := f.redis.HMGet(ctx, foreignKey, schema.FieldTokens, schema.FieldTs).Result()
	if err != nil {
		return 0, 0, fmt.Errorf("read %q: %w", foreignKey, err)
	}
	level, okLevel := parseStored(stored[0])
	at, okAt := parseStored(stored[1])
	if !okLevel || !okAt {
		return math.NaN(), 0, nil
	}
	return level, at, nil
}

func parseStored(value any) (float64, bool) {
	text, ok := value.(string)
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseFloat(text, 64)
	return number, err == nil
}

func (f *foreign) write(ctx context.Context, level, at float64) error {
	err := f.redis.HSet(ctx, foreignKey,
		schema.FieldTokens, strconv.FormatFloat(level, 'g', 14, 64),
		schema.FieldTs, strconv.FormatFloat(at, 'f', 6, 64)).Err()
	if err != nil {
		return fmt.Errorf("write %q: %w", foreignKey, err)
	}
	return f.keep(ctx)
}

// keep renews the key's life: twice what a full bucket takes to come back.
func (f *foreign) keep(ctx context.Context) error {
	life := 2 * time.Duration(math.Ceil(f.capacity/f.rate)) * time.Second
	if err := f.redis.Expire(ctx, foreignKey, life).Err(); err != nil {
		return fmt.Errorf("keep %q: %w", foreignKey, err)
	}
	return nil
}

// stick does what a host does whose clock is ahead: it takes what is there and
// leaves its own time. A bucket that still waits for such a time stays as it is.
func (f *foreign) stick(ctx context.Context, now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	level, at, err := f.read(ctx)
	if err != nil {
		return err
	}
	if !math.IsNaN(level) && at > unixSeconds(now.Add(time.Minute)) {
		return nil
	}
	return f.write(ctx, 0, unixSeconds(now.Add(foreignLead)))
}

func unixSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
