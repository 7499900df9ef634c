package watch

import (
	"math"
	"testing"
	"time"
)

// A worker that gets its grants by turns is no worker that starves, nor one that
// draws twice its limit: what a single report tells of is too short to say.
func TestAWorkersRateIsTakenOverSomeSeconds(t *testing.T) {
	d := newDesk(t, Config{})
	granted := 0.0
	for second := range 30 {
		if second%2 == 0 {
			granted += 10
		}
		d.now = at(float64(second))
		d.redis.say(worker("geo-1", draws("k", granted, 3)))
		row := d.row(d.look(float64(second)), "k")
		if rate := row.Workers[0].Rate; second >= 5 && math.Abs(rate-5) > 1 {
			t.Fatalf("at %d s: %v a second, want about 5", second, rate)
		}
	}
	for second := 30; second < 41; second++ {
		d.now = at(float64(second))
		d.redis.say(worker("geo-1", draws("k", granted, 0)))
		d.look(float64(second))
	}
	if rate := d.row(d.look(40), "k").Workers[0].Rate; rate != 0 {
		t.Errorf("ten seconds after the last grant: %v a second", rate)
	}
}

// What was granted through a silence counts in the report that ends it, once.
func TestAWorkersRateForgetsItsSilence(t *testing.T) {
	d := newDesk(t, Config{})
	for second := range 10 {
		d.now = at(float64(second))
		d.redis.say(worker("geo-1", draws("k", 0, 0)))
		d.look(float64(second))
	}
	d.now = at(69)
	d.redis.say(worker("geo-1", draws("k", 120, 0)))
	if rate := d.row(d.look(69), "k").Workers[0].Rate; !same(rate, 2) {
		t.Errorf("in the report that ends the silence: %v, want 2", rate)
	}
	d.now = d.now.Add(time.Second)
	d.redis.say(worker("geo-1", draws("k", 130, 0)))
	if rate := d.row(d.look(70), "k").Workers[0].Rate; !same(rate, 10) {
		t.Errorf("a second later: %v, want 10", rate)
	}
}
