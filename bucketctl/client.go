package bucketctl

import "context"

// Client is a worker's connection to its buckets. It may be used by several
// goroutines at once.
type Client struct{}

// Open returns a Client, or an ErrConfig. It does not fail because Redis is
// down: the worker then starts in fallback, loudly. ctx bounds Open itself,
// not the Client's life.
func Open(ctx context.Context, config Config) (*Client, error) { return nil, errTodo }

// Bucket returns the Limiter of one bucket. Asking again with the same limit
// returns the same Limiter; with another limit it is an ErrLimit, since which
// one should hold would depend on the order of calls.
func (c *Client) Bucket(key string, limit Limit) (*Limiter, error) { return nil, errTodo }

// Close wakes every waiting caller with ErrClosed, publishes a last report,
// and releases what Open made. It takes at most about a second.
func (c *Client) Close() error { return errTodo }
