package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"bucketop/bucketctl"
	"bucketop/internal/textsafe"
)

// usageError is a command line that can't work.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return usageError{text: fmt.Sprintf(format, args...)}
}

// unsureError is a change that was sent, and whose answer did not come.
type unsureError struct {
	verb string
	err  error
}

func (e unsureError) Error() string { return e.verb + ": " + e.err.Error() }
func (e unsureError) Unwrap() error { return e.err }

// sentence is the one line that tells an operator what failed at addr and what
// to do about it.
func sentence(err error, addr string) string {
	var unsure unsureError
	var call *bucketctl.CallError
	switch {
	case errors.As(err, &unsure):
		return line(fmt.Sprintf("Redis at %s gave no answer to %s (%s), so it may or may not have been written; bucketop get shows it", addr, unsure.verb, reason(unsure.err)))
	case isUnreachable(err) && errors.As(err, &call) && call.Fault == bucketctl.FaultReply:
		return line(fmt.Sprintf("Redis at %s can't %s now: %s; try again later", addr, call.What(), reason(err)))
	case isUnreachable(err):
		return line(fmt.Sprintf("Redis at %s can't be reached: %s; check the address (-u) and that Redis is up, then try again", addr, reason(err)))
	case errors.Is(err, bucketctl.ErrDenied):
		return line(refusal(err, addr))
	case errors.Is(err, bucketctl.ErrReadOnly):
		return line("nothing was written: --read-only is given")
	case errors.Is(err, bucketctl.ErrWrongType) && errors.As(err, &call):
		return line(fmt.Sprintf("Redis at %s can't %s: a key of the namespace, which is bucketctl's own, holds something else (%s)", addr, call.What(), reason(err)))
	case errors.Is(err, bucketctl.ErrWrongType):
		return line(plain(err) + "; to clear the key, reset it with --delete")
	case errors.Is(err, bucketctl.ErrConflict):
		return line(plain(err) + "; nothing was written, look again and repeat")
	case errors.Is(err, bucketctl.ErrNotFound):
		return line(plain(err) + "; bucketop ls shows those that are known")
	}
	return line(plain(err))
}

// refusal says what a server that answers refuses, and which flag would mend it
// where that is known.
func refusal(err error, addr string) string {
	var call *bucketctl.CallError
	if !errors.As(err, &call) {
		return plain(err)
	}
	switch call.Fault {
	case bucketctl.FaultReplica:
		return fmt.Sprintf("Redis at %s is a replica, which takes no writes: name its primary with -u", addr)
	case bucketctl.FaultCluster:
		return fmt.Sprintf("Redis at %s is one server of a cluster, and another one has what is asked for: say --cluster", addr)
	case bucketctl.FaultNoCluster:
		return fmt.Sprintf("Redis at %s is no cluster: leave out --cluster, or cluster=true in the URL", addr)
	case bucketctl.FaultNoSentinel:
		return fmt.Sprintf("there is no sentinel at %s: name the sentinels with -u, or leave out --sentinel-master", addr)
	case bucketctl.FaultMaster:
		return fmt.Sprintf("no such master at %s: see --sentinel-master", addr)
	case bucketctl.FaultLogin:
		return fmt.Sprintf("Redis at %s lets this user not in: %s; check user and password", addr, reason(err))
	case bucketctl.FaultPermission:
		return fmt.Sprintf("Redis at %s refuses to %s: %s; check the user's ACL", addr, call.What(), reason(err))
	default:
		return fmt.Sprintf("Redis at %s refuses to %s: %s", addr, call.What(), reason(err))
	}
}

// reason is why a call failed: what the system or the server said, without what
// was being done at the time, as a clause of a sentence.
func reason(err error) string {
	var call *bucketctl.CallError
	known := errors.As(err, &call)
	switch {
	case errors.Is(err, context.DeadlineExceeded), known && call.Fault == bucketctl.FaultTimeout:
		return "no answer in time"
	case known && call.Fault == bucketctl.FaultConnect: // that it is about connecting the sentence says
		return call.Cause
	case known:
		return strings.TrimRight(call.Why(), ". ") // a server ends its sentences itself
	}
	return plain(err)
}

// plain is the error's text without the name of the package it came from, which
// tells an operator nothing.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "bucketctl: ") }

// line makes one printable line of a text that may quote keys, names and
// answers of a server. Unlike textsafe.Escape it leaves backslashes alone: such
// texts are for reading, and keys in them are quoted already.
func line(text string) string {
	var b strings.Builder
	for _, part := range strings.SplitAfter(text, " ") {
		word := strings.TrimSuffix(part, " ")
		for i, piece := range strings.Split(word, `\`) {
			if i > 0 {
				b.WriteByte('\\')
			}
			b.WriteString(textsafe.Escape(piece))
		}
		b.WriteString(part[len(word):])
	}
	return b.String()
}
