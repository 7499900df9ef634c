package peer_test

import (
	"testing"
	"time"

	"bucketop/internal/bench/peer"
	"bucketop/internal/bench/server"
)

// Each peer grants what the bucket holds, and what its client sent is told
// apart from what its scripts ran: a limit that is never short costs a call for
// each grant, and the peer that compares and swaps three.
func TestEveryPeerGrantsAndIsCounted(t *testing.T) {
	s, err := server.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.End(); err != nil {
			t.Error(err)
		}
	})
	perGrant := map[string]float64{"throttled": 3, "x/time/rate (local)": 0}
	for _, p := range peer.All() {
		t.Run(p.Name, func(t *testing.T) {
			session, err := p.Open(t.Context(), s.Addr)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = session.Close() }()
			limiter, err := session.Limiter("of "+p.Name, peer.Limit{Rate: 1e6, Capacity: 1e9})
			if err != nil {
				t.Fatal(err)
			}
			if err := limiter.Wait(t.Context()); err != nil { // connects, and teaches the script
				t.Fatal(err)
			}
			const grants = 50
			before, err := s.Commands(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for range grants {
				if err := limiter.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			after, err := s.Commands(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want, ok := perGrant[p.Name]
			if !ok {
				want = 1
			}
			got := p.Sent(after.Since(before)).Total().Calls
			// bucketctl reports now and then beside its takes.
			if got < want*grants || got > want*grants+10 {
				t.Errorf("%v calls for %v grants: %v", got, grants, after.Since(before))
			}
		})
	}
}

// A stamp is the server's time of the start, also of one that had to be waited
// for.
func TestStampsAreTimesOfStarts(t *testing.T) {
	s, err := server.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.End() }()
	for _, p := range peer.All() {
		if !p.Stamps {
			continue
		}
		session, err := p.Open(t.Context(), s.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = session.Close() }()
		limiter, err := session.Limiter("k:"+p.Name, peer.Limit{Rate: 20, Capacity: 1})
		if err != nil {
			t.Fatal(err)
		}
		stamper, ok := limiter.(peer.Stamper)
		if !ok {
			t.Fatalf("%s tells no stamps", p.Name)
		}
		var starts [2]time.Time
		for i := range starts {
			if starts[i], err = stamper.WaitStamped(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if gap := starts[1].Sub(starts[0]); gap < 50*time.Millisecond-10*time.Microsecond {
			t.Errorf("%s: two starts of a bucket of 1 at 20/s are %v apart", p.Name, gap)
		}
	}
}
