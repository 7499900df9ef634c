package demo

import (
	"time"

	"bucketop/bucketctl"
)

// Buckets that the story speaks of.
const (
	geocodeEU  = "geocode:{acme}:eu"
	geocodeUS  = "geocode:{acme}:us"
	llmTokens  = "llm:{gpt}:tpm" // #nosec G101 -- tokens of a language model
	charges    = "stripe:charge"
	mails      = "mail:smtp"
	contacts   = "crm:sync:contacts-eu"
	feeds      = "rss:{cloudflare}"
	foreignKey = "geo:py" // of another program
)

// role is what some workers do alike. Their names are its own and a number.
type role struct {
	name    string
	workers int
	jobs    []job
}

// job is how one worker draws from one bucket.
type job struct {
	bucket  string
	limit   bucketctl.Limit
	callers int           // at work in parallel: each waits, then works
	least   float64       // tokens of the smallest request
	most    float64       // tokens of the largest
	work    time.Duration // what follows a grant, on average
	window  bool          // a sliding window: the limit's capacity in any span of capacity / rate
	tries   bool          // asks with AllowN and comes again later, instead of waiting
}

// cast is everybody. Callers want more than the limit on all buckets but mail's,
// so that the rate of grants follows an edit; the largest request of a bucket
// fits its capacity.
func cast() []role {
	return []role{
		{"geo", 4, []job{
			{bucket: geocodeEU, limit: bucketctl.PerMinute(300), callers: 6, least: 1, most: 1, work: 250 * time.Millisecond},
			{bucket: geocodeUS, limit: bucketctl.PerMinute(300), callers: 9, least: 1, most: 1, work: 250 * time.Millisecond},
		}},
		{"llm", 3, []job{
			{bucket: llmTokens, limit: bucketctl.PerMinute(1_800_000), callers: 14, least: 800, most: 1600, work: 700 * time.Millisecond},
		}},
		{"pay", 3, []job{
			{bucket: charges, limit: bucketctl.PerSecond(25).Burst(25), callers: 14, least: 1, most: 1, work: 300 * time.Millisecond},
			{bucket: "push:{apns}", limit: bucketctl.PerSecond(20), callers: 8, least: 1, most: 4, work: 400 * time.Millisecond},
		}},
		{"mail", 2, []job{
			{bucket: mails, limit: bucketctl.PerMinute(60).Burst(20), callers: 1, least: 1, most: 1, work: 9 * time.Second},
			{bucket: "slack:post", limit: bucketctl.PerSecond(1).Burst(1), callers: 2, least: 1, most: 1, work: time.Second},
		}},
		{"sync", 2, []job{
			{bucket: contacts, limit: bucketctl.PerSecond(3), callers: 2, least: 1, most: 1, work: 400 * time.Millisecond, tries: true},
			{bucket: "search:bulk", limit: bucketctl.PerSecond(400), callers: 4, least: 20, most: 100, work: 500 * time.Millisecond},
			{bucket: feeds, limit: bucketctl.Limit{Capacity: 10, Rate: 1, Per: 10 * time.Second}, callers: 2, least: 1, most: 4, work: 4 * time.Second, window: true},
			{bucket: "weather:daily", limit: bucketctl.Per(10, 10*time.Second).Burst(5), callers: 2, least: 1, most: 1, work: time.Second},
		}},
	}
}
