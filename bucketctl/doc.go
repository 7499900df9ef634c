// Package bucketctl is a rate limiter for many processes that share one quota:
// each bucket is one key in Redis, and one atomic script, by the server's
// clock, decides who may start when.
//
// Open a Client once per process, ask it for a Limiter per bucket, and call
// Wait before each request to the provider:
//
//	client, err := bucketctl.Open(ctx, bucketctl.Config{URL: os.Getenv("REDIS_URL"), App: "geocoder", Workers: 4})
//	limiter, err := client.Bucket("geocode:{acme}:eu", bucketctl.PerMinute(300))
//	err = limiter.Wait(ctx)
//
// # What it promises
//
// Counted at the server time when a caller may start (Decision.At), any span
// of time sees at most
//
//	capacity + rate x span
//
// tokens, net of refunds, plus rate x horizon for each limit that an operator
// replaced within the span, plus one share for each worker that is cut off
// from Redis. Refunds of up to a horizon before the span count as well: who was
// charged before them keeps his start. A call whose answer was lost counts as spent: it is never
// repeated by the client.
//
// # When Redis is down
//
// A Limiter goes on by its fallback policy, with rate / live workers by
// default, from a local limiter that starts empty. Every such Decision says so
// (Mode, Reason, Since, Source), each transition is one Warn line in the log and
// one call of Config.OnTransition, and the console shows it. The first failed
// call decides alone, and so do all after it until a probe beside them has found
// the way back; what was granted alone in the last capacity/rate seconds is then
// debited from the shared bucket once, before its first grant, so that no burst
// follows.
//
// A worker that was never told how many there are takes 16 for granted. It
// believes in more at once, and in fewer only after it has seen nothing but
// fewer for 15 s, or three of the intervals at which so many workers beat.
//
// # Changing things
//
// Admin is the one door for operators: it overrides limits, holds and resets
// buckets, and undoes. Workers heed a change at their next call, and waiting
// ones at once.
//
// # Limits
//
// A worker's Redis user may write every key it draws from, and so could set
// overrides: a worker that turns hostile can ignore a limiter anyway. If Redis
// loses a bucket's state (eviction, a failover to a replica that is behind, a
// restart without persistence) the bucket begins again full: at most one extra
// capacity. In a cluster, one server's outage sends the buckets that it holds
// into fallback, and only those.
package bucketctl
