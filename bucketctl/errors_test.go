package bucketctl

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestTypedErrorsAreTheirSentinels(t *testing.T) {
	inner := errors.New("NOPERM")
	for _, tt := range []struct {
		err  error
		is   []error
		says string
	}{
		{&ExceedsCapacityError{Key: "a\x1b", N: 6.5, Capacity: 5}, []error{ErrExceedsCapacity}, `6.5 tokens asked of "a\x1b", whose capacity is 5`},
		{&DeadlineError{Key: "k", Wait: time.Minute, Left: time.Second}, []error{ErrDeadline, context.DeadlineExceeded}, `"k" needs a wait of 1m0s, the deadline is in 1s`},
		{&ConflictError{Wanted: 3, State: State{Key: "k", Rev: 5, By: "ben"}}, []error{ErrConflict}, `"k" is at rev 5, not 3: changed by ben`},
		{&ConflictError{Wanted: 3, State: State{Key: "k", Rev: 5}}, []error{ErrConflict}, "changed by somebody"},
		{&ConflictError{Wanted: 3, State: State{Key: "k"}}, []error{ErrConflict}, `"k" has no rev 3: no operator's change of it is on record`},
		{&AuditError{Event: inner}, []error{inner}, "the change is written, but its event is not: NOPERM"},
		{&AuditError{Wake: inner}, []error{inner}, "the change is written, but nobody was woken (who waits looks again within 5 s): NOPERM"},
		{&AuditError{Event: inner, Wake: inner}, []error{inner}, "its event is not, and nobody was woken (who waits looks again within 5 s): NOPERM"},
		{&AuditError{Event: inner, Forget: &CallError{Class: ErrDenied, Fault: FaultReply, Cause: "XX"}}, []error{inner, ErrDenied},
			"its event is not: NOPERM; the registry still lists the bucket: XX"},
		{&AuditError{Event: &CallError{Class: ErrUnavailable, Fault: FaultBroken, Cause: "EOF", Unsure: true}}, []error{ErrUnavailable},
			"its event may be missing: the connection broke: EOF"},
	} {
		for _, is := range tt.is {
			if !errors.Is(tt.err, is) {
				t.Errorf("%v is no %v", tt.err, is)
			}
		}
		if errors.Is(tt.err, ErrClosed) {
			t.Errorf("%v is everything", tt.err)
		}
		if !strings.Contains(tt.err.Error(), tt.says) {
			t.Errorf("%q does not say %q", tt.err, tt.says)
		}
	}
}

func TestStateWaitAndLevelAt(t *testing.T) {
	at := time.Unix(1000, 0)
	s := State{At: at, Level: -4, Effective: PerSecond(2).Burst(10)}
	if got := s.Wait(1); got != 2500*time.Millisecond {
		t.Errorf("1 token from -4 at 2/s: %v", got)
	}
	if got := s.Wait(-9); got != 0 {
		t.Errorf("what is there needs no wait: %v", got)
	}
	for after, want := range map[time.Duration]float64{0: -4, time.Second: -2, 7 * time.Second: 10, time.Hour: 10, -time.Hour: -4} {
		if got := s.LevelAt(at.Add(after)); got != want {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
	s.Cooldown.Until = at.Add(10 * time.Second)
	for after, want := range map[time.Duration]float64{9 * time.Second: -4, 11 * time.Second: -2} {
		if got := s.LevelAt(at.Add(after)); got != want {
			t.Errorf("in a cooldown of 10 s, after %v: %v, want %v", after, got, want)
		}
	}
	over := State{At: at, Level: 12, Effective: PerSecond(1).Burst(10)} // another program's clock
	if got := over.LevelAt(at.Add(time.Second)); got != 12 {
		t.Errorf("a level above the capacity rises to %v", got)
	}
	unknown := State{At: at, Level: -4}
	if unknown.Wait(1) != 0 || unknown.LevelAt(at.Add(time.Hour)) != -4 {
		t.Error("without a limit nothing accrues and no wait is known")
	}
	never := State{At: at, Level: -1e12, Effective: PerSecond(MinRate)}
	if got := never.Wait(1); got != 1<<63-1 {
		t.Errorf("a wait of ages is %v", got)
	}
}

func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 42 * time.Second: "42s", 9*time.Minute + 59*time.Second: "9m", 36 * time.Hour: "36h",
		48 * time.Hour: "2d", 400 * 24 * time.Hour: "1y", 1<<63 - 1: "292y",
	} {
		if got := roughly(d); got != want {
			t.Errorf("roughly(%v) = %q, want %q", d, got, want)
		}
	}
}
