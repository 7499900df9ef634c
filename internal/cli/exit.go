package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"bucketop/bucketctl"
)

// Exit codes. They are a contract: scripts branch on them.
const (
	ExitOK          = 0   // done
	ExitFailed      = 1   // failed; also refused by authentication, ACL or a read-only server
	ExitUsage       = 2   // the command line can't work; also the console without a terminal
	ExitUnreachable = 3   // Redis could not be asked; trying again later may help
	ExitNotFound    = 4   // no such bucket, or nothing there to take away
	ExitConflict    = 5   // somebody else changed the bucket meanwhile
	ExitCheck       = 6   // a check looked and found something wrong
	ExitHangup      = 129 // the terminal went away (SIGHUP)
	ExitInterrupted = 130 // SIGINT
	ExitTerminated  = 143 // SIGTERM
)

// exit documents one code.
type exit struct {
	code int
	text string
}

// exits are all codes, in the order of numbers.
func exits() []exit {
	return []exit{
		{ExitOK, "done; a warning on stderr says so where the change is written, but not its event, or nobody was woken"},
		{ExitFailed, "failed; also: refused by authentication, ACL, a read-only server or --read-only; of several buckets, one was refused"},
		{ExitUsage, "the command line can't work, nothing was done; also: the console without a terminal"},
		{ExitUnreachable, "Redis can't be reached or did not answer in time; trying again later may help"},
		{ExitNotFound, "no such bucket, or nothing there to take away; of several buckets, one was not found"},
		{ExitConflict, "somebody else changed the bucket meanwhile; nothing was written"},
		{ExitCheck, "a check looked and found something wrong"},
		{ExitHangup, "the terminal went away (SIGHUP)"},
		{ExitInterrupted, "interrupted (SIGINT)"},
		{ExitTerminated, "terminated (SIGTERM)"},
	}
}

// Stopped, as the cause of a context's end, tells Run that a signal ended it
// and which code that is.
type Stopped struct{ Code int }

func (s Stopped) Error() string { return fmt.Sprintf("stopped by a signal (exit code %d)", s.Code) }

// exitCode maps an error to its code.
func exitCode(ctx context.Context, err error) int {
	var stopped Stopped
	var usage usageError
	switch {
	case err == nil:
		return ExitOK // done, even if a signal came in the same moment
	case errors.As(err, &stopped), errors.As(context.Cause(ctx), &stopped):
		return stopped.Code
	case errors.As(err, &usage), errorIs(err, bucketctl.ErrLimit, bucketctl.ErrTokens, bucketctl.ErrKey, bucketctl.ErrConfig):
		return ExitUsage
	case isUnreachable(err):
		return ExitUnreachable
	case errorIs(err, bucketctl.ErrNotFound, bucketctl.ErrNothing):
		return ExitNotFound
	case errors.Is(err, bucketctl.ErrConflict):
		return ExitConflict
	}
	return ExitFailed
}

// isUnreachable reports whether Redis did not answer. A context's deadline
// counts: the only deadlines here are the ones that bound a call to Redis.
func isUnreachable(err error) bool {
	return errorIs(err, bucketctl.ErrUnavailable, context.DeadlineExceeded)
}

func errorIs(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// ExitMarkdown is the table of exit codes for the documentation.
func ExitMarkdown() string {
	var b strings.Builder
	b.WriteString("| exit code | meaning |\n|---:|---|\n")
	for _, e := range exits() {
		fmt.Fprintf(&b, "| %d | %s |\n", e.code, e.text)
	}
	return b.String()
}
