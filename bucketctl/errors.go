package bucketctl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sentinels. Every error of this package matches at least one of them, a
// context's error, or an error of the Redis client, through errors.Is.
var (
	// ErrKey is returned when a name can't be a bucket's: empty, under the
	// namespace, or with braces that form no cluster hash tag.
	ErrKey = errors.New("bucketctl: unusable bucket name")

	// ErrLimit is returned when a limit, or a part of one, is not a finite
	// number in range or can't be read.
	ErrLimit = errors.New("bucketctl: unusable limit")

	// ErrTokens is returned when the number of tokens asked for is not a
	// finite number above 0 and in range.
	ErrTokens = errors.New("bucketctl: unusable number of tokens")

	// ErrTogether is returned by Client.All for buckets that can't be drawn from
	// together: none, one twice, of another Client, too many, or of another kind.
	ErrTogether = errors.New("bucketctl: these buckets can't be drawn from together")

	// ErrSlots is returned by Client.All for buckets that a Redis Cluster may
	// keep on different servers; see SlotsError. It is an ErrTogether as well.
	ErrSlots = fmt.Errorf("%w: their names share no cluster slot", ErrTogether)

	// ErrConfig is returned by Open and NewAdmin for settings that can't work.
	ErrConfig = errors.New("bucketctl: unusable configuration")

	// ErrExceedsCapacity is returned when more tokens are asked for than the
	// bucket can ever hold; see ExceedsCapacityError.
	ErrExceedsCapacity = errors.New("bucketctl: more tokens than the bucket's capacity")

	// ErrDeadline is returned when the wait can't end before the context's
	// deadline. Nothing was charged. It is also a context.DeadlineExceeded.
	ErrDeadline = fmt.Errorf("bucketctl: the wait does not fit the deadline: %w", context.DeadlineExceeded)

	// ErrUnavailable is returned when Redis can't be asked: by Admin always,
	// by a Limiter when its fallback policy is Closed.
	ErrUnavailable = errors.New("bucketctl: Redis is unavailable")

	// ErrDenied is returned when Redis answers but refuses: a wrong password,
	// a missing permission, a read-only replica. Trying again does not help.
	ErrDenied = errors.New("bucketctl: Redis refuses")

	// ErrWrongType is returned when the key holds something that is no bucket.
	ErrWrongType = errors.New("bucketctl: the key is not a bucket")

	// ErrConflict is returned when the bucket's record changed since the
	// revision that the change was decided on; see ConflictError.
	ErrConflict = errors.New("bucketctl: changed by somebody else meanwhile")

	// ErrNotFound is returned when no such bucket is known: neither
	// registered, nor with state, nor with an override or hold.
	ErrNotFound = errors.New("bucketctl: no such bucket")

	// ErrForeign is returned when a change needs what a bucket written by
	// another program does not have: a limit that its workers read from here.
	ErrForeign = errors.New("bucketctl: the bucket belongs to another program")

	// ErrNothing is returned when a change would change nothing: resuming
	// what is not held, undoing where nothing is left to undo.
	ErrNothing = errors.New("bucketctl: nothing to change")

	// ErrReadOnly is returned by every change of an Admin that was opened
	// read-only.
	ErrReadOnly = errors.New("bucketctl: opened read-only")

	// ErrClosed is returned after the Client was closed.
	ErrClosed = errors.New("bucketctl: closed")
)

// ExceedsCapacityError says which capacity was too small for how many tokens.
type ExceedsCapacityError struct {
	Key      string
	N        float64 // tokens asked for
	Capacity float64 // tokens the bucket can hold, as in force
}

func (e *ExceedsCapacityError) Error() string {
	return fmt.Sprintf("bucketctl: %s tokens asked of %q, whose capacity is %s",
		formatNumber(e.N), e.Key, formatNumber(e.Capacity))
}

// Is makes errors.Is(err, ErrExceedsCapacity) true.
func (e *ExceedsCapacityError) Is(target error) bool { return target == ErrExceedsCapacity }

// SlotsError names two buckets whose names lie in different slots of a Redis
// Cluster, where no script may touch both.
type SlotsError struct{ Key, Other string }

func (e *SlotsError) Error() string {
	return fmt.Sprintf("bucketctl: %q and %q can't be drawn from together: a cluster may keep them on different servers; "+
		"give both one tag in braces, such as %q and %q", e.Key, e.Other, "{tag}:a", "{tag}:b")
}

// Unwrap makes errors.Is true for ErrSlots and ErrTogether.
func (e *SlotsError) Unwrap() error { return ErrSlots }

// DeadlineError says how long the wait would have been.
type DeadlineError struct {
	Key  string
	Wait time.Duration // until the tokens would be there
	Left time.Duration // until the deadline
}

func (e *DeadlineError) Error() string {
	return fmt.Sprintf("bucketctl: %q needs a wait of %v, the deadline is in %v", e.Key, e.Wait, e.Left)
}

// Unwrap makes errors.Is true for ErrDeadline and context.DeadlineExceeded.
func (e *DeadlineError) Unwrap() error { return ErrDeadline }

// ConflictError carries what the bucket's record says now.
type ConflictError struct {
	Wanted Rev   // the revision the change was decided on
	State  State // the bucket as it is; State.Rev is the newer revision
}

func (e *ConflictError) Error() string {
	if e.State.Rev == 0 { // nobody's change is on record, so nobody was faster
		return fmt.Sprintf("bucketctl: %q has no rev %d: no operator's change of it is on record", e.State.Key, e.Wanted)
	}
	return fmt.Sprintf("bucketctl: %q is at rev %d, not %d: changed by %s meanwhile",
		e.State.Key, e.State.Rev, e.Wanted, orUnknown(e.State.By))
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// AuditError is returned together with a valid Change: the change is written, but
// not all that belongs to it was done. Each field is nil where that was done, else
// a CallError. Nothing of it needs to be repeated for the change to hold.
type AuditError struct {
	Event  error // the event that tells of the change was not written, or its answer was lost
	Wake   error // the workers that wait were not woken: they look again within 5 s by themselves
	Forget error // of Delete: the registry still lists the bucket
}

func (e *AuditError) Error() string { return "bucketctl: the change is written, but " + e.Lacks() }

// Lacks says what was not done, and why, in a clause that goes on after "but".
func (e *AuditError) Lacks() string {
	var parts []string
	add := func(what string, err error) {
		if err != nil {
			parts = append(parts, what+": "+clauseOf(err))
		}
	}
	if e.Event != nil && e.Wake != nil && clauseOf(e.Event) == clauseOf(e.Wake) {
		add(eventFate(e.Event)+", and nobody was woken (who waits looks again within 5 s)", e.Event)
	} else {
		add(eventFate(e.Event), e.Event)
		add("nobody was woken (who waits looks again within 5 s)", e.Wake)
	}
	add("the registry still lists the bucket", e.Forget)
	return strings.Join(parts, "; ")
}

// eventFate tells an event that surely is not written from one whose answer was
// lost.
func eventFate(err error) string {
	var call *CallError
	if errors.As(err, &call) && call.Unsure {
		return "its event may be missing"
	}
	return "its event is not"
}

func clauseOf(err error) string {
	var call *CallError
	if errors.As(err, &call) {
		return call.Why()
	}
	return err.Error()
}

// Unwrap returns what went wrong.
func (e *AuditError) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Event, e.Wake, e.Forget}, func(err error) bool { return err == nil })
}

func orUnknown(name string) string {
	if name == "" {
		return "somebody"
	}
	return name
}
