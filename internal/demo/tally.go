package demo

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"

	"bucketop/bucketctl"
)

// tally counts what the callers of all workers see, beside what bucketctl says
// of itself.
type tally struct {
	mu      sync.Mutex
	granted map[string]float64 // tokens by bucket
	local   float64            // of all of these, tokens granted without Redis
	waiting int                // callers waiting now
}

func newTally() *tally { return &tally{granted: make(map[string]float64)} }

func (t *tally) wait(callers int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting += callers
}

func (t *tally) grant(bucket string, tokens float64, local bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.granted[bucket] += tokens
	if local {
		t.local += tokens
	}
}

// read returns the tokens granted by bucket, the tokens of these granted
// without Redis, and the callers waiting.
func (t *tally) read() (granted map[string]float64, local float64, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.granted), t.local, t.waiting
}

// modeLog is a worker's log, which goes nowhere. It only learns from the
// transitions that bucketctl logs whether the worker decides alone: Wait does
// not say, and the worker's reports don't reach Redis then.
type modeLog struct{ alone atomic.Bool }

func (*modeLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (l *modeLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "mode" {
			l.alone.Store(bucketctl.Mode(a.Value.String()).Local())
		}
		return true
	})
	return nil
}

func (l *modeLog) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *modeLog) WithGroup(string) slog.Handler      { return l }
