package lua_test

import (
	"fmt"
	"testing"
	"time"
)

// What is answered before the general case is even read must be what nearly all
// calls meet: it costs half of it.
func TestWhatIsPlain(t *testing.T) {
	r := newRig(t)
	past := r.now() - minute
	tests := []struct {
		name  string
		do    func(*rig)
		plain bool
	}{
		{"nothing happened", func(*rig) {}, true},
		{"less than one token is left", func(r *rig) { r.drawn(9.5) }, true},
		{"an override that has ended", func(r *rig) { r.note("capacity", "3", "rate", "2", "until", past, "rev", 7) }, true},
		{"a hold that has ended", func(r *rig) { r.note("hold", past, "rev", 7) }, true},
		{"an override that was taken away", func(r *rig) { r.note("rev", 7, "by", "anna") }, true},
		{"a queue that was paid long ago", func(r *rig) { r.set("turn", past, "need", 1); r.drawn(0.1); r.drawn(0.1) }, true},
		{"an override", func(r *rig) { r.note("capacity", "8") }, false},
		{"an override until later", func(r *rig) { r.note("rate", "2", "until", r.now()+minute) }, false},
		{"an override until nobody knows when", func(r *rig) { r.note("rate", "2", "until", "5\x00") }, false},
		{"a hold", func(r *rig) { r.note("hold", "forever") }, false},
		{"a hold without a word", func(r *rig) { r.note("hold", "") }, false},
		{"a cooldown", func(r *rig) { r.set("blocked", r.now()+minute) }, false},
		{"a queue", func(r *rig) { r.set("turn", r.now()+minute, "need", 1) }, false},
		{"nothing is left", func(r *rig) { r.drawn(9.9) }, false},
		{"a number that goes on behind a NUL", func(r *rig) { r.set("granted", "5\x00x") }, false},
		{"a time ahead", func(r *rig) { r.set("ts", seconds(r.now()+minute)) }, false},
	}
	for _, tt := range tests {
		for kind, take := range map[string]func(*rig, ...ask) bool{"bucket": (*rig).isPlain, "set": (*rig).isPlainSet, "window": (*rig).isPlainSpan} {
			t.Run(tt.name+"/"+kind, func(t *testing.T) {
				r := r.under(t)
				r.drawing = take
				r.drawn(1e-3)
				r.backWindow(time.Millisecond)
				tt.do(r)
				if got := take(r, ask{n: 0.3}); got != tt.plain {
					t.Errorf("it was plain: %t, want %t; %v, %v", got, tt.plain, r.fields(), r.noted())
				}
			})
		}
	}
}

// still fills so slowly that the time between calls does not show.
var still = limits{capacity: 10, rate: 1e-3}

// drawn takes n tokens in the way that is tried.
func (r *rig) drawn(n float64) { r.Helper(); r.drawing(r, ask{n: n}) }

func (r *rig) isPlain(asks ...ask) bool {
	r.Helper()
	return len(r.run(takeScript, append(append(still.args(), horizon, 0), requests(asks)...)...)) == 3
}

func (r *rig) isPlainSpan(asks ...ask) bool {
	r.Helper()
	return len(r.run(windowTakeScript, append(append(span{limit: 10, per: day}.args(), horizon, 0), requests(asks)...)...)) == 3
}

// isPlainSet takes of the bucket and of one that is always full.
func (r *rig) isPlainSet(asks ...ask) bool {
	r.Helper()
	other := r.of("other", limits{capacity: 1e9, rate: 1e9})
	members := []*member{{rig: r, limits: still}, other}
	var all []wanted
	for _, a := range asks {
		all = append(all, wanted{[]float64{a.n, a.n}, a.patience})
	}
	keys, args := takeAllArguments(members, horizon, all)
	before := r.reads()
	r.ok(takeAllScript.Run(r.ctx, r.c, keys, args...).Err())
	return r.reads()-before == int64(2*len(members)) // the general case reads more of each
}

// reads counts the HMGETs of a server.
func (r *rig) reads() (calls int64) {
	r.Helper()
	info, err := r.c.InfoMap(r.ctx, "commandstats").Result()
	r.ok(err)
	for _, section := range info {
		if _, err := fmt.Sscanf(section["cmdstat_hmget"], "calls=%d,", &calls); err == nil {
			return calls
		}
	}
	return 0
}
