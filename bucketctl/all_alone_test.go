package bucketctl

import (
	"errors"
	"math"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// Without Redis all shares let a caller through, or none of them is used.
func TestAloneAllSharesOrNone(t *testing.T) {
	s := redistest.Start(t)
	c := openClient(t, s, func(c *Config) { c.Workers = 1 })
	fast, slow := mustBucket(t, c, "{f}:fast", PerSecond(40).Burst(10)), mustBucket(t, c, "{f}:slow", PerSecond(0.01).Burst(10))
	both := mustAll(t, c, fast.Need(1), slow.Need(1))
	if err := both.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Freeze()
	awaitTrue(t, func() bool { d, err := both.Allow(t.Context()); return err == nil && d.Mode == ModeShare })
	for range 20 { // many refusals later
		d, err := both.Allow(t.Context())
		if err != nil || d.OK || d.Key != slow.Key() || d.Mode != ModeShare || d.Source != SourceWorker {
			t.Fatalf("a share that is empty: %+v, %v", d, err)
		}
	}
	began := time.Now() // the other share still has all that accrues
	for range 10 {
		if err := fast.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("10 tokens of 40 a second took %v beside a set that got nothing", took)
	}
	s.Thaw()
	awaitTrue(t, func() bool { d, err := both.Allow(t.Context()); return err == nil && d.Mode == ModeShared })
}

// One bucket that lets nobody through alone closes the set; one that lets
// everybody through leaves it to the others.
func TestAloneTheStrictestPolicyCounts(t *testing.T) {
	s := redistest.Start(t)
	c := openClient(t, s, func(c *Config) { c.Workers = 1 })
	bucket := func(key string, p Policy) *Limiter {
		l, err := c.Bucket(key, PerSecond(1000).Burst(10), WithFallback(p))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	open, closed, open2 := bucket("{p}:open", FallbackOpen), bucket("{p}:closed", FallbackClosed), bucket("{p}:open2", FallbackOpen)
	strict, lax := mustAll(t, c, open.Need(1), closed.Need(1)), mustAll(t, c, open.Need(1), open2.Need(1))
	s.Freeze()
	awaitTrue(t, func() bool { d, err := lax.Allow(t.Context()); return err == nil && d.Mode == ModeOpen })
	if err := strict.Wait(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("with a closed one: %v", err)
	}
	for range 50 {
		if err := lax.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.Thaw()
	awaitTrue(t, func() bool { return strict.Wait(t.Context()) == nil })
	awaitTrue(t, func() bool { // what was granted alone is debited from both
		a, errA := open.Peek(t.Context())
		b, errB := open2.Peek(t.Context())
		return errA == nil && errB == nil && a.Granted >= 1 && b.Granted >= 0
	})
}

// What is put aside for a later start must not gain by being put aside early.
func TestAShareIsKeptAsIfTakenAtTheStart(t *testing.T) {
	now := time.Now()
	part := Limit{Capacity: 10, Rate: 10, Per: time.Second}
	for name, tt := range map[string]struct {
		n    float64
		wait time.Duration
		left float64
	}{
		"at once":          {4, 0, 6},
		"half a second on": {4, 500 * time.Millisecond, 1},
		"all of it":        {10, 250 * time.Millisecond, -2.5},
	} {
		var s share
		s.follow(now.Add(-time.Minute), part)
		h := s.hold(now, part, tt.n, time.Second)
		h.keepUntil(now, tt.wait)
		if got := s.limiter.TokensAt(now) / localUnits; math.Abs(got-tt.left) > 0.002 {
			t.Errorf("%s: %v left, want %v", name, got, tt.left)
		}
		atStart := s.limiter.TokensAt(now.Add(tt.wait)) / localUnits
		if math.Abs(atStart-(10-tt.n)) > 0.002 {
			t.Errorf("%s: %v at the start, want %v", name, atStart, 10-tt.n)
		}
	}
}

// One slot of a cluster, and one call to its server.
func TestAllInACluster(t *testing.T) {
	t.Parallel() // it waits for the cluster to form
	nodes := redistest.Cluster(t, 3)
	c := patientClient(t, nodes.Nodes[0], func(c *Config) { c.URL = nodes.Nodes[0].URL() + "?cluster=true" })
	for _, tag := range []string{"{a}", "{b}", "{c}", "{d}"} {
		one, two, plain := mustBucket(t, c, tag+":1", PerSecond(0.01).Burst(10)), mustBucket(t, c, tag+":2", PerSecond(0.01).Burst(10)),
			mustBucket(t, c, tag[1:2], PerSecond(0.01).Burst(10)) // whose name is the others' tag
		all := mustAll(t, c, plain.Need(3), two.Need(2), one.Need(1))
		g, err := all.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d, err := all.Allow(t.Context()); err != nil || !d.OK || d.Mode != ModeShared {
			t.Errorf("%s: %+v, %v", tag, d, err)
		}
		if err := g.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
		wantLevels(t, tag, map[*Limiter]float64{one: 9, two: 8, plain: 7})
		if one.link() != two.link() || one.link() != plain.link() || one.link().server == "" {
			t.Errorf("%s: the buckets are behind %v, %v and %v", tag, one.link().server, two.link().server, plain.link().server)
		}
	}
}

func allReply() reply {
	r := reply{int64(1_700_000_000_000_000), int64(250)}
	for b := range int64(2) {
		r = append(r, int64(0), b, int64(0), 1_700_000_000_000_000+b, int64(7), int64(3), int64(-1), "2.5", "10", "1")
	}
	return append(r, int64(codeCharged), int64(100), int64(1), int64(codeWaits), int64(500), int64(2))
}

func TestDecodeTakeAll(t *testing.T) {
	v, err := decodeTakeAll(allReply(), 2, 2, nil)
	if err != nil || len(v) != 2 {
		t.Fatalf("%d verdicts, %v", len(v), err)
	}
	if v[0].of.which != 0 || v[1].of.which != 1 || v[1].code != codeWaits || v[1].wait != 500*time.Microsecond || v[1].stop != stopHeld {
		t.Errorf("decoded %+v and %+v", v[0], v[1])
	}
	if c := v[0].of.each[1]; c.ticket != 1_700_000_000_000_001 || c.gen != 7 || c.rev != 3 || !c.override || c.level != 2.5 || c.ask != 250*time.Microsecond {
		t.Errorf("the second bucket: %+v", c)
	}
	for i := range allReply() {
		for _, wrong := range []any{nil, "text", []any{}, true} {
			r := allReply()
			r[i] = wrong
			if _, err := decodeTakeAll(r, 2, 2, nil); err == nil {
				t.Errorf("item %d as %T is taken", i+1, wrong)
			}
		}
		if _, err := decodeTakeAll(allReply()[:i], 2, 2, nil); err == nil && i != allHead+2*allBucket {
			t.Errorf("a reply of %d items is taken", i)
		}
	}
	for _, by := range []int64{0, 3, -1} {
		r := allReply()
		r[len(r)-1] = by
		if _, err := decodeTakeAll(r, 2, 2, nil); err == nil {
			t.Errorf("bucket %d of 2 is taken", by)
		}
	}
}

// FuzzDecodeTakeAll: replies are never trusted to be of a shape.
func FuzzDecodeTakeAll(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 5, 3, 5, 3, 5, 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := someReply(&data, 40)
		verdicts, err := decodeTakeAll(r, 2, 1, nil)
		if err == nil && (len(verdicts) != 1 || len(verdicts[0].of.each) != 2 || verdicts[0].circumstances == nil) {
			t.Fatalf("%v is decoded to %+v", r, verdicts)
		}
	})
}
