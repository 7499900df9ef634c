package bucketctl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// lookForBeats is how often it is looked whose beat is due, so that those of
// several buckets go out together.
const lookForBeats = time.Second

// beatInTime beats for every bucket, and for the namespace, until ctx ends.
func (c *Client) beatInTime(ctx context.Context) {
	ticker := time.NewTicker(lookForBeats)
	defer ticker.Stop()
	for {
		if open, _, _ := c.link.isOpen(); !open {
			attempt, cancel := context.WithTimeout(ctx, c.config.callTimeout)
			err := c.beat(attempt, c.duePulses(time.Now()), beatInterval)
			cancel()
			// Refused beats don't stop the limiter: only takes decide that.
			if classify(ctx, err) == classOutage && !c.isCluster() { // of which server, only takes tell
				c.failed(c.link, classOutage, err)
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// pulses are all registries that the Client beats at.
func (c *Client) pulses() []*pulse { return append(pulsesOf(c.all()), c.everybody) }

func pulsesOf(limiters []*Limiter) []*pulse {
	pulses := make([]*pulse, len(limiters), len(limiters)+1)
	for i, l := range limiters {
		pulses[i] = l.pulse
	}
	return pulses
}

func (c *Client) duePulses(now time.Time) []*pulse {
	return slices.DeleteFunc(c.pulses(), func(p *pulse) bool { return !p.due(now) })
}

// beat says at all of these that this worker lives, in one exchange; or, with
// an interval of 0, that it leaves. An error is the first of those that were
// met with.
func (c *Client) beat(ctx context.Context, pulses []*pulse, interval time.Duration) error {
	if len(pulses) == 0 {
		return nil
	}
	script := c.scripts.beat
	answers := c.beatWith(ctx, script.EvalSha, pulses, interval)
	// In a pipeline nobody recovers from a script that the server forgot.
	var unknown []int
	for i, a := range answers {
		if redis.HasErrorPrefix(a.Err(), "NOSCRIPT") {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) > 0 {
		again := make([]*pulse, len(unknown))
		for i, at := range unknown {
			again[i] = pulses[at]
		}
		for i, a := range c.beatWith(ctx, script.Eval, again, interval) {
			answers[unknown[i]] = a
		}
	}
	var errs []error
	for i, a := range answers {
		if err := c.countBeat(pulses[i], a); err != nil {
			errs = append(errs, fmt.Errorf("beat at %q: %w", pulses[i].key, err))
		}
	}
	return errors.Join(errs...)
}

// beatWith runs the script once for each registry, all in one pipeline.
func (c *Client) beatWith(
	ctx context.Context, run func(context.Context, redis.Scripter, []string, ...any) *redis.Cmd, pulses []*pulse, interval time.Duration,
) []*redis.Cmd {
	answers := make([]*redis.Cmd, len(pulses))
	_, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, pulse := range pulses {
			answers[i] = run(ctx, p, []string{pulse.key}, c.self.ID, interval.Microseconds())
		}
		return nil
	})
	for _, a := range answers {
		if a.Err() == nil && a.Val() == nil { // each has its own error, but where there was no connection to send any
			a.SetErr(err)
		}
	}
	return answers
}

// countBeat is the one place where beat's reply is decoded.
func (c *Client) countBeat(p *pulse, answer *redis.Cmd) error {
	now := time.Now()
	items, err := answer.Slice()
	if err == nil {
		err = reply(items).length(3)
	}
	var ints []int64
	if err == nil {
		ints, err = reply(items).integers(0, 3)
	}
	if err != nil {
		p.missed(now)
		return err
	}
	c.clock.set(time.UnixMicro(ints[0]).UTC())
	p.beaten(now, int(min(ints[1], MaxWorkers)), micros(ints[2]))
	return nil
}
