package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"bucketop/bucketctl"
)

func TestSentencesOfFailedCalls(t *testing.T) {
	refused := func(fault bucketctl.Fault, cause string) error {
		return &bucketctl.CallError{Class: bucketctl.ErrDenied, Doing: "list buckets", Fault: fault, Cause: cause}
	}
	down := func(fault bucketctl.Fault, cause string) error {
		return &bucketctl.CallError{Class: bucketctl.ErrUnavailable, Doing: "read", Key: "k", Fault: fault, Cause: cause}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{refused(bucketctl.FaultLogin, "WRONGPASS invalid username-password pair or user is disabled."),
			"Redis at h:1 lets this user not in: WRONGPASS invalid username-password pair or user is disabled; check user and password"},
		{refused(bucketctl.FaultPermission, "NOPERM no"), "Redis at h:1 refuses to list buckets: NOPERM no; check the user's ACL"},
		{refused(bucketctl.FaultReply, "ERR DB index is out of range"), "Redis at h:1 refuses to list buckets: ERR DB index is out of range"},
		{&bucketctl.CallError{Class: bucketctl.ErrWrongType, Doing: "read events", Fault: bucketctl.FaultReply, Cause: "WRONGTYPE no"},
			"Redis at h:1 can't read events: a key of the namespace, which is bucketctl's own, holds something else (WRONGTYPE no)"},
		{refused(bucketctl.FaultReplica, "READONLY no"), "Redis at h:1 is a replica, which takes no writes: name its primary with -u"},
		{refused(bucketctl.FaultCluster, "MOVED 1 h:2"), "Redis at h:1 is one server of a cluster, and another one has what is asked for: say --cluster"},
		{refused(bucketctl.FaultNoCluster, "ERR cluster support disabled"), "Redis at h:1 is no cluster: leave out --cluster, or cluster=true in the URL"},
		{refused(bucketctl.FaultMaster, ""), "no such master at h:1: see --sentinel-master"},
		{down(bucketctl.FaultConnect, "connection refused"), "Redis at h:1 can't be reached: connection refused; check the address (-u) and that Redis is up, then try again"},
		{down(bucketctl.FaultTimeout, "x"), "Redis at h:1 can't be reached: no answer in time; check the address (-u) and that Redis is up, then try again"},
		{down(bucketctl.FaultBroken, "EOF"), "Redis at h:1 can't be reached: the connection broke: EOF; check the address (-u) and that Redis is up, then try again"},
		{&bucketctl.CallError{Class: context.DeadlineExceeded, Doing: "read", Fault: bucketctl.FaultEnded, Cause: "x"},
			"Redis at h:1 can't be reached: no answer in time; check the address (-u) and that Redis is up, then try again"},
	} {
		if got := sentence(fmt.Errorf("doing: %w", c.err), "h:1"); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.err, got, c.want)
		}
	}
}

// A key may say anything, also what errors say: it is told as it is.
func TestAKeyCannotChangeTheSentence(t *testing.T) {
	for _, key := range []string{"bucketctl: b", "x can't connect: y", "Redis refuses: z", "a (timeout)", "redis: nil"} {
		quoted := fmt.Sprintf("%q", key)
		call := &bucketctl.CallError{Class: bucketctl.ErrDenied, Doing: "read", Key: key, Fault: bucketctl.FaultPermission, Cause: "NOPERM"}
		if got := sentence(call, "h:1"); !strings.HasPrefix(got, "Redis at h:1 refuses to read "+quoted+": NOPERM; ") {
			t.Errorf("%s: %s", quoted, got)
		}
		if got := sentence(fmt.Errorf("%w: %q is unknown", bucketctl.ErrNotFound, key), "h:1"); !strings.HasPrefix(got, "no such bucket: "+quoted+" is unknown; ") {
			t.Errorf("%s: %s", quoted, got)
		}
	}
}
