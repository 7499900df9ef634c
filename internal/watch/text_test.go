package watch

import (
	"errors"
	"math"
	"testing"
	"time"

	"bucketop/bucketctl"
)

func TestShort(t *testing.T) {
	tests := map[time.Duration]string{
		-time.Hour: "0s", 0: "0s", 999 * time.Millisecond: "0s", 42 * time.Second: "42s", 59999 * time.Millisecond: "59s",
		time.Minute: "1m", 4*time.Minute + 59*time.Second: "4m", time.Hour: "1h", 47 * time.Hour: "47h",
		48 * time.Hour: "2d", 80 * time.Hour: "3d", math.MaxInt64: "106751d",
	}
	for d, want := range tests {
		if got := Short(d); got != want {
			t.Errorf("Short(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestRateText(t *testing.T) {
	tests := []struct {
		rate float64
		per  time.Duration
		want string
	}{
		{2.5, time.Minute, "150/min"}, {10, 0, "10/s"}, {1. / 3, time.Second, "0.333/s"}, {123456.7, time.Second, "123457/s"},
		{0, time.Minute, "0/min"}, {1. / 86400, 24 * time.Hour, "1/day"},
	}
	for _, test := range tests {
		if got := rateText(test.rate, test.per); got != test.want {
			t.Errorf("rateText(%v, %v) = %q, want %q", test.rate, test.per, got, test.want)
		}
	}
}

func TestPerson(t *testing.T) {
	for by, want := range map[string]string{"anna@ops1": "anna", "anna": "anna", "": "", "@x": "@x"} {
		if got := person(by); got != want {
			t.Errorf("person(%q) = %q, want %q", by, got, want)
		}
	}
}

func TestReasonIsOneKnownClause(t *testing.T) {
	down := func(cause string) error {
		return &bucketctl.CallError{Class: bucketctl.ErrUnavailable, Doing: "read", Key: "a:noauth", Fault: bucketctl.FaultOther, Cause: cause}
	}
	denied := func(cause string) error {
		return &bucketctl.CallError{Class: bucketctl.ErrDenied, Doing: "read events", Fault: bucketctl.FaultReply, Cause: cause}
	}
	tests := []struct {
		err  error
		want string
	}{
		{down("can't connect: connect: connection refused"), "connection refused"},
		{down("Redis does not answer (timeout)"), "no answer (timeout)"},
		{down("can't connect: lookup cache-1: no such host"), "no such host"},
		{down("EOF"), "the connection broke"},
		{down("LOADING Redis is loading the dataset in memory"), "Redis is loading its data"},
		{down("whatever says hunter2"), "Redis can't be asked"},
		{denied("WRONGPASS invalid username-password pair or user is disabled."), "Redis refuses the user or password"},
		{denied("NOAUTH Authentication required."), "Redis wants a password"},
		{denied("NOPERM this user has no permissions to run the 'info' command"), "the Redis user lacks a permission"},
		{denied("hunter2"), "Redis refuses"},
		{&bucketctl.CallError{Class: bucketctl.ErrDenied, Fault: bucketctl.FaultCluster, Cause: "MOVED 1 h:2"}, "it is one server of a cluster: --cluster"},
		{&bucketctl.CallError{Class: bucketctl.ErrDenied, Fault: bucketctl.FaultMaster}, "the sentinels know no such master"},
		{errors.Join(errRefused, denied("NOAUTH Authentication required.")), "Redis wants a password"},
	}
	for _, test := range tests {
		if got := reason(test.err); got != test.want {
			t.Errorf("reason(%v) = %q, want %q", test.err, got, test.want)
		}
	}
}

func TestRetriesSlowDownToTwoSeconds(t *testing.T) {
	var l Link
	var got []time.Duration
	for range 8 {
		l = l.lost(errDown, epoch)
		got = append(got, l.retry())
	}
	want := []float64{0.25, 0.5, 1, 2, 2, 2, 2, 2}
	for i, d := range got {
		if d.Seconds() != want[i] {
			t.Errorf("after %d attempts: %v, want %v s", i+1, d, want[i])
		}
	}
}

func TestLevelAt(t *testing.T) {
	bucket := func(level, granted float64, waiting int) Bucket {
		s := full(0)
		s.At, s.Level = at(0), level
		return Bucket{State: s, Granted: granted, Waiting: waiting}
	}
	cooling := bucket(0, 0, 0)
	cooling.State.Cooldown.Until = at(3)
	alone := bucket(10, 1004, 3) // 1000 of these from a share
	alone.Alone, alone.Workers = 1000, []WorkerRow{fallen("a", 90)}
	held := bucket(0, 0, 5)
	held.State.Hold.Active = true
	tests := []struct {
		name string
		b    Bucket
		at   float64
		want float64
	}{
		{"it moves by rate less grants", bucket(10, 4, 0), 2, 22},
		{"up to the capacity", bucket(10, 0, 0), 10, 30},
		{"down to 0", bucket(10, 30, 0), 10, 0},
		{"not up while callers wait", bucket(10, 4, 1), 2, 10},
		{"but down", bucket(10, 14, 1), 1, 6},
		{"what is granted alone does not come from it", alone, 2, 22},
		{"held, nobody takes what comes back", held, 2, 20},
		{"not before the cooldown's end", cooling, 2, 0},
		{"after it", cooling, 4, 10},
		{"a debt grows less", bucket(-20, 0, 0), 1, -10},
		{"and does not grow", bucket(-20, 20, 0), 1, -20},
		{"above the capacity it stays", bucket(50, 0, 0), 1, 50},
		{"before the reading it is as read", bucket(10, 0, 0), -5, 10},
		{"unknown grants leave it", bucket(10, math.NaN(), 0), 2, 10},
		{"an unknown level stays unknown", bucket(math.NaN(), 0, 0), 2, math.NaN()},
		{"without a limit it stays", Bucket{State: bucketctl.State{Level: 7}}, 2, 7},
	}
	for _, test := range tests {
		if got := test.b.LevelAt(at(test.at)); !same(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestWhatIsLeftIsRoundedUpWhereItIsNear(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", time.Millisecond: "1s", time.Minute: "1m", 10*time.Minute - time.Second: "10m", 9 * time.Minute: "9m",
		59*time.Minute + 1: "1h", 65 * time.Minute: "1h", 47*time.Hour + 40*time.Minute: "2d", 10 * day: "10d",
	} {
		if got := left(at(0).Add(d), at(0)); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestLimitText(t *testing.T) {
	window := bucketctl.Limit{Capacity: 5, Rate: 0.5, Per: 10 * time.Second}
	for _, test := range []struct {
		limit  bucketctl.Limit
		window bool
		want   string
	}{
		{bucketctl.PerMinute(300), false, "300/min burst 15"},
		{window, true, "5/10s window"},
		{bucketctl.Limit{Capacity: 20, Rate: 20. / 60, Per: time.Minute}, true, "20/min window"},
		{bucketctl.Limit{Capacity: 5, Rate: 1. / 3, Per: 10 * time.Second}, true, "5/15s window"},
		{bucketctl.Limit{}, true, "unknown"}, {bucketctl.Limit{Capacity: 3}, true, "0/s burst 3"},
	} {
		if got := LimitText(test.limit, test.window); got != test.want {
			t.Errorf("%+v: %q, want %q", test.limit, got, test.want)
		}
	}
}
