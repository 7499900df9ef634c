package bucketctl

import "context"

// Limiter draws tokens from one bucket. It may be used by several goroutines
// at once. Most callers want Wait.
type Limiter struct{}

// Wait is shorthand for WaitN(ctx, 1).
func (l *Limiter) Wait(ctx context.Context) error { return l.WaitN(ctx, 1) }

// WaitN blocks until n tokens are taken, and returns nil then.
func (l *Limiter) WaitN(ctx context.Context, n float64) error { return errTodo }

// Allow is shorthand for AllowN(ctx, 1), without the particulars.
func (l *Limiter) Allow(ctx context.Context) (bool, error) { return false, errTodo }

// AllowN takes n tokens if they are there now.
func (l *Limiter) AllowN(ctx context.Context, n float64) (Decision, error) {
	return Decision{}, errTodo
}

// Peek returns the bucket's state and takes nothing.
func (l *Limiter) Peek(ctx context.Context) (State, error) { return State{}, errTodo }

// Key returns the bucket's name.
func (l *Limiter) Key() string { return "" }
