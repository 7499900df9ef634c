package bucketctl

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/schema"
)

// Defaults and bounds of Config.
const (
	DefaultHorizon = 250 * time.Millisecond
	MaxHorizon     = 5 * time.Second
	UnknownWorkers = 16 // workers that share the rate when nobody said how many there are
	MaxWorkers     = 1_000_000
)

// Config configures a Client. Either URL or Client is required.
type Config struct {
	// URL names the Redis server, such as "redis://user:password@host:6379/0"
	// or "rediss://…" for TLS. Open makes a client of its own with settings
	// that a limiter needs: no retries of a script, contexts heeded, short
	// timeouts.
	URL string

	// Client is used instead of URL, and never closed. Settings that are
	// dangerous for a limiter are logged as a warning.
	Client redis.UniversalClient

	// Namespace is where everything but the buckets themselves lies. No
	// braces. Default: "bucketctl".
	Namespace string

	// App names the program, for the console. Default: the executable's name.
	App string

	// Workers is how many processes share each bucket, at least, for the share
	// in fallback. More count as soon as they are seen, by the beats that each
	// worker leaves at Redis. 0: unknown, and then 16 are assumed until the
	// live ones have been seen for 15 s. At most 1,000,000.
	Workers int

	// Fallback is what to do while Redis can't be asked; WithFallback says
	// otherwise for one bucket. Default: FallbackShare.
	Fallback Policy

	// Horizon is how far ahead a caller may be charged for a start that is not
	// yet due; longer waits stay in the queue. Default: 250ms; at most 5s.
	Horizon time.Duration

	// Generation orders the declared limits of workers that disagree: the
	// highest wins, for instance a deploy's number. Every worker of a bucket
	// should set it, or none. Default (0): the server time, in microseconds,
	// at which the worker first reached Redis.
	Generation int64

	// Logger gets one Warn line for each transition to fallback and back, and
	// one each minute in between. Default: slog.Default().
	Logger *slog.Logger

	// OnTransition is called for each transition to fallback and back, in
	// order, in a goroutine of its own. Nothing waits for it: should it be slow,
	// up to 16 transitions wait for it, and more are left out. It should not
	// call Close. Default: nil.
	OnTransition func(Transition)

	// callTimeout is the longest that a call may take, but a probe. Default:
	// 500ms. Only tests change it: those that need an answer from Redis, however
	// busy the machine is.
	callTimeout time.Duration
}

// withDefaults returns the config with every default filled in.
func (c Config) withDefaults() Config {
	if c.App == "" {
		c.App = executableName()
	}
	if c.Fallback == "" {
		c.Fallback = FallbackShare
	}
	if c.Horizon == 0 {
		c.Horizon = DefaultHorizon
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.callTimeout == 0 {
		c.callTimeout = callTimeout
	}
	return c
}

// validate names the field that can't work, and its bound.
func (c Config) validate() error {
	switch {
	case c.URL == "" && c.Client == nil:
		return fmt.Errorf("%w: Config.URL or Config.Client is required", ErrConfig)
	case c.URL != "" && c.Client != nil:
		return fmt.Errorf("%w: Config.URL and Config.Client exclude each other", ErrConfig)
	case c.Workers < 0 || c.Workers > MaxWorkers:
		return fmt.Errorf("%w: Config.Workers is %d: from 0 to %d", ErrConfig, c.Workers, MaxWorkers)
	case !c.Fallback.valid():
		return fmt.Errorf("%w: Config.Fallback is %q: share, closed or open", ErrConfig, c.Fallback)
	case c.Horizon < 0 || c.Horizon > MaxHorizon:
		return fmt.Errorf("%w: Config.Horizon is %v: from 0 to %v", ErrConfig, c.Horizon, MaxHorizon)
	case c.Generation < 0 || c.Generation > maxExact:
		return fmt.Errorf("%w: Config.Generation is %d: from 0 to %d", ErrConfig, c.Generation, int64(maxExact))
	}
	if _, err := schema.New(c.Namespace); err != nil {
		return fmt.Errorf("%w: Config.Namespace: %w", ErrConfig, err)
	}
	return nil
}

// maxExact is the largest integer up to which every integer is a Lua number.
const maxExact = 1<<53 - 1

// assumedWorkers is the number the rate is shared by in fallback while nothing
// was seen; never 0.
func (c Config) assumedWorkers() int {
	if c.Workers > 0 {
		return c.Workers
	}
	return UnknownWorkers
}

func executableName() string {
	path, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	for i := len(path) - 1; i >= 0; i-- {
		if os.IsPathSeparator(path[i]) {
			return path[i+1:]
		}
	}
	return path
}
