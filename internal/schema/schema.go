// Package schema names everything that bucketop and bucketctl keep in Redis:
// every key, field, channel and stream, in one place. Lua scripts repeat the
// field names; a test in package lua holds the two together.
//
// A bucket's own key is the user's name for it. Everything else lies under a
// namespace, and whatever belongs to one bucket shares its cluster slot, so
// that one script can touch both.
package schema

import (
	"errors"
	"fmt"
	"strings"
)

// DefaultNamespace is where everything but the buckets themselves lies.
const DefaultNamespace = "bucketctl"

// Fields of a bucket's state, a hash at the bucket's own key.
const (
	FieldKind      = "kind"       // absent or KindBucket; KindWindow
	FieldTokens    = "tokens"     // level at FieldTs; may be negative (debt); not in a window
	FieldUsed      = "used"       // window: tokens in its log
	FieldTs        = "ts"         // server time of the level, seconds with a fraction; window: of the newest start
	FieldGranted   = "granted"    // tokens charged since the key began; only grows
	FieldCapacity  = "capacity"   // declared limit: tokens; window: in one span of FieldPer
	FieldRate      = "rate"       // declared limit: tokens per second
	FieldPer       = "per"        // unit the rate was declared in, microseconds; window: its span
	FieldGen       = "gen"        // generation of the declared limit; the highest wins
	FieldBlocked   = "blocked"    // cooldown until, server microseconds
	FieldBlockedBy = "blocked_by" // worker that started the cooldown
	FieldTurn      = "turn"       // when all booked tokens are paid, server microseconds
	FieldNeed      = "need"       // largest head booked since the queue last lapsed
	FieldFirst     = "first"      // ticket of a head that is late: later ones wait for it; 0: none
	FieldPaid      = "paid"       // window: how far those booked have been served, server microseconds
	FieldExp       = "exp"        // when the key expires, server microseconds
)

// StateFields are all fields that a bucket's state may have.
func StateFields() []string {
	return []string{
		FieldKind, FieldTokens, FieldUsed, FieldTs, FieldGranted, FieldCapacity, FieldRate, FieldPer, FieldGen,
		FieldBlocked, FieldBlockedBy, FieldTurn, FieldNeed, FieldFirst, FieldPaid, FieldExp,
	}
}

// Values of FieldKind.
const (
	KindBucket = "bucket"
	KindWindow = "window"
)

// Fields of the operators' record of one bucket, a hash at Keys.Limit. It
// shares FieldCapacity, FieldRate and FieldPer with the state: there they are
// declared, here they override.
const (
	FieldUntil      = "until"       // end of the override, server microseconds; absent: no end
	FieldHold       = "hold"        // end of the hold, server microseconds, or Forever; absent: no hold
	FieldHoldBy     = "hold_by"     // who holds
	FieldHoldAt     = "hold_at"     // since when, server microseconds
	FieldHoldReason = "hold_reason" // why
	FieldRev        = "rev"         // revision: max(old+1, server microseconds)
	FieldBy         = "by"          // who changed the override last
	FieldAt         = "at"          // when, server microseconds
	FieldReason     = "reason"      // why
)

// Forever stands for "no end" where a time is expected.
const Forever = "forever"

// Fields of one entry of the events stream.
const (
	EventKind   = "kind"   // what happened, see bucketctl.EventKind
	EventKey    = "key"    // the bucket, raw bytes; absent for a whole worker
	EventBy     = "by"     // operator or worker
	EventReason = "reason" // why, in the words of whoever did it
	EventRev    = "rev"    // revision after the change
	EventBefore = "before" // JSON: what was in force
	EventAfter  = "after"  // JSON: what is in force now
	EventDetail = "detail" // JSON: whatever else belongs to the kind
)

// FieldReport is the one field of an entry of the reports stream: JSON.
const FieldReport = "report"

// Keys builds key names within one namespace. The zero Keys is not usable;
// get one from New.
type Keys struct{ ns string }

// New returns the key names within namespace, DefaultNamespace when empty. A
// namespace with a brace is refused: it would decide the cluster slot of every
// key below it.
func New(namespace string) (Keys, error) {
	if namespace == "" {
		namespace = DefaultNamespace
	}
	if strings.ContainsAny(namespace, "{}") {
		return Keys{}, fmt.Errorf("namespace %q: braces are not allowed", namespace)
	}
	return Keys{ns: namespace}, nil
}

// Namespace returns the namespace itself.
func (k Keys) Namespace() string { return k.ns }

// Buckets is a zset, the registry: bucket -> server time last seen, milliseconds.
func (k Keys) Buckets() string { return k.ns + ":buckets" }

// Reports is a stream: what workers publish, kept 15 minutes or 16 MB.
func (k Keys) Reports() string { return k.ns + ":reports" }

// Events is a stream: audit and transitions, about 10,000 kept.
func (k Keys) Events() string { return k.ns + ":events" }

// Wake is a channel: "this bucket changed"; the message is the bucket's name.
func (k Keys) Wake() string { return k.ns + ":wake" }

// Limit is a hash, the operators' record of one bucket: override and hold.
func (k Keys) Limit(bucket string) string { return k.sibling("limit", bucket) }

// Log is a zset, a sliding window's starts: member = weight:start, score =
// start, server microseconds.
func (k Keys) Log(bucket string) string { return k.sibling("log", bucket) }

// Workers is a zset, the live workers of one bucket: score = the server time
// until which one counts as live.
func (k Keys) Workers(bucket string) string { return k.sibling("workers", bucket) }

// Everybody is a zset, the live workers of the whole namespace; score as in
// Workers.
func (k Keys) Everybody() string { return k.ns + ":workers" }

// sibling names a key in bucket's cluster slot. The "=" keeps the siblings of
// "a" and "{a}" apart.
func (k Keys) sibling(what, bucket string) string {
	if strings.Contains(bucket, "{") {
		return k.ns + ":" + what + ":=" + bucket
	}
	return k.ns + ":" + what + ":{" + bucket + "}"
}

// Check says why bucket can't be a bucket's name, or nil. Braces are allowed
// only where they form a hash tag that Redis Cluster heeds, since siblings
// could not share the slot otherwise.
func (k Keys) Check(bucket string) error {
	switch {
	case bucket == "":
		return errors.New("the name is empty")
	case strings.HasPrefix(bucket, k.ns+":"):
		return fmt.Errorf("names under %q are bucketctl's own", k.ns+":")
	case strings.ContainsAny(bucket, "{}") && !hasHashTag(bucket):
		return errors.New("its braces form no cluster hash tag: use {tag} with something between, or no brace")
	}
	return nil
}

// hasHashTag reports whether Redis Cluster hashes only a part of key: what
// lies between the first "{" and the first "}" after it, if that is not empty.
func hasHashTag(key string) bool {
	open := strings.IndexByte(key, '{')
	if open < 0 {
		return false
	}
	return strings.IndexByte(key[open+1:], '}') > 0
}

// HashTag is the part of key that decides its slot in a cluster: what lies
// between the first "{" and the first "}" after it, if that is not empty, else
// all of it. Keys of one tag share a slot; others might, by chance alone.
func HashTag(key string) string {
	if !hasHashTag(key) {
		return key
	}
	_, rest, _ := strings.Cut(key, "{")
	tag, _, _ := strings.Cut(rest, "}")
	return tag
}
