package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
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

// sentence is the one line that tells an operator what failed at addr and what
// to do about it.
func sentence(err error, addr string) string {
	switch {
	case isUnreachable(err):
		return line(fmt.Sprintf("Redis at %s can't be reached: %s; check the address (-u) and that Redis is up, then try again", addr, reason(err)))
	case errors.Is(err, bucketctl.ErrDenied):
		return line(fmt.Sprintf("Redis at %s refuses: %s; check user, password and ACL, and that it is no replica", addr, reason(err)))
	case errors.Is(err, bucketctl.ErrReadOnly):
		return line("nothing was written: --read-only is given")
	case errors.Is(err, bucketctl.ErrForeign):
		return line(plain(err) + "; its workers read no overrides from here, so change its limit where they are configured")
	case errors.Is(err, bucketctl.ErrWrongType):
		return line(plain(err) + "; to clear the key, reset it with --delete")
	case errors.Is(err, bucketctl.ErrConflict):
		return line(plain(err) + "; nothing was written, look again and repeat")
	case errors.Is(err, bucketctl.ErrNotFound):
		return line(plain(err) + "; bucketop ls shows those that are known")
	}
	return line(plain(err))
}

// reason is the last cause of a failed call: what the system or the server
// said, without the layers above it.
func reason(err error) string {
	var netErr net.Error
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return "no answer in time"
	case errors.As(err, &op):
		return strings.TrimPrefix(op.Err.Error(), "connect: ")
	}
	text := plain(err)
	for _, class := range []error{bucketctl.ErrUnavailable, bucketctl.ErrDenied} {
		if _, after, found := strings.Cut(text, plain(class)+": "); found {
			return after
		}
	}
	return text
}

// plain is the error's text without the name of the package it came from,
// which tells an operator nothing.
func plain(err error) string { return strings.ReplaceAll(err.Error(), "bucketctl: ", "") }

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
