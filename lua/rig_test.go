package lua_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"bucketop/internal/redistest"
	"bucketop/lua"
)

// TestMain fails the run when anything here leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Lengths of time as the scripts count them.
const (
	second = int64(1e6)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// failer is what a rig needs of a *testing.T, so that rapid's own T will do.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

var (
	takeScript  = redis.NewScript(lua.Take())
	giveScript  = redis.NewScript(lua.Give())
	limitScript = redis.NewScript(lua.Limit())
	holdScript  = redis.NewScript(lua.Hold())
	resetScript = redis.NewScript(lua.Reset())

	windowTakeScript = redis.NewScript(lua.WindowTake())
	windowGiveScript = redis.NewScript(lua.WindowGive())
	windowCoolScript = redis.NewScript(lua.WindowCool())
	coolScript       = redis.NewScript(lua.Cool())
	beatScript       = redis.NewScript(lua.Beat())
)

// rig is one bucket on a server, and every way to touch it.
type rig struct {
	failer
	ctx            context.Context
	c              *redis.Client
	bucket, record string
	log            string                  // a window's
	drawing        func(*rig, ...ask) bool // how a test of several kinds takes
}

// newRig starts a server and returns a rig for a bucket on it.
func newRig(t testing.TB) *rig {
	t.Helper()
	return rigOn(t, redistest.Start(t).Client(t))
}

func rigOn(t testing.TB, c *redis.Client) *rig {
	return &rig{failer: t, ctx: t.Context(), c: c, bucket: "b", record: "bucketctl:limit:{b}", log: "bucketctl:log:{b}"}
}

// under returns the rig for a subtest, with the bucket gone.
func (r *rig) under(t testing.TB) *rig {
	t.Helper()
	sub := *r
	sub.failer, sub.ctx = t, t.Context()
	sub.ok(r.c.FlushDB(sub.ctx).Err())
	return &sub
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatalf("%v", err)
	}
}

func (r *rig) keys() []string { return []string{r.bucket, r.record, r.log} }

// run runs a script that must not fail.
func (r *rig) run(s *redis.Script, args ...any) []any {
	r.Helper()
	v, err := s.Run(r.ctx, r.c, r.keys(), args...).Slice()
	if err != nil {
		r.Fatalf("script with %v: %v", args, err)
	}
	return v
}

// refused runs a script that must fail with an error of this first word, and
// must change nothing.
func (r *rig) refused(word string, s *redis.Script, args ...any) {
	r.Helper()
	before := r.dump()
	err := s.Run(r.ctx, r.c, r.keys(), args...).Err()
	if err == nil || !strings.HasPrefix(err.Error(), word+" ") {
		r.Errorf("script with %q: error %v, want one that begins with %s", args, err, word)
	}
	if err != nil && strings.Contains(err.Error(), "script:") {
		r.Errorf("script with %q broke down instead of refusing: %v", args, err)
	}
	if after := r.dump(); after != before {
		r.Errorf("script with %q was refused and changed %s to %s", args, before, after)
	}
}

// dump is all that the two keys hold, in a form to compare and to read.
func (r *rig) dump() string {
	r.Helper()
	var b strings.Builder
	for _, key := range r.keys() {
		fmt.Fprintf(&b, "%s %s, expires %d", key, r.c.Type(r.ctx, key).Val(), r.c.PExpireTime(r.ctx, key).Val())
		if f, err := r.c.HGetAll(r.ctx, key).Result(); err == nil {
			fmt.Fprintf(&b, " %q", f)
		} else {
			fmt.Fprintf(&b, " %q", r.c.Dump(r.ctx, key).Val())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// now is the server's clock.
func (r *rig) now() int64 {
	r.Helper()
	t, err := r.c.Time(r.ctx).Result()
	r.ok(err)
	return t.UnixMicro()
}

// set sets fields of the bucket.
func (r *rig) set(pairs ...any) { r.Helper(); r.ok(r.c.HSet(r.ctx, r.bucket, pairs...).Err()) }

// note sets fields of the operators' record.
func (r *rig) note(pairs ...any) { r.Helper(); r.ok(r.c.HSet(r.ctx, r.record, pairs...).Err()) }

// leaveTheQueue takes all bookings back.
func (r *rig) leaveTheQueue() { r.Helper(); r.ok(r.c.HDel(r.ctx, r.bucket, "turn", "need").Err()) }

func (r *rig) fields() map[string]string {
	r.Helper()
	v, err := r.c.HGetAll(r.ctx, r.bucket).Result()
	r.ok(err)
	return v
}

func (r *rig) noted() map[string]string {
	r.Helper()
	v, err := r.c.HGetAll(r.ctx, r.record).Result()
	r.ok(err)
	return v
}

// field is a number in the bucket.
func (r *rig) field(name string) float64 {
	r.Helper()
	text := r.fields()[name]
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.Fatalf("field %s is %q, want a number", name, text)
	}
	return v
}

// stored is the bucket's ts in microseconds.
func (r *rig) stored() int64 { r.Helper(); return micros(r, r.fields()["ts"]) }

// life is how long a key still lives, microseconds; -1: for ever, -2: no key.
func (r *rig) life(key string) int64 {
	r.Helper()
	v, err := r.c.PTTL(r.ctx, key).Result()
	r.ok(err)
	if v < 0 {
		return int64(v)
	}
	return v.Microseconds()
}

// micros reads seconds with six decimals, without a detour through a float.
func micros(f failer, text string) int64 {
	f.Helper()
	whole, fraction, _ := strings.Cut(text, ".")
	v, err := strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
	if err != nil {
		f.Fatalf("ts is %q, want seconds with six decimals", text)
	}
	return v
}

// seconds prints microseconds as ts is stored.
func seconds(micros int64) string {
	return fmt.Sprintf("%d.%06d", micros/second, micros%second)
}

// back lets d pass without waiting: it moves every stored time back by d.
func (r *rig) back(d time.Duration) {
	r.Helper()
	shift := d.Microseconds()
	f := r.fields()
	if ts, ok := f["ts"]; ok {
		r.set("ts", seconds(micros(r, ts)-shift))
	}
	for _, name := range []string{"blocked", "exp", "turn", "first"} {
		r.shift(r.bucket, f, name, shift)
	}
	for _, name := range []string{"until", "hold"} {
		r.shift(r.record, r.noted(), name, shift)
	}
}

func (r *rig) shift(key string, f map[string]string, name string, by int64) {
	r.Helper()
	if v, err := strconv.ParseInt(f[name], 10, 64); err == nil && v > 0 {
		r.ok(r.c.HSet(r.ctx, key, name, v-by).Err())
	}
}

func number(f failer, v any) float64 {
	f.Helper()
	x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	if err != nil {
		f.Fatalf("%q is no number", v)
	}
	return x
}
