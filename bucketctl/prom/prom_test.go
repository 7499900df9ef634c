package prom_test

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"bucketop/bucketctl"
	"bucketop/bucketctl/prom"
	"bucketop/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collected is a Collector of a client with one bucket, registered.
func collected(t *testing.T, s *redistest.Server) (*prometheus.Registry, *prom.Collector, *bucketctl.Limiter) {
	t.Helper()
	client, err := bucketctl.Open(t.Context(), bucketctl.Config{
		URL: s.URL(), App: "test", Workers: 4, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	limiter, err := client.Bucket("k", bucketctl.PerSecond(1e-6).Burst(10))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Bucket("bad\xff", bucketctl.PerSecond(1), bucketctl.WithFallback(bucketctl.FallbackClosed)); err != nil {
		t.Fatal(err)
	}
	collector := prom.NewCollector(client)
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(collector); err != nil {
		t.Fatal(err)
	}
	return registry, collector, limiter
}

func TestNumbersOfABucket(t *testing.T) {
	registry, collector, limiter := collected(t, redistest.Start(t))
	for range 3 {
		if err := limiter.WaitN(t.Context(), 2.5); err != nil {
			t.Fatal(err)
		}
	}
	if ok, err := limiter.AllowN(t.Context(), 5); err != nil || ok.OK {
		t.Fatalf("%+v, %v", ok, err)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %+v, %v", problems, err)
	}
	err = testutil.CollectAndCompare(collector, strings.NewReader(`
# HELP bucketctl_grants_total Requests granted, in whatever mode.
# TYPE bucketctl_grants_total counter
bucketctl_grants_total{bucket="\"bad\\xff\""} 0
bucketctl_grants_total{bucket="k"} 3
# HELP bucketctl_granted_tokens_total Tokens granted, in whatever mode.
# TYPE bucketctl_granted_tokens_total counter
bucketctl_granted_tokens_total{bucket="\"bad\\xff\""} 0
bucketctl_granted_tokens_total{bucket="k"} 7.5
# HELP bucketctl_refusals_total Requests refused or given up.
# TYPE bucketctl_refusals_total counter
bucketctl_refusals_total{bucket="\"bad\\xff\""} 0
bucketctl_refusals_total{bucket="k"} 1
# HELP bucketctl_capacity_tokens Capacity in force, as seen last.
# TYPE bucketctl_capacity_tokens gauge
bucketctl_capacity_tokens{bucket="\"bad\\xff\""} 3
bucketctl_capacity_tokens{bucket="k"} 10
# HELP bucketctl_workers Live workers of the bucket, as far as known.
# TYPE bucketctl_workers gauge
bucketctl_workers{bucket="\"bad\\xff\""} 4
bucketctl_workers{bucket="k"} 4
# HELP bucketctl_fallback 1 while the worker decides alone, by the policy mode; else 0.
# TYPE bucketctl_fallback gauge
bucketctl_fallback{bucket="\"bad\\xff\"",mode="closed"} 0
bucketctl_fallback{bucket="k",mode="share"} 0
`), "bucketctl_grants_total", "bucketctl_granted_tokens_total", "bucketctl_refusals_total", "bucketctl_capacity_tokens",
		"bucketctl_workers", "bucketctl_fallback")
	if err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(collector, "bucketctl_level_tokens"); n != 1 {
		t.Errorf("%d levels are told, one is known", n)
	}
	for _, histogram := range []string{"bucketctl_wait_seconds", "bucketctl_call_seconds"} {
		if n := testutil.CollectAndCount(collector, histogram); n != 2 {
			t.Errorf("%s: %d series", histogram, n)
		}
	}
}

func TestFallbackIsANumber(t *testing.T) {
	s := redistest.Start(t)
	_, collector, limiter := collected(t, s)
	s.Kill()
	const alone = `
# HELP bucketctl_fallback 1 while the worker decides alone, by the policy mode; else 0.
# TYPE bucketctl_fallback gauge
bucketctl_fallback{bucket="\"bad\\xff\"",mode="closed"} 1
bucketctl_fallback{bucket="k",mode="share"} 1
# HELP bucketctl_transitions_total Transitions to fallback and back.
# TYPE bucketctl_transitions_total counter
bucketctl_transitions_total 1
`
	deadline := time.Now().Add(20 * time.Second)
	for {
		if _, err := limiter.Allow(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := testutil.CollectAndCompare(collector, strings.NewReader(alone), "bucketctl_fallback", "bucketctl_transitions_total")
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}
