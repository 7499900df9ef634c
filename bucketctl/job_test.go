package bucketctl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/lua"
)

// jobVariable names the environment variable that makes the test binary a
// worker process, and holds its job.
const jobVariable = "BUCKETCTL_TEST_JOB"

// job is what a worker process does from its release until its standard input
// ends, and so never after the test that started it.
type job struct {
	URL     string
	Key     string
	Limit   Limit
	Horizon time.Duration
	Work    string // wait, mix or allow
	Callers int
	N       float64 // that each of them waits for
	Seed    uint64
}

// line is what a worker process says of an event, in server microseconds.
type line struct {
	Kind   string  // ready, rests, start, back, unknown (how much came back), lost (a call), wrong, tries
	At     int64   `json:",omitempty"` // start: when the caller might start; back: when tokens were given back
	N      float64 `json:",omitempty"` // start: tokens; back: those given back; tries: how many
	Why    string  `json:",omitempty"` // back: refund or settle
	Start  int64   `json:",omitempty"` // back: for a refund, when its caller would have started
	Tokens float64 `json:",omitempty"` // back: those that were to be given back
	Text   string  `json:",omitempty"`
}

// worker is the process' own side of a job.
type worker struct {
	job
	limiter *Limiter
	ending  atomic.Bool

	mu  sync.Mutex
	out *json.Encoder
}

func (w *worker) say(l line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.out.Encode(l); err != nil {
		panic(err) // nobody reads any more
	}
}

func (w *worker) wrong(what string, err error) {
	w.say(line{Kind: "wrong", Text: fmt.Sprintf("%s: %v", what, err)})
}

