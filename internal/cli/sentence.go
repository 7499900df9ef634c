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
	switch {
	case errors.As(err, &unsure):
		return line(fmt.Sprintf("Redis at %s gave no answer to %s (%s), so it may or may not have been written; bucketop get shows it", addr, unsure.verb, reason(unsure.err)))
	case isUnreachable(err):
		return line(fmt.Sprintf("Redis at %s can't be reached: %s; check the address (-u) and that Redis is up, then try again", addr, reason(err)))
	case errors.Is(err, bucketctl.ErrDenied):
		return line(fmt.Sprintf("Redis at %s refuses: %s; check user, password and ACL, and that it is no replica", addr, reason(err)))
	case errors.Is(err, bucketctl.ErrReadOnly):
		return line("nothing was written: --read-only is given")
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
// said, without what was being done at the time, as a clause of a sentence.
func reason(err error) string { return strings.TrimRight(lastCause(err), ". ") }

func lastCause(err error) string {
	text := plain(err)
	if errors.Is(err, context.DeadlineExceeded) || strings.HasSuffix(text, "(timeout)") {
		return "no answer in time"
	}
	if strings.HasSuffix(text, "redis: nil") { // only a sentinel answers so
		return "the sentinels know no such master, see --sentinel-master"
	}
	if i := strings.LastIndex(text, "can't connect: "); i >= 0 {
		return strings.TrimPrefix(text[i+len("can't connect: "):], "connect: ")
	}
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
