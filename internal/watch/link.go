package watch

import (
	"context"
	"errors"
	"strings"
	"time"

	"bucketop/bucketctl"
)

// Pauses between attempts while Redis is lost.
const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = 2 * time.Second // somebody waits for the console to come back
)

// live is the link after a refresh that worked.
func (l Link) live(rtt time.Duration, now time.Time) Link {
	if l.State != Live {
		l.State, l.Since = Live, now
	}
	l.Err, l.Tries, l.RTT = "", 0, rtt
	return l
}

// lost is the link after one that failed.
func (l Link) lost(err error, now time.Time) Link {
	if l.State != Lost {
		l.State, l.Since = Lost, now
	}
	l.Err = reason(err)
	l.Tries++
	return l
}

// retry is how long to wait after so many failed attempts.
func (l Link) retry() time.Duration {
	wait := firstRetry
	for i := 1; i < l.Tries && wait < lastRetry; i++ {
		wait *= 2
	}
	return min(wait, lastRetry)
}

// isOutage reports whether the error means that Redis can't be asked at all, so
// that nothing else need be tried in this refresh.
func isOutage(err error) bool {
	return errors.Is(err, bucketctl.ErrUnavailable) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// reasons are the clauses for what an error's text tells, by a part of it in
// small letters; the first that fits counts.
func reasons() []struct{ part, clause string } {
	return []struct{ part, clause string }{
		{"noauth", "Redis wants a password"},
		{"wrongpass", "Redis refuses the user or password"},
		{"invalid password", "Redis refuses the user or password"},
		{"noperm", "the Redis user lacks a permission"},
		{"no permissions", "the Redis user lacks a permission"},
		{"loading", "Redis is loading its data"},
		{"masterdown", "the replica has lost its primary"},
		{"clusterdown", "the cluster is down"},
		{"busy", "Redis is busy with a script"},
		{"misconf", "Redis can't save and refuses"},
		{"max number of clients", "Redis has too many clients"},
		{"x509", "the TLS certificate is not trusted"},
		{"certificate", "the TLS certificate is not trusted"},
		{"tls", "no TLS there"},
		{"no such host", "no such host"},
		{"server misbehaving", "the name can't be resolved"},
		{"refused", "connection refused"},
		{"no route", "no route to the host"},
		{"unreachable", "the network is unreachable"},
		{"no such file", "no such socket"},
		{"permission denied", "the socket denies access"},
		{"timeout", "no answer (timeout)"},
		{"deadline exceeded", "no answer (timeout)"},
		{"pool exhausted", "no answer (timeout)"},
		{"reset by peer", "the connection broke"},
		{"broken pipe", "the connection broke"},
		{"eof", "the connection broke"},
		{"closed", "the connection broke"},
		{"canceled", "stopped"},
	}
}

// topologies are the clauses for a server that is of another kind than the command
// line says.
func topologies() map[bucketctl.Fault]string {
	return map[bucketctl.Fault]string{
		bucketctl.FaultCluster:    "it is one server of a cluster: --cluster",
		bucketctl.FaultNoCluster:  "it is no cluster: without --cluster",
		bucketctl.FaultNoSentinel: "no sentinel is there: without --sentinel-master",
		bucketctl.FaultMaster:     "the sentinels know no such master",
	}
}

// reason is an error in one clause. It is one of a fixed set: an error's own text
// quotes the bucket's name, and a proxy's even what was sent to it.
func reason(err error) string {
	var call *bucketctl.CallError
	cause := err.Error()
	if errors.As(err, &call) {
		if clause, known := topologies()[call.Fault]; known {
			return clause
		}
		cause = call.Why()
	}
	cause = strings.ToLower(cause)
	for _, r := range reasons() {
		if strings.Contains(cause, r.part) {
			return r.clause
		}
	}
	if errors.Is(err, bucketctl.ErrDenied) {
		return "Redis refuses"
	}
	return "Redis can't be asked"
}
