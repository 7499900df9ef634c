package bucketctl

import (
	"context"
	"errors"
	"net"
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
