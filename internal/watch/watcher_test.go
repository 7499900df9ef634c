package watch

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"bucketop/bucketctl"
)

// inBubble runs a watcher of a fake Redis under a clock of its own until do is
// done, and proves that Run ends.
func inBubble(t *testing.T, config Config, do func(t *testing.T, w *Watcher, r *fakeRedis)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		redis := newFakeRedis(time.Now)
		w := newWatcher(config, redis)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Run(ctx)
		}()
		do(t, w, redis)
		cancel()
		<-done
		if redis.overlap {
			t.Error("two readings were under way at once")
		}
	})
}

func TestSnapshotIsThereBeforeTheFirstReading(t *testing.T) {
	w := newWatcher(Config{Addr: "cache-1:6379"}, newFakeRedis(time.Now))
	s := w.Snapshot()
	if s.Link.State != Connecting || s.Link.Addr != "cache-1:6379" || !s.At.IsZero() {
		t.Errorf("got %+v", s.Link)
	}
	if s.Now(time.Now()) != s.At {
		t.Error("a snapshot without a reading tells a server time")
	}
}

func TestRunRefreshesEachSecondAndNoMore(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, w *Watcher, r *fakeRedis) {
		time.Sleep(10*time.Second + 500*time.Millisecond)
		synctest.Wait()
		if got := r.calls["Events"]; got != 11 {
			t.Errorf("%d refreshes in 10.5 s, want 11", got)
		}
		if got := r.calls["Server"]; got < 2 || got > 3 {
			t.Errorf("the server was asked about itself %d times in 10 s", got)
		}
		if r.calls["Scan"] != 0 {
			t.Error("scanned without being asked to")
		}
		select {
		case <-w.Updates():
		default:
			t.Error("no token for the newest snapshot")
		}
	})
}

func TestRedisIsLostAndComesBackByItself(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, w *Watcher, r *fakeRedis) {
		r.do(func() {
			r.registry = []string{"a"}
			r.states["a"] = full(0)
		})
		w.Show([]string{"a"})
		time.Sleep(1500 * time.Millisecond)
		before := w.Snapshot()
		if before.Link.State != Live || len(before.Buckets) != 1 {
			t.Fatalf("before: %+v, %d buckets", before.Link, len(before.Buckets))
		}
		r.do(func() { r.down = errDown })
		time.Sleep(30 * time.Second)
		lost := w.Snapshot()
		if lost.Link.State != Lost || lost.Link.Err != "connection refused" {
			t.Errorf("lost: %+v", lost.Link)
		}
		if !lost.At.Equal(before.At) && lost.At.After(before.At.Add(time.Second)) || len(lost.Buckets) != 1 {
			t.Errorf("the last data does not stay: of %v, %d buckets", lost.At, len(lost.Buckets))
		}
		if got := lost.Now(time.Now()); got != lost.At {
			t.Error("levels go on moving while Redis is lost")
		}
		if !lost.Link.Since.Before(before.Taken.Add(2 * time.Second)) {
			t.Errorf("lost since %v, after %v of it", lost.Link.Since, time.Since(lost.Link.Since))
		}
		// 0.25 + 0.5 + 1 s, then each 2 s.
		if lost.Link.Tries < 16 || lost.Link.Tries > 19 {
			t.Errorf("%d attempts in 30 s", lost.Link.Tries)
		}
		r.do(func() { r.down = nil })
		time.Sleep(lastRetry + time.Second)
		back := w.Snapshot()
		if back.Link.State != Live || back.Link.Err != "" || back.Link.Tries != 0 {
			t.Errorf("back: %+v", back.Link)
		}
	})
}

func TestRedisMayBeDownAtTheStart(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, w *Watcher, r *fakeRedis) {
		r.do(func() { r.down = errDown })
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if s := w.Snapshot(); s.Link.State != Lost || s.Link.Tries != 1 {
			t.Errorf("got %+v", s.Link)
		}
		r.do(func() { r.down = nil })
		w.Refresh() // does not wait for the next attempt
		time.Sleep(leastPause)
		synctest.Wait()
		if s := w.Snapshot(); s.Link.State != Live {
			t.Errorf("after Refresh: %+v", s.Link)
		}
	})
}

func TestARedisThatNeverAnswersIsLostAfterTwoSeconds(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, w *Watcher, r *fakeRedis) {
		r.do(func() { r.hang = true })
		time.Sleep(refreshTimeout + time.Millisecond)
		synctest.Wait()
		if s := w.Snapshot(); s.Link.State != Lost || s.Link.Err != "no answer (timeout)" {
			t.Errorf("got %+v", s.Link)
		}
	})
}

