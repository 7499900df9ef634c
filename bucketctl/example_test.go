package bucketctl_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"bucketop/bucketctl"
)

// A worker that shares a quota of 300 requests a minute with its siblings.
func Example() {
	ctx := context.Background()
	client, err := bucketctl.Open(ctx, bucketctl.Config{URL: os.Getenv("REDIS_URL"), App: "geocoder", Workers: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	limiter, err := client.Bucket("geocode:{acme}:eu", bucketctl.PerMinute(300))
	if err != nil {
		log.Fatal(err)
	}
	for job := range jobs() {
		if err := limiter.Wait(ctx); err != nil {
			log.Fatal(err)
		}
		job()
	}
}

func jobs() <-chan func() { return nil }

// Requests and tokens per minute of a language model: both or neither.
func ExampleClient_All() {
	ctx := context.Background()
	client, err := bucketctl.Open(ctx, bucketctl.Config{URL: os.Getenv("REDIS_URL"), App: "chat"})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	requests, err := client.Bucket("llm:{gpt}:requests", bucketctl.PerMinute(500))
	if err != nil {
		log.Fatal(err)
	}
	tokens, err := client.Bucket("llm:{gpt}:tokens", bucketctl.PerMinute(90_000))
	if err != nil {
		log.Fatal(err)
	}
	both, err := client.All(requests.Need(1), tokens.Need(1200))
	if err != nil {
		log.Fatal(err)
	}
	grant, err := both.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	used := 950.0 // what the answer says
	if err := grant.Settle(ctx, tokens.Need(used)); err != nil {
		log.Print(err)
	}
}

// AllowN never waits. Its Decision tells who decided, and how long a request
// that is refused would have to wait.
func ExampleLimiter_AllowN() {
	handle := func(ctx context.Context, tokens *bucketctl.Limiter) string {
		d, err := tokens.AllowN(ctx, 1200)
		switch {
		case err != nil:
			return err.Error()
		case d.OK && d.Mode.Local():
			return "granted alone, from this worker's share: " + d.Reason
		case d.OK:
			return fmt.Sprintf("granted, %.0f left", d.Level)
		}
		return fmt.Sprintf("try again in %v", d.Wait)
	}
	_ = handle
}

// WaitN gives up at once where the wait can't fit the deadline.
func ExampleLimiter_WaitN() {
	summarise := func(ctx context.Context, tokens *bucketctl.Limiter) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		return tokens.WaitN(ctx, 1200) // errors.Is(err, bucketctl.ErrDeadline): nothing was charged
	}
	_ = summarise
}

func ExampleParseLimit() {
	for _, text := range []string{"300/min burst 15", "7.5/s", "10/10s burst 5", "25000/day", "0/s"} {
		limit, err := bucketctl.ParseLimit(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%v: %.3g tokens per second, at most %g at once\n", limit, limit.Rate, limit.Capacity)
	}
	// Output:
	// 300/min burst 15: 5 tokens per second, at most 15 at once
	// 7.5/s burst 22.5: 7.5 tokens per second, at most 22.5 at once
	// 10/10s burst 5: 1 tokens per second, at most 5 at once
	// 25000/day burst 1: 0.289 tokens per second, at most 1 at once
	// bucketctl: unusable limit: the rate is 0: to stop a bucket, hold it
}

func ExamplePerMinute() {
	fmt.Println(bucketctl.PerMinute(300))
	fmt.Println(bucketctl.PerMinute(300).Burst(4))
	fmt.Println(bucketctl.PerMinute(1))
	// Output:
	// 300/min burst 15
	// 300/min burst 4
	// 1/min burst 1
}

// Every request takes a token, and a 429 pauses all workers of the bucket.
func ExampleTransport() {
	clientFor := func(limiter *bucketctl.Limiter) *http.Client {
		return &http.Client{Transport: &bucketctl.Transport{Limiter: limiter}}
	}
	_ = clientFor
}

// An operator's program that halves a bucket for an hour.
func ExampleAdmin_SetLimit() {
	halve := func(ctx context.Context, admin *bucketctl.Admin, key string) error {
		state, err := admin.Get(ctx, key)
		if err != nil {
			return err
		}
		change, err := bucketctl.ParseLimitChange(state, "x0.5", "", "1h")
		if err != nil {
			return err
		}
		change.Reason = "the provider is slow"
		// Decided on state.Rev: a ConflictError, should somebody be faster.
		_, err = admin.SetLimit(ctx, key, state.Rev, change)
		return err
	}
	_ = halve
}
