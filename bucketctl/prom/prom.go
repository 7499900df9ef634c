// Package prom lets Prometheus collect what a bucketctl Client counts. It is a
// package of its own so that workers that don't use it don't link it.
//
//	prometheus.MustRegister(prom.NewCollector(client))
//
// The metrics, each with the label bucket but for the last two:
//
//	bucketctl_grants_total                  requests granted, in whatever mode
//	bucketctl_granted_tokens_total          tokens granted, in whatever mode
//	bucketctl_granted_alone_tokens_total    of these, tokens granted without Redis
//	bucketctl_refusals_total                requests refused or given up
//	bucketctl_calls_total                   calls to Redis
//	bucketctl_call_failures_total           of these, calls without an answer, or refused
//	bucketctl_call_seconds                  histogram: duration of the calls
//	bucketctl_wait_seconds                  histogram: from each granted request's call to its start
//	bucketctl_waiting                       callers that wait now
//	bucketctl_fallback{mode}                1 while the worker decides alone, by the policy mode; else 0
//	bucketctl_share_tokens_per_second       what it may then use
//	bucketctl_level_tokens                  tokens in the bucket, as seen last; absent while unknown
//	bucketctl_capacity_tokens               capacity in force, as seen last
//	bucketctl_rate_tokens_per_second        rate in force, as seen last
//	bucketctl_workers                       live workers of the bucket, as far as known
//	bucketctl_namespace_workers             live workers of all buckets, as far as known
//	bucketctl_transitions_total             transitions to fallback and back
package prom

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"bucketop/bucketctl"
)

// Collector is a prometheus.Collector of one Client.
type Collector struct {
	client *bucketctl.Client

	perBucket    []metric
	fallback     *prometheus.Desc
	waits, calls *prometheus.Desc
	workers      *prometheus.Desc
	transitions  *prometheus.Desc
}

// metric is one number of a bucket. It is absent where of returns NaN.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*bucketctl.BucketStats) float64
}

// NewCollector returns a Collector of the client, to be registered. A program
// with several Clients tells them apart by prometheus.WrapRegistererWith.
func NewCollector(client *bucketctl.Client) *Collector {
	return &Collector{
		client:      client,
		perBucket:   numbers(),
		fallback:    describe("fallback", "1 while the worker decides alone, by the policy mode; else 0.", "bucket", "mode"),
		waits:       describe("wait_seconds", "From each granted request's call to its start.", "bucket"),
		calls:       describe("call_seconds", "Duration of calls to Redis.", "bucket"),
		workers:     describe("namespace_workers", "Live workers of all buckets, as far as known."),
		transitions: describe("transitions_total", "Transitions to fallback and back."),
	}
}

// numbers are the metrics of a bucket that are one number each.
func numbers() []metric {
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	one := func(name, help string, kind prometheus.ValueType, of func(*bucketctl.BucketStats) float64) metric {
		return metric{describe(name, help, "bucket"), kind, of}
	}
	return []metric{
		one("grants_total", "Requests granted, in whatever mode.", counter,
			func(b *bucketctl.BucketStats) float64 { return float64(b.Waits.Count) }),
		one("granted_tokens_total", "Tokens granted, in whatever mode.", counter,
			func(b *bucketctl.BucketStats) float64 { return b.Granted }),
		one("granted_alone_tokens_total", "Tokens granted without Redis.", counter,
			func(b *bucketctl.BucketStats) float64 { return b.Local }),
		one("refusals_total", "Requests refused or given up.", counter,
			func(b *bucketctl.BucketStats) float64 { return float64(b.Refused) }),
		one("calls_total", "Calls to Redis.", counter,
			func(b *bucketctl.BucketStats) float64 { return float64(b.Calls) }),
		one("call_failures_total", "Calls to Redis without an answer, or refused.", counter,
			func(b *bucketctl.BucketStats) float64 { return float64(b.Failures) }),
		one("waiting", "Callers that wait now.", gauge,
			func(b *bucketctl.BucketStats) float64 { return float64(b.Waiting) }),
		one("share_tokens_per_second", "What the worker may use alone.", gauge,
			func(b *bucketctl.BucketStats) float64 { return b.Share }),
		one("level_tokens", "Tokens in the bucket, as seen last.", gauge,
			func(b *bucketctl.BucketStats) float64 { return b.Level }),
		one("capacity_tokens", "Capacity in force, as seen last.", gauge,
			func(b *bucketctl.BucketStats) float64 { return inForce(b).Capacity }),
		one("rate_tokens_per_second", "Rate in force, as seen last.", gauge,
			func(b *bucketctl.BucketStats) float64 { return inForce(b).Rate }),
		one("workers", "Live workers of the bucket, as far as known.", gauge,
			func(b *bucketctl.BucketStats) float64 { return float64(b.Workers) }),
	}
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("bucketctl_"+name, help, labels, nil)
}

// inForce is the limit in force, or the declared one where none was seen yet.
func inForce(b *bucketctl.BucketStats) bucketctl.Limit {
	if b.Limit.IsZero() {
		return b.Declared
	}
	return b.Limit
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, m := range c.perBucket {
		out <- m.desc
	}
	for _, desc := range []*prometheus.Desc{c.fallback, c.waits, c.calls, c.workers, c.transitions} {
		out <- desc
	}
}

// Collect implements prometheus.Collector. It asks nobody: the numbers are those
// that the Client has.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	stats := c.client.Stats()
	for i := range stats.Buckets {
		c.bucket(&stats.Buckets[i], out)
	}
	out <- prometheus.MustNewConstMetric(c.workers, prometheus.GaugeValue, float64(stats.Workers))
	out <- prometheus.MustNewConstMetric(c.transitions, prometheus.CounterValue, float64(stats.Transitions))
}

func (c *Collector) bucket(b *bucketctl.BucketStats, out chan<- prometheus.Metric) {
	name := label(b.Key)
	for _, m := range c.perBucket {
		if v := m.of(b); !math.IsNaN(v) {
			out <- prometheus.MustNewConstMetric(m.desc, m.kind, v, name)
		}
	}
	alone := 0.0
	if b.Mode.Local() {
		alone = 1
	}
	out <- prometheus.MustNewConstMetric(c.fallback, prometheus.GaugeValue, alone, name, string(b.Fallback))
	out <- prometheus.MustNewConstHistogram(c.waits, b.Waits.Count, b.Waits.Sum, b.Waits.Buckets, name)
	out <- prometheus.MustNewConstHistogram(c.calls, b.CallTimes.Count, b.CallTimes.Sum, b.CallTimes.Buckets, name)
}

// label is a bucket's name as a label, which must be UTF-8: a name that is not
// is quoted as in Go.
func label(key string) string {
	if utf8.ValidString(key) {
		return key
	}
	return strconv.QuoteToASCII(key)
}