// doJob is the life of a worker process.
func doJob(text string) {
	w := &worker{out: json.NewEncoder(os.Stdout)}
	if err := json.Unmarshal([]byte(text), &w.job); err != nil {
		w.wrong("its job", err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client, err := w.open(ctx)
	if err != nil {
		w.wrong("open", err)
		return
	}
	in := bufio.NewScanner(os.Stdin)
	w.say(line{Kind: "ready"})
	if !in.Scan() {
		return
	}
	var callers sync.WaitGroup
	for i := range w.Callers {
		random := rand.New(rand.NewPCG(w.Seed, uint64(i)))
		callers.Go(func() { w.call(ctx, random) })
	}
	callers.Go(func() { w.tellRest(ctx) })
	in.Scan() // until the end of it
	w.ending.Store(true)
	cancel()
	callers.Wait()
	if err := client.Close(); err != nil {
		w.wrong("close", err)
	}
}

// tellRest says when all callers wait for the first time.
func (w *worker) tellRest(ctx context.Context) {
	for ctx.Err() == nil {
		if _, short := w.limiter.queue.shortage(); short && w.limiter.queue.waiting() == w.Callers {
			w.say(line{Kind: "rests"})
			return
		}
		sleep(ctx, time.Millisecond)
	}
}

// open makes the worker's Limiter. Alone it lets nobody through, or each call
// that a busy machine delays would be over-issue by design.
func (w *worker) open(ctx context.Context) (*Client, error) {
	options, err := Options(w.URL)
	if err != nil {
		return nil, err
	}
	options.MinIdleConns = w.Callers + 3 // dialled before anything delays them
	connection := NewClient(options)
	connection.AddHook(giveWatch{w})
	for tries := 0; connection.Ping(ctx).Err() != nil && tries < 20; tries++ {
		sleep(ctx, 100*time.Millisecond) // twenty that start at once keep a machine busy
	}
	client, err := Open(ctx, Config{Client: connection, Horizon: w.Horizon, Fallback: FallbackClosed, Logger: quiet()})
	if err != nil {
		return nil, err
	}
	w.limiter, err = client.Bucket(w.Key, w.Limit)
	return client, err
}

// call is one caller, until ctx ends.
func (w *worker) call(ctx context.Context, random *rand.Rand) {
	for tries := 1.0; ; tries++ {
		var err error
		switch w.Work {
		case "wait":
			err = w.wait(ctx, w.N)
		case "allow":
			err = w.allow(ctx, w.N)
		case "mix":
			err = w.mix(ctx, random)
		}
		switch {
		case ctx.Err() != nil:
			w.say(line{Kind: "tries", N: tries})
			return
		case errors.Is(err, ErrUnavailable):
			w.say(line{Kind: "lost"})
			sleep(ctx, 100*time.Millisecond)
		case err != nil:
			w.wrong(w.Work, err)
			return
		}
	}
}

func (w *worker) start(at time.Time, n float64) {
	w.say(line{Kind: "start", At: at.UnixMicro(), N: n})
}

func (w *worker) wait(ctx context.Context, n float64) error {
	g, err := w.limiter.Acquire(ctx, n)
	if err == nil {
		w.start(g.At, n)
	}
	return err
}

func (w *worker) allow(ctx context.Context, n float64) error {
	d, err := w.limiter.AllowN(ctx, n)
	if err == nil && d.OK {
		w.start(d.At, n)
	}
	return err
}

// mix does one of all that callers may do. That tokens don't fit a deadline or
// a capacity is a part of it.
func (w *worker) mix(ctx context.Context, random *rand.Rand) error {
	n := []float64{1, 1, 1, 2, 0.5, 3.7}[random.IntN(6)]
	patience := time.Duration(random.IntN(600)) * time.Millisecond
	var err error
	switch random.IntN(6) {
	case 0:
		err = w.allow(ctx, n)
		sleep(ctx, 10*time.Millisecond)
	case 1:
		bounded, cancel := context.WithTimeout(ctx, patience)
		err = w.wait(bounded, n)
		cancel()
	case 2:
		leaving, leave := context.WithCancel(ctx)
		timer := time.AfterFunc(patience/2, leave)
		err = w.wait(leaving, n)
		timer.Stop()
		leave()
	case 3:
		err = w.settle(ctx, n, random)
	case 4:
		err = w.cancel(ctx, n, patience/4)
	default:
		err = w.wait(ctx, n)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrDeadline) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrExceedsCapacity) {
		sleep(ctx, time.Millisecond)
		return nil
	}
	return err
}

func (w *worker) settle(ctx context.Context, n float64, random *rand.Rand) error {
	g, err := w.limiter.Acquire(ctx, n)
	if err != nil {
		return err
	}
	w.start(g.At, n)
	sleep(ctx, time.Duration(random.IntN(200))*time.Millisecond)
	return g.Settle(ctx, n*1.2*random.Float64())
}

// cancel makes no use of what it got: a start only where that could not be
// given back. It waits for the answer also when the worker is to end: what is
// given back and told as a start would count twice.
func (w *worker) cancel(ctx context.Context, n float64, after time.Duration) error {
	g, err := w.limiter.Acquire(ctx, n)
	if err != nil {
		return err
	}
	sleep(ctx, after)
	if err = g.Cancel(context.WithoutCancel(ctx)); err != nil {
		w.start(g.At, n)
	}
	return err
}

// giveWatch tells what was really given back, which no caller learns.
type giveWatch struct{ *worker }

func (giveWatch) DialHook(next redis.DialHook) redis.DialHook { return next }

func (giveWatch) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (w giveWatch) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	sha := redis.NewScript(lua.Give()).Hash()
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		args := cmd.Args()
		if len(args) < 3 || (args[1] != sha && args[1] != lua.Give()) || (err != nil && redis.HasErrorPrefix(err, "NOSCRIPT")) {
			return err
		}
		if err == nil || !w.ending.Load() {
			w.gave(cmd, args, err)
		}
		return err
	}
}

// gave tells of a call of the give script; where it failed nobody knows what it
// gave.
func (w giveWatch) gave(cmd redis.Cmder, args []any, failed error) {
	call, isCall := cmd.(*redis.Cmd)
	keys, isCount := args[2].(int)
	if !isCall || !isCount {
		w.wrong("a call of give", fmt.Errorf("%T, %T keys", cmd, args[2]))
		return
	}
	args = args[3+keys:]
	l := line{Kind: "back"}
	if len(args) < 7 {
		w.wrong("a call of give", fmt.Errorf("%d arguments", len(args)))
		return
	}
	l.Why = fmt.Sprint(args[4])
	if _, err := fmt.Sscan(fmt.Sprintln(args[5], args[6]), &l.Tokens, &l.Start); err != nil {
		w.wrong("arguments of give", err)
		return
	}
	if failed != nil {
		l.Kind, l.Text = "unknown", failed.Error()
		w.say(l)
		return
	}
	items, err := call.Slice()
	if err != nil || len(items) < 2 {
		w.wrong("a reply of give", fmt.Errorf("%v, %w", items, err))
		return
	}
	if _, err := fmt.Sscan(fmt.Sprintln(items[0], items[1]), &l.At, &l.N); err != nil {
		w.wrong("a reply of give", err)
		return
	}
	w.say(l)
}