func TestPauseStopsReadingAndRefreshReadsOnce(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, w *Watcher, r *fakeRedis) {
		refreshes := func() int {
			synctest.Wait()
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.calls["Events"]
		}
		time.Sleep(1500 * time.Millisecond)
		w.Pause(true)
		before := refreshes()
		time.Sleep(time.Minute)
		if got := refreshes(); got != before {
			t.Fatalf("%d refreshes while paused", got-before)
		}
		w.Refresh()
		time.Sleep(10 * time.Second)
		if got := refreshes(); got != before+1 {
			t.Errorf("%d refreshes after Refresh while paused, want 1", got-before)
		}
		w.Pause(false)
		time.Sleep(3500 * time.Millisecond)
		if got := refreshes(); got != before+5 {
			t.Errorf("%d refreshes in 3.5 s after the pause, want 4", got-before-1)
		}
	})
}

func TestRowsThatComeOnScreenAreReadSoon(t *testing.T) {
	inBubble(t, Config{Refresh: time.Minute}, func(t *testing.T, w *Watcher, r *fakeRedis) {
		time.Sleep(5 * time.Second)
		w.Show([]string{"a", "b"})
		time.Sleep(leastPause)
		synctest.Wait()
		if !slices.Equal(r.read, []string{"a", "b"}) {
			t.Errorf("read %q", r.read)
		}
		before := r.calls["GetMany"]
		for range 1000 { // an operator who leans on a key
			w.Show([]string{"b"})
			w.Show([]string{"a"})
			w.Refresh()
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if got := r.calls["GetMany"] - before; got > 6 {
			t.Errorf("%d readings within a second", got)
		}
	})
}

func TestScrollingDoesNotHurryALostRedis(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, w *Watcher, r *fakeRedis) {
		r.do(func() { r.down = errDown })
		time.Sleep(10 * time.Second)
		tries := w.Snapshot().Link.Tries
		for i := range 20 {
			w.Show([]string{fmt.Sprint(i)})
			time.Sleep(50 * time.Millisecond)
		}
		if got := w.Snapshot().Link.Tries - tries; got > 1 {
			t.Errorf("%d attempts within a second", got)
		}
	})
}

func TestOnlyWhatIsOnScreenIsReadEachTime(t *testing.T) {
	d := newDesk(t, Config{})
	for i := range 5000 {
		d.state(fmt.Sprintf("b%04d", i), full(0))
	}
	var shown []string
	for i := range 300 {
		shown = append(shown, fmt.Sprintf("b%04d", 4000+i))
	}
	d.w.Show(shown)
	for second := range 10 {
		d.look(float64(second))
	}
	if !slices.Equal(d.redis.read[:maxShown], shown[:maxShown]) {
		t.Error("the rows on screen are not read first")
	}
	if got := len(d.redis.read); got > maxShown+perRound {
		t.Errorf("%d buckets read in one refresh", got)
	}
}

func TestTheSlowRoundReachesEveryBucketInItsTime(t *testing.T) {
	d := newDesk(t, Config{})
	for i := range 1000 {
		d.state(fmt.Sprintf("b%04d", i), full(0))
	}
	s := d.look(0)
	d.redis.do(func() {
		bad := full(0)
		bad.Problems = problem(bucketctl.ProblemCorrupt, "tokens is \"nan\"")
		d.redis.states["b0777"] = bad
	})
	if s.Round != 10*time.Second {
		t.Fatalf("the round over 1000 buckets is said to take %v", s.Round)
	}
	for second := 1; second <= int(s.Round/time.Second)+1; second++ {
		s = d.look(float64(second))
	}
	if s.Buckets[0].Key != "b0777" || s.Buckets[0].Status.Code != Corrupt {
		t.Errorf("first is %s %s", s.Buckets[0].Key, s.Buckets[0].Status.Code.Word())
	}
	if s.Counts[Corrupt] != 1 || s.Known != 1000 || len(s.Buckets) != 1000 {
		t.Errorf("counts %v, known %d, rows %d", s.Counts, s.Known, len(s.Buckets))
	}
}

func TestAQuickRefreshIsForTheScreenOnly(t *testing.T) {
	d := newDesk(t, Config{Refresh: MinRefresh})
	for i := range 1000 {
		d.state(fmt.Sprintf("b%04d", i), full(0))
	}
	read := 0
	for i := range 40 { // 10 s
		d.redis.read = nil
		d.look(float64(i) / 4)
		read += len(d.redis.read)
	}
	if read < 900 || read > 1100 {
		t.Errorf("%d buckets out of sight read in 10 s, want about 1000", read)
	}
}
