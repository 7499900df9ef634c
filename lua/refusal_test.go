package lua_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// plain is a limit for tests in which it does not matter much.
var plain = limits{capacity: 10, rate: 1}

// otherTypes puts what is no bucket at the bucket's key.
func otherTypes(r *rig) map[string]func() error {
	ctx, c, key := r.ctx, r.c, r.bucket
	return map[string]func() error{
		"string": func() error { return c.Set(ctx, key, "5", 0).Err() },
		"list":   func() error { return c.LPush(ctx, key, "5").Err() },
		"zset":   func() error { return c.ZAdd(ctx, key, redis.Z{Score: 1, Member: "5"}).Err() },
		"set":    func() error { return c.SAdd(ctx, key, "5").Err() },
		"later":  func() error { return c.HSet(ctx, key, "kind", "later").Err() },
		"kind":   func() error { return c.HSet(ctx, key, "kind", "a\r\n+OK").Err() },
	}
}

// L20: only this bucket is refused, by a first word that clients can go by.
func TestKeysOfAnotherType(t *testing.T) {
	r := newRig(t)
	for name := range otherTypes(r) {
		t.Run(name, func(t *testing.T) {
			r := r.under(t)
			r.ok(otherTypes(r)[name]())
			r.refused("WRONGTYPE", takeScript, append(plain.args(), horizon, 0, "1:0")...)
			r.refused("WRONGTYPE", giveScript, append(plain.args(), "settle", "1", 0)...)
			hash := name == "later" || name == "kind"
			if hash {
				r.refused("WRONGTYPE", limitScript, anyRev, listed, "5", "", "", "forever", "anna", "why")
			} else {
				r.wantResult("limit", r.limit(anyRev, listed, edit{capacity: "5", end: "forever"}), "wrongtype")
			}
			for _, to := range []string{"full", "empty", "3"} {
				r.wantResult("reset to "+to, r.reset(anyRev, listed, to), "wrongtype")
			}
			got := r.reset(anyRev, strange, "delete")
			r.wantResult("delete", got, "ok")
			if r.life(r.bucket) != -2 || got.kind == "none" {
				t.Errorf("delete left the key, or told no type: %+v", got)
			}
			r.wantResult("delete again", r.reset(anyRev, strange, "delete"), "unknown")
		})
	}
}

// A record of another type stops everything, since a hold may be behind it.
func TestRecordOfAnotherType(t *testing.T) {
	r := newRig(t)
	r.take(plain, now1)
	r.ok(r.c.Set(r.ctx, r.record, "5", 0).Err())
	r.refused("WRONGTYPE", takeScript, append(plain.args(), horizon, 0, "1:0")...)
	r.refused("WRONGTYPE", giveScript, append(plain.args(), "settle", "1", 0)...)
	r.refused("WRONGTYPE", limitScript, anyRev, listed, "5", "", "", "forever", "anna", "why")
	r.refused("WRONGTYPE", holdScript, anyRev, listed, "forever", "anna", "why")
	r.refused("WRONGTYPE", resetScript, anyRev, listed, "full")
}

// A user who may not read hashes is a mistake in the setup of all buckets; it
// must not look like one key of a wrong type.
func TestDeniedCommandIsNoWrongType(t *testing.T) {
	r := newRig(t)
	r.take(plain, now1)
	r.ok(r.c.Do(r.ctx, "ACL", "SETUSER", "poor", "on", "nopass", "~*", "+@all", "-hmget").Err())
	poor := redis.NewClient(&redis.Options{Addr: r.c.Options().Addr, Username: "poor", Password: "x", MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = poor.Close() })
	for name, run := range map[string]func() error{
		"take": func() error {
			return takeScript.Run(r.ctx, poor, r.keys(), append(plain.args(), horizon, 0, "1:0")...).Err()
		},
		"reset": func() error { return resetScript.Run(r.ctx, poor, r.keys(), anyRev, listed, "full").Err() },
	} {
		if err := run(); err == nil || strings.HasPrefix(err.Error(), "WRONGTYPE") {
			t.Errorf("%s by a user without HMGET: %v, want an error that is no WRONGTYPE", name, err)
		}
	}
}

// L06: sizes that are no size are refused before anything is written.
func TestArgumentsOutOfRangeAreRefused(t *testing.T) {
	r := newRig(t)
	r.take(limits{capacity: 10, rate: 0.001}, ask{n: 3})
	for _, bad := range []string{"0", "-3", "nan", "-nan", "inf", "-inf", "abc", "", "1e400", "0x10", "9.1e15"} {
		r.refused("ERR", takeScript, append(plain.args(), horizon, 0, "1:0", bad+":0")...)
		if bad != "0" {
			r.refused("ERR", takeScript, append(plain.args(), horizon, 0, "1:"+bad)...)
			r.refused("ERR", takeScript, append(plain.args(), bad, 0, "1:0")...)
			r.refused("ERR", takeScript, append(plain.args(), horizon, bad, "1:0")...)
		}
		r.refused("ERR", takeScript, bad, "1", second, 1, horizon, 0, "1:0") // L08: rate 0, too
		r.refused("ERR", takeScript, "10", bad, second, 1, horizon, 0, "1:0")
		r.refused("ERR", giveScript, bad, "1", second, 1, "settle", "1", 0)
		r.refused("ERR", giveScript, "10", "1", second, 1, "refund", bad, 0)
		r.refused("ERR", giveScript, "10", "1", second, 1, "debit", bad, 0)
		r.refused("ERR", limitScript, anyRev, listed, nonempty(bad), "", "", "forever", "anna", "why")
		r.refused("ERR", limitScript, anyRev, listed, "", nonempty(bad), "", "forever", "anna", "why")
		if bad != "0" && bad != "-3" {
			r.refused("ERR", giveScript, "10", "1", second, 1, "settle", bad, 0)
			r.refused("ERR", resetScript, bad, listed, "full")
			r.refused("ERR", limitScript, bad, listed, "5", "", "", "forever", "anna", "why")
			r.refused("ERR", holdScript, bad, listed, "forever", "anna", "why")
		}
		if bad != "0" {
			r.refused("ERR", resetScript, anyRev, listed, bad)
		}
	}
	for _, list := range []string{"1", "1:", ":1", "1:2:0", "1:2:1001", "1:2:3:4", ":", "1 2"} {
		r.refused("ERR", takeScript, append(plain.args(), horizon, 0, list)...)
	}
	r.refused("ERR", giveScript, append(plain.args(), "gift", "1", 0)...)
}

// nonempty: to limit, an empty setting means "as it is".
func nonempty(bad string) string {
	if bad == "" {
		return " "
	}
	return bad
}
