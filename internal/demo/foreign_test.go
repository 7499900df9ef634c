package demo

import (
	"math"
	"testing"
	"time"

	"bucketop/bucketctl"
)

// TestForeignBucket takes steps at times of its own: a bucket of 12 tokens,
// 3 a second.
func TestForeignBucket(t *testing.T) {
	s := startKind(t, miniKind(t))
	options, err := bucketctl.Options(s.url)
	if err != nil {
		t.Fatal(err)
	}
	client := bucketctl.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	f := newForeign(client)
	start := time.UnixMicro(1_800_000_000_250_000)

	at := func(now time.Duration) time.Time { return start.Add(now) }
	take := func(times int) func(now time.Time) (int, error) {
		return func(now time.Time) (int, error) {
			granted := 0
			for range times {
				ok, err := f.take(t.Context(), now)
				if err != nil {
					return granted, err
				}
				if ok {
					granted++
				}
			}
			return granted, nil
		}
	}
	stick := func(now time.Time) (int, error) { return 0, f.stick(t.Context(), now) }
	reset := func(now time.Time) (int, error) { return 0, f.write(t.Context(), 0, unixSeconds(now)) }
	for _, step := range []struct {
		name  string
		now   time.Duration
		do    func(now time.Time) (int, error)
		want  int
		level float64
		at    time.Duration
	}{
		{"a new bucket is full", 0, take(20), 12, 0, 0},
		{"a second brings 3", time.Second, take(20), 3, 0, time.Second},
		{"a refusal writes nothing", 1300 * time.Millisecond, take(1), 0, 0, time.Second},
		{"so nothing is lost by asking", 1400 * time.Millisecond, take(20), 1, 0.2, 1400 * time.Millisecond},
		{"it never holds more than 12", time.Hour, take(20), 12, 0, time.Hour},
		{"a wrong clock", time.Hour, stick, 0, 0, time.Hour + foreignLead},
		{"lets nobody through", time.Hour + foreignLead - time.Second, take(20), 0, 0, time.Hour + foreignLead},
		{"and does not move on", time.Hour + 2*time.Minute, stick, 0, 0, time.Hour + foreignLead},
		{"until somebody resets it", time.Hour + 2*time.Minute, reset, 0, 0, time.Hour + 2*time.Minute},
		{"then it goes on", time.Hour + 2*time.Minute + time.Second, take(20), 3, 0, time.Hour + 2*time.Minute + time.Second},
		{"and sticks again", time.Hour + 3*time.Minute, stick, 0, 0, time.Hour + 3*time.Minute + foreignLead},
	} {
		granted, err := step.do(at(step.now))
		if err != nil || granted != step.want {
			t.Fatalf("%s: %d granted (%v), want %d", step.name, granted, err, step.want)
		}
		level, when, err := f.read(t.Context())
		if err != nil || math.Abs(level-step.level) > 1e-3 || math.Abs(when-unixSeconds(at(step.at))) > 1e-3 {
			t.Errorf("%s: level %v of %v (%v), want %v of %v", step.name, level, when, err, step.level, unixSeconds(at(step.at)))
		}
	}
}

// TestForeignKeyAges: its owner lets it go when nobody asks any more.
func TestForeignKeyAges(t *testing.T) {
	s := startKind(t, miniKind(t))
	options, err := bucketctl.Options(s.url)
	if err != nil {
		t.Fatal(err)
	}
	client := bucketctl.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	f := &foreign{redis: client, capacity: 1, rate: 10} // lives for two seconds
	if ok, err := f.take(t.Context(), time.Now()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if life, err := client.PTTL(t.Context(), foreignKey).Result(); err != nil || life <= 0 || life > 2*time.Second {
		t.Fatalf("it lives for %v (%v)", life, err)
	}
	await(t, "the key expires", func() bool {
		n, err := client.Exists(t.Context(), foreignKey).Result()
		return err == nil && n == 0
	})
}
