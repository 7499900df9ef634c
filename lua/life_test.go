package lua_test

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// slack is what measuring a life may cost: the test's own time between calls.
const slack = 20 * second

// Until is when a key's life may end at the earliest: when the bucket is full.
func TestStateOutlivesTheTimeToFull(t *testing.T) {
	r := newRig(t)
	tests := []struct {
		name           string
		capacity, rate float64
		want           int64 // life, microseconds, at least
	}{
		{"a second", 7, 3, day},
		{"one a day", 1, 1.0 / 86400, day},
		{"two weeks", 14, 1.0 / 86400, 14 * day},
		{"never, as far as Redis goes", 1e9, 1e-9, 36500 * day},
		{"never, and no overflow", 1, 1e-300, 36500 * day},
		{"out of every range", 9e15, 5e-324, 36500 * day},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := r.under(t)
			l := limits{capacity: tt.capacity, rate: tt.rate}
			r.take(l, ask{n: tt.capacity})
			r.take(l, now1)
			if got := r.life(r.bucket); got < tt.want || got > tt.want+hour+slack {
				t.Errorf("lives %v s, want from %v s to an hour more", got/second, tt.want/second)
			}
		})
	}
}

func TestLifeReckonsWithTheSlowerLimit(t *testing.T) {
	r := newRig(t)
	slow, fast := "0.0001", "1000"
	tests := []struct {
		name       string
		declared   float64
		over       edit
		days, most int64
	}{
		{"override slower", 1, edit{rate: slow, end: "forever"}, 11, 13},
		{"override faster, with an end", 0.0001, edit{rate: fast, end: "+60000000"}, 11, 13},
		{"override faster, without end", 0.0001, edit{rate: fast, end: "forever"}, 11, 13},
		{"taken away", 1, edit{rate: "declared"}, 1, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := r.under(t)
			r.take(limits{capacity: 100, rate: tt.declared}, ask{n: 100})
			if tt.over.rate == "declared" {
				r.wantResult("edit", r.limit(anyRev, strange, edit{rate: slow, end: "forever"}), "ok")
			}
			r.wantResult("edit", r.limit(anyRev, strange, tt.over), "ok")
			if got := r.life(r.bucket); got < tt.days*day || got > tt.most*day {
				t.Errorf("lives %v days, want %v to %v", float64(got)/float64(day), tt.days, tt.most)
			}
		})
	}
}

// A cooldown lies in front of the refill: both have to be lived through.
func TestLifeAddsCooldownAndRefill(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 100, rate: 100 / (10 * 86400.0)}
	r.take(l, ask{n: 100})
	r.set("blocked", r.now()+day-minute)
	r.wantResult("edit", r.limit(anyRev, strange, edit{capacity: "100", end: "forever"}), "ok")
	if got, want := r.life(r.bucket), 11*day-minute; got < want-slack {
		t.Errorf("lives %v days, want 11: a day of cooldown, then 10 to full", float64(got)/float64(day))
	}
}

// Polling keeps a bucket alive, whether it grants anything or not.
func TestStateLivesADayAfterTheLastTake(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 1}
	r.take(l, now1)
	r.wantResult("hold", r.hold(anyRev, strange, "forever"), "ok")
	r.back(23 * time.Hour)
	r.ok(r.c.PExpire(r.ctx, r.bucket, 2*time.Hour).Err())
	if got := r.take(l, now1); got.stop != heldUp {
		t.Fatalf("stop %d, want it held", got.stop)
	}
	if got := r.life(r.bucket); got < day {
		t.Errorf("lives %v hours after the last take, want 24", float64(got)/float64(hour))
	}
}

// L12: no expiry that Redis would refuse or take for "at once".
func TestDebtLivesUntilItIsPaid(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 100, rate: 100 / (5 * 86400.0)}
	r.take(l, ask{n: 100})
	r.give(l, "settle", -100, 0)
	if got := r.life(r.bucket); got < 10*day-slack || got > 10*day+hour+slack {
		t.Errorf("lives %v days, want 10: 5 for the debt, 5 to full", float64(got)/float64(day))
	}
}

// Renewing costs a command more; it has to be rare.
func TestExpiryIsRenewedRarely(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 1e6, rate: 1000}
	for range 300 {
		r.take(l, now1)
	}
	if got := commandCalls(r, "pexpire"); got != 1 {
		t.Errorf("300 takes in a row called PEXPIRE %d times, want once", got)
	}
	r.back(59 * time.Minute)
	r.take(l, now1)
	if got := commandCalls(r, "pexpire"); got != 1 {
		t.Errorf("a take after 59 minutes renewed the expiry")
	}
	r.back(2 * time.Minute)
	r.take(l, now1)
	if got := commandCalls(r, "pexpire"); got != 2 {
		t.Errorf("a take after 61 minutes called PEXPIRE %d times in all, want 2", got)
	}
	if got, want := r.field("exp"), r.now()+r.life(r.bucket); math.Abs(got-float64(want)) > float64(second) {
		t.Errorf("exp is %s, while the key expires at %d", exact(got), want)
	}
}

// An exp that no script can have written is not believed.
func TestExpiryBeyondTheLongestIsRenewed(t *testing.T) {
	r := newRig(t)
	r.take(plain, now1)
	r.set("exp", "8999999999999999")
	r.ok(r.c.PExpire(r.ctx, r.bucket, time.Minute).Err())
	r.take(plain, now1)
	if life := r.life(r.bucket); life < day || r.field("exp") > float64(r.now()+2*day) {
		t.Errorf("lives %d s, exp %v", life/second, r.field("exp"))
	}
}

// commandCalls is how often the server ran a command, in scripts or outside.
func commandCalls(r *rig, command string) (n int) {
	r.Helper()
	info, err := r.c.InfoMap(r.ctx, "commandstats").Result()
	r.ok(err)
	for _, section := range info {
		if line, ok := section["cmdstat_"+command]; ok {
			if _, err := fmt.Sscanf(line, "calls=%d", &n); err != nil {
				r.Fatalf("reading %q: %v", line, err)
			}
		}
	}
	return n
}
