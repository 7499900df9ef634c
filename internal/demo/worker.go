package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/bucketctl"
)

// worker is one simulated process. Its name and its place in the network
// outlive a restart.
type worker struct {
	name  string
	role  role
	url   string
	tally *tally
	wire  *wire
	rng   *rand.Rand // only while a shift starts
	shift *shift     // nil before the first
}

func newWorker(r role, number int, url string, t *tally, seed uint64) *worker {
	name := r.name + "-" + strconv.Itoa(number)
	return &worker{name: name, role: r, url: url, tally: t, wire: newWire(), rng: newRand(seed, name)}
}

// shift is one run of the process, from its start to its end.
type shift struct {
	client   *bucketctl.Client
	redis    redis.UniversalClient
	log      *modeLog
	cancel   context.CancelFunc // sends the usual callers away
	calling  sync.WaitGroup
	posts    map[string]post               // by bucket
	overtime map[string]context.CancelFunc // sends a burst's callers away, by bucket
}

// post is where the callers of one job draw.
type post struct {
	job     job
	limiter *bucketctl.Limiter
}

// start starts the process with the limits that declare returns.
func (w *worker) start(ctx context.Context, declare func(job) bucketctl.Limit) error {
	s := &shift{log: &modeLog{}, posts: make(map[string]post), overtime: make(map[string]context.CancelFunc)}
	options, err := bucketctl.Options(w.url)
	if err != nil {
		return fmt.Errorf("start %s: %w", w.name, err)
	}
	options.Dialer = w.wire.dial
	s.redis = bucketctl.NewClient(options)
	s.client, err = bucketctl.Open(ctx, bucketctl.Config{
		Client: s.redis, App: w.name, Workers: w.role.workers, Logger: slog.New(s.log),
	})
	if err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", w.name, err), s.redis.Close())
	}
	ctx, s.cancel = context.WithCancel(ctx)
	w.shift = s
	for _, j := range w.role.jobs {
		limiter, err := s.limiter(j, declare(j))
		if err != nil {
			w.stop() //nolint:contextcheck // closing has its own bound
			return fmt.Errorf("start %s: %w", w.name, err)
		}
		s.posts[j.bucket] = post{job: j, limiter: limiter}
		w.call(ctx, j.bucket, j.callers)
	}
	return nil
}

// limiter opens what the job draws from.
func (s *shift) limiter(j job, limit bucketctl.Limit) (*bucketctl.Limiter, error) {
	if !j.window {
		return s.client.Bucket(j.bucket, limit)
	}
	span := time.Duration(limit.Capacity / limit.Rate * float64(time.Second))
	return s.client.Window(j.bucket, bucketctl.Window{Limit: limit.Capacity, Per: span})
}

// stop ends the process in order.
func (w *worker) stop() {
	s := w.shift
	if s == nil {
		return
	}
	w.shift = nil
	s.cancel()
	for _, sendAway := range s.overtime {
		sendAway()
	}
	s.calling.Wait()
	_ = s.client.Close() // once only, and what it leaves is the server's end to clear
	_ = s.redis.Close()
}

// call adds callers to a bucket until ctx ends.
func (w *worker) call(ctx context.Context, bucket string, callers int) {
	s := w.shift
	for range callers {
		c := caller{post: s.posts[bucket], log: s.log, tally: w.tally, rng: rand.New(rand.NewPCG(w.rng.Uint64(), 0))} // #nosec G404 -- pace
		s.calling.Go(func() { c.run(ctx) })
	}
}

// burst brings some times as many callers to a bucket, until calm.
func (w *worker) burst(ctx context.Context, bucket string, times int) {
	s := w.shift
	if s == nil || s.overtime[bucket] != nil || s.posts[bucket].limiter == nil {
		return
	}
	ctx, s.overtime[bucket] = context.WithCancel(ctx)
	w.call(ctx, bucket, s.posts[bucket].job.callers*(times-1))
}

// calm sends the burst's callers away, those who wait too.
func (w *worker) calm(bucket string) {
	if s := w.shift; s != nil && s.overtime[bucket] != nil {
		s.overtime[bucket]()
		delete(s.overtime, bucket)
	}
}

// alone reports whether the worker decides without Redis.
func (w *worker) alone() bool { return w.shift != nil && w.shift.log.alone.Load() }
