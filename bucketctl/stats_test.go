package bucketctl

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestStatsCount(t *testing.T) {
	var s stats
	now := time.Now()
	tell := func(code int64, local bool, n float64, waited, wait time.Duration) {
		a := answer{verdict: verdict{circumstances: &circumstances{local: local}, code: code, wait: wait}}
		s.count([]served{{&request{n: n, joined: now.Add(-waited)}, a}}, 0, now)
	}
	tell(codeCharged, false, 3, 4*time.Millisecond, 6*time.Millisecond)
	tell(codeCharged, true, 1.5, 0, 20*time.Millisecond)
	tell(codeRefused, false, 40, 0, 0)
	s.called(2 * time.Millisecond)
	var b WorkerBucket
	s.report(&b)
	if b.Granted != 4.5 || b.Local != 1.5 || b.Refused != 1 || b.Calls != 1 || b.LargestN != 40 {
		t.Errorf("reported %+v", b)
	}
	if b.WaitP50 < 10*time.Millisecond || b.WaitP99 < 20*time.Millisecond || b.WaitP99 > 24*time.Millisecond || b.CallP99 < 2*time.Millisecond {
		t.Errorf("quantiles %v, %v, %v", b.WaitP50, b.WaitP99, b.CallP99)
	}
	s.refuse()
	b = WorkerBucket{}
	s.report(&b)
	if b.Granted != 4.5 || b.Refused != 2 || b.LargestN != 40 {
		t.Errorf("counters went back: %+v", b)
	}
	if b.WaitP99 != 0 || b.CallP99 != 0 {
		t.Errorf("the next interval begins with %+v", b)
	}
}

func TestQuantilesAreAtMostAnEighthTooHigh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(int64(10*time.Microsecond)+1, int64(10*time.Hour)).Draw(t, "d"))
		others := rapid.IntRange(0, 50).Draw(t, "others")
		var h histogram
		for range others {
			h.add(0)
		}
		h.add(d)
		if got := h.quantile(1); got < d || float64(got) > 1.125*float64(d) {
			t.Fatalf("the longest of %d is %v, said to be %v", others+1, d, got)
		}
		if got := h.quantile(0.5); others > 2 && got != 0 {
			t.Fatalf("the median of %d zeros and one is %v", others, got)
		}
	})
}

func TestQuantilesOfNothingAndOfTooMuch(t *testing.T) {
	var h histogram
	if got := h.quantile(0.99); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	h.add(-time.Second)
	h.add(1 << 62)
	if low, high := h.quantile(0.5), h.quantile(1); low != 0 || high < time.Hour {
		t.Errorf("of less than nothing and of centuries: %v, %v", low, high)
	}
}
