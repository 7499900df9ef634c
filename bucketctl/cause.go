package bucketctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Fault names how a call to Redis failed, for programs that tell people what to
// do about it.
type Fault string

// Faults of calls.
const (
	FaultEnded      Fault = "ended"       // the caller's own context ended
	FaultTimeout    Fault = "timeout"     // no answer in time
	FaultPool       Fault = "pool"        // all connections of the client are in use
	FaultConnect    Fault = "connect"     // no connection could be made
	FaultBroken     Fault = "broken"      // the connection broke
	FaultReply      Fault = "reply"       // the server answered with an error that none of these names
	FaultLogin      Fault = "login"       // the user or the password is wrong or missing
	FaultPermission Fault = "permission"  // the ACL does not let the user do this
	FaultReplica    Fault = "replica"     // the server is a replica, which takes no writes
	FaultCluster    Fault = "cluster"     // the server is one of a cluster, and the client knows of none
	FaultNoCluster  Fault = "no-cluster"  // the client asks for a cluster, and the server is none
	FaultNoSentinel Fault = "no-sentinel" // the client asks sentinels, and the server is none
	FaultMaster     Fault = "master"      // the sentinels know no such master
	FaultOther      Fault = "other"       // anything else, such as a certificate
)

// CallError says why a call to Redis failed. It is what its Class is:
// ErrUnavailable, ErrDenied, ErrWrongType, or the error of a context that ended.
type CallError struct {
	Class error  // which of these
	Doing string // what was being done, such as "read" or "list buckets"
	Key   string // the bucket that it was done to; empty: none in particular
	Fault Fault
	Cause string // what the server or the system said: one short clause, without secrets

	// Unsure says of a write that it may have been done all the same: it was sent,
	// and the answer was lost.
	Unsure bool
}

func (e *CallError) Error() string {
	if e.Fault == FaultEnded {
		return "bucketctl: " + e.What() + ": " + e.Cause
	}
	return e.Class.Error() + ": " + e.What() + ": " + e.Why()
}

// What is what was being done, and to which bucket.
func (e *CallError) What() string {
	if e.Key == "" {
		return e.Doing
	}
	return fmt.Sprintf("%s %q", e.Doing, e.Key)
}

// Why is the cause as a clause that stands alone, such as "can't connect:
// connection refused".
func (e *CallError) Why() string { return e.Fault.with(e.Cause) }

// Unwrap makes errors.Is true for the class.
func (e *CallError) Unwrap() error { return e.Class }

// with is the cause as a clause that stands alone.
func (f Fault) with(cause string) string {
	switch f {
	case FaultConnect:
		return "can't connect: " + cause
	case FaultBroken:
		return "the connection broke: " + cause
	case FaultEnded, FaultTimeout, FaultPool, FaultReply, FaultLogin, FaultPermission, FaultReplica,
		FaultCluster, FaultNoCluster, FaultNoSentinel, FaultMaster, FaultOther:
	}
	return cause
}

// cause is an error's one clause for people. It never quotes what may carry a
// secret, and stays short.
func cause(err error) string {
	fault, said := faultOf(err)
	return fault.with(said)
}

// faultOf tells what failed, and what was said about it.
func faultOf(err error) (Fault, string) {
	var (
		denied  *deniedError
		answer  redis.Error
		network net.Error
		broken  *net.OpError
	)
	switch {
	case errors.As(err, &denied):
		return FaultPermission, denied.Error()
	case errors.Is(err, redis.Nil): // where "nothing" is no answer, a sentinel gave it
		return FaultMaster, "the sentinels know no such master"
	case errors.As(err, &answer):
		return replyFault(answer.Error()), shorten(answerText(answer.Error()))
	case errors.Is(err, redis.ErrPoolTimeout):
		return FaultPool, "all connections of the Redis client's pool are in use"
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return FaultTimeout, "Redis does not answer (timeout)"
	case errors.As(err, &broken) && broken.Op == "dial":
		return FaultConnect, systemText(broken.Err)
	case errors.As(err, &broken):
		return FaultBroken, systemText(broken.Err) // without the addresses
	case errors.Is(err, io.EOF):
		return FaultBroken, "the server closed it"
	}
	return FaultOther, shorten(err.Error())
}

// replyFault singles out the replies that say which flag or address is wrong.
func replyFault(text string) Fault {
	switch firstWord(text) {
	case "NOAUTH", "WRONGPASS":
		return FaultLogin
	case "NOPERM":
		return FaultPermission
	case "READONLY":
		return FaultReplica
	case "MOVED", "ASK", "CROSSSLOT":
		return FaultCluster
	}
	switch {
	case strings.HasSuffix(text, "cluster support disabled"):
		return FaultNoCluster
	case regexp.MustCompile("(?i)^err unknown command .sentinel").MatchString(text):
		return FaultNoSentinel
	case strings.HasPrefix(text, "ERR AUTH "), strings.HasPrefix(text, "ERR Protocol error: unauthenticated"):
		return FaultLogin
	}
	return FaultReply
}

// systemText is what the system said, without the name of the call that it said
// it to.
func systemText(err error) string {
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return shorten(err.Error())
}

// answerText is an error reply as people read it: without the script's hash and
// line, which differ from call to call, and without what may carry a secret. To
// who is not logged in a server speaks of the length of his commands before it
// speaks of passwords.
func answerText(text string) string {
	if strings.HasPrefix(text, "ERR Protocol error: unauthenticated") {
		return "NOAUTH Authentication required."
	}
	if hash := regexp.MustCompile(` script: [0-9a-f]{40}`).FindStringIndex(text); hash != nil {
		text = text[:hash[0]]
	}
	return withoutArguments(text)
}

// withoutArguments cuts what a server repeats of a command that it does not
// know: of AUTH and HELLO that is the password.
func withoutArguments(text string) string {
	said, _, _ := strings.Cut(text, "with args")
	return strings.TrimRight(said, ", ")
}

func shorten(text string) string {
	const most = 120
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// adminError wraps what a call of an Admin met with.
func adminError(ctx context.Context, doing, key string, err error) error {
	if err == nil {
		return nil
	}
	told := &CallError{Doing: doing, Key: key}
	told.Fault, told.Cause = faultOf(err)
	switch classify(ctx, err) {
	case classCaller:
		told.Class, told.Fault, told.Cause = ctx.Err(), FaultEnded, ctx.Err().Error()
	case classBucket:
		told.Class = ErrWrongType
	case classConfig:
		told.Class = ErrDenied
	case classOutage, classNone:
		told.Class = ErrUnavailable
		if told.Fault == FaultReplica {
			told.Class = ErrDenied // it stays one until somebody sees to it
		}
	}
	return told
}

// writeError is adminError for a call that writes.
func writeError(ctx context.Context, doing, key string, err error) error {
	told := adminError(ctx, doing, key, err)
	var call *CallError
	if errors.As(told, &call) {
		call.Unsure = mayBeDone(err)
	}
	return told
}

// mayBeDone reports whether a call that failed was sent, and perhaps done.
func mayBeDone(err error) bool { return !notDone(err) && !errors.Is(err, redis.ErrPoolTimeout) }
