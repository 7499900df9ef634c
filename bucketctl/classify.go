package bucketctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"
)

// class says whose fault an error is, and so what follows from it.
type class uint8

const (
	classNone   class = iota // no error
	classCaller              // the caller's context ended
	classOutage              // Redis can't be asked now; it may come back by itself
	classConfig              // Redis answers, and refuses until somebody changes something
	classBucket              // this one bucket can't be used, all others can
)

// replyClasses sorts error replies by their first word. The words are stable
// over versions and products, the texts behind them are not.
func replyClasses() map[string]class {
	return map[string]class{
		"LOADING":     classOutage,
		"READONLY":    classOutage, // a failed-over primary
		"MASTERDOWN":  classOutage,
		"BUSY":        classOutage, // a script runs for too long
		"OOM":         classOutage,
		"MISCONF":     classOutage, // writes are refused since a snapshot failed
		"CLUSTERDOWN": classOutage,
		"TRYAGAIN":    classOutage,
		"NOREPLICAS":  classOutage,
		"UNBLOCKED":   classOutage,
		"MOVED":       classConfig, // a cluster spoken to by a client for one server
		"ASK":         classConfig,
		"CROSSSLOT":   classConfig,
		"NOAUTH":      classConfig,
		"WRONGPASS":   classConfig,
		"NOPERM":      classConfig,
		"ERR":         classConfig, // unknown command, denied within a script, too old …
		"WRONGTYPE":   classBucket,
	}
}

// classify returns the class of an error of a call to Redis under ctx.
func classify(ctx context.Context, err error) class {
	var answer redis.Error
	switch {
	case err == nil:
		return classNone
	case ctx.Err() != nil:
		return classCaller
	case errors.As(err, &answer):
		if c, ok := replyClasses()[firstWord(answer.Error())]; ok {
			return c
		}
		return classConfig
	}
	return classOutage // a timeout, a refused or broken connection, an exhausted pool
}

// firstWord is what tells one error reply from another. Some proxies put ERR
// in front of the server's own word.
func firstWord(text string) string {
	word, rest, _ := strings.Cut(text, " ")
	if next, _, _ := strings.Cut(rest, " "); word == "ERR" && next == "READONLY" {
		return next
	}
	return strings.TrimSuffix(word, ":")
}

// notDone reports whether the server surely did nothing: it said no, or was
// never reached.
func notDone(err error) bool {
	var (
		answer  redis.Error
		network *net.OpError
	)
	return errors.As(err, &answer) || errors.As(err, &network) && network.Op == "dial"
}

// cause is an error's one clause for people. It never quotes what may carry a
// secret, and stays short.
func cause(err error) string {
	var (
		denied  *deniedError
		answer  redis.Error
		network net.Error
		broken  *net.OpError
	)
	switch {
	case errors.As(err, &denied):
		return denied.Error()
	case errors.As(err, &answer):
		return shorten(answerText(answer.Error()))
	case errors.Is(err, redis.ErrPoolTimeout):
		return "all connections of the Redis client's pool are in use"
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "Redis does not answer (timeout)"
	case errors.As(err, &broken) && broken.Op == "dial":
		return "can't connect: " + shorten(broken.Err.Error())
	case errors.As(err, &broken):
		return "the connection broke: " + shorten(broken.Err.Error()) // without the addresses
	case errors.Is(err, io.EOF):
		return "the connection broke: the server closed it"
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
	if key != "" {
		doing = fmt.Sprintf("%s %q", doing, key)
	}
	switch classify(ctx, err) {
	case classNone:
		return nil
	case classCaller:
		return fmt.Errorf("bucketctl: %s: %w", doing, ctx.Err())
	case classBucket:
		return fmt.Errorf("%w: %s: %s", ErrWrongType, doing, cause(err))
	case classConfig:
		return fmt.Errorf("%w: %s: %s", ErrDenied, doing, cause(err))
	case classOutage:
	}
	if firstWord(err.Error()) == "READONLY" {
		return fmt.Errorf("%w: %s: %s", ErrDenied, doing, cause(err))
	}
	return fmt.Errorf("%w: %s: %s", ErrUnavailable, doing, cause(err))
}
