package lua_test

import (
	"fmt"
	"testing"
)

// An end that can't be read must not turn into "no end": that would be an
// override or a hold for ever.
func TestEndsThatCannotBeReadAreRefused(t *testing.T) {
	r := newRig(t)
	past := fmt.Sprint(r.now() - second)
	for _, end := range []string{"abc", "nan", "inf", "0x10", "+", "+abc", "+nan", "+inf", "+9e15", "9e15", "+-1", "0", "-5", "+0", past} {
		t.Run(end, func(t *testing.T) {
			r := r.under(t)
			r.take(limits{capacity: 10, rate: 1}, now1)
			r.refused("ERR", limitScript, anyRev, listed, "5", "", "", end, "anna", "why")
			r.refused("ERR", holdScript, anyRev, listed, end, "anna", "why")
		})
	}
}

// An end that is taken has to be one that the next script can read.
func TestTheFurthestEndIsInForce(t *testing.T) {
	r := newRig(t)
	l := limits{capacity: 10, rate: 1}
	for _, end := range []string{"+3153600000000000", fmt.Sprint(int64(8e15))} {
		t.Run(end, func(t *testing.T) {
			r := r.under(t)
			r.take(l, now1)
			r.limit(anyRev, listed, edit{capacity: "5", end: end})
			if got := r.take(l, now1); got.capacity != 5 || got.overEnd < got.now {
				t.Errorf("capacity %v until %v, want the override of 5", got.capacity, got.overEnd)
			}
			r.hold(anyRev, listed, end)
			if got := r.take(l, now1); got.stop != heldUp || got.stopEnd < got.now {
				t.Errorf("stop %v until %v, want it held", got.stop, got.stopEnd)
			}
		})
	}
}

func TestUnitThatIsNoNumberIsRefused(t *testing.T) {
	r := newRig(t)
	r.take(limits{capacity: 10, rate: 1}, now1)
	for _, per := range []string{"abc", "nan", "-5", "0x10"} {
		r.refused("ERR", limitScript, anyRev, listed, "", "5", per, "forever", "anna", "why")
	}
}
