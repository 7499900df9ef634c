package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

func runEvents(ctx context.Context, c *call) error {
	if c.in.follow && c.out.format == formatJSON {
		return usagef("events --follow has no end, and a JSON array needs one: use -o jsonl")
	}
	query, of := bucketctl.EventQuery{}, everything
	if len(c.args) > 0 {
		of = c.ofBucket(c.args[0])
	}
	back, at, err := parseSince(c.in.since)
	if err != nil {
		return err
	}
	if query.Since = at; at.IsZero() {
		now, err := c.serverTime(ctx)
		if err != nil {
			return err
		}
		query.Since = now.Add(-back)
	}
	if c.in.follow {
		return c.follow(ctx, query, of)
	}
	events, err := c.readEvents(ctx, query)
	if err == nil {
		events, err = of(ctx, events)
	}
	if err != nil {
		return err
	}
	if len(events) == 0 && !c.out.isJSON() {
		c.note("no event since %s; --since reaches further back", clock(query.Since))
	}
	var records []any
	t := eventTable()
	for _, e := range events {
		records = append(records, toEvent(e))
		t.rows = append(t.rows, c.eventRow(e))
	}
	return c.out.list(records, t)
}

// serverTime is the clock that events carry. A server that does not tell it
// leaves this machine's: then --since is as exact as the two agree.
func (c *call) serverTime(ctx context.Context) (time.Time, error) {
	server, err := ask(ctx, c.admin.Server)
	if err != nil {
		return time.Time{}, err
	}
	if server.Time.IsZero() {
		return time.Now(), nil
	}
	return server.Time, nil
}

func (c *call) readEvents(ctx context.Context, q bucketctl.EventQuery) ([]bucketctl.Event, error) {
	return ask(ctx, func(ctx context.Context) ([]bucketctl.Event, error) { return c.admin.Events(ctx, q) })
}

// choice chooses the events to print from all of them.
type choice func(ctx context.Context, all []bucketctl.Event) ([]bucketctl.Event, error)

func everything(_ context.Context, all []bucketctl.Event) ([]bucketctl.Event, error) { return all, nil }

// ofBucket chooses what is about a bucket, and what the workers that draw from it
// tell of themselves: that they went on without Redis is why it was short, and such
// an event names no bucket. Who draws from it is known of workers that reported
// within the last 15 minutes.
func (c *call) ofBucket(key string) choice {
	drawers := map[string]bool{}
	return func(ctx context.Context, all []bucketctl.Event) ([]bucketctl.Event, error) {
		if slices.ContainsFunc(all, func(e bucketctl.Event) bool { return e.Key == "" && !drawers[e.By] }) {
			workers, err := ask(ctx, func(ctx context.Context) ([]bucketctl.Worker, error) {
				workers, _, err := c.admin.Workers(ctx)
				return workers, err
			})
			if err != nil {
				return nil, err
			}
			for _, w := range workers {
				if slices.ContainsFunc(w.Buckets, func(b bucketctl.WorkerBucket) bool { return b.Key == key }) {
					drawers[w.ID] = true
				}
			}
		}
		return slices.DeleteFunc(slices.Clone(all), func(e bucketctl.Event) bool {
			return e.Key != key && (e.Key != "" || !drawers[e.By])
		}), nil
	}
}

// follow prints events as they come until ctx ends. Losing Redis on the way
// does not end it: an outage is when somebody watches.
func (c *call) follow(ctx context.Context, query bucketctl.EventQuery, of choice) error {
	stream := &eventStream{c: c}
	chosen, err := c.newEvents(ctx, &query, of)
	if err != nil {
		return err
	}
	if err := stream.begin(); err != nil {
		return err
	}
	ticker := time.NewTicker(c.in.refresh)
	defer ticker.Stop()
	lost := false
	for {
		for _, e := range chosen {
			if err := stream.print(e); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		chosen, err = c.newEvents(ctx, &query, of)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !isUnreachable(err):
			return err
		case err != nil && !lost:
			c.note("Redis at %s can't be reached: %s; still trying", c.target.Addr(), reason(err))
		case err == nil && lost:
			c.note("Redis at %s answers again", c.target.Addr())
		}
		lost = err != nil
	}
}

// newEvents are the events after those of the last call, as far as they are chosen.
func (c *call) newEvents(ctx context.Context, query *bucketctl.EventQuery, of choice) ([]bucketctl.Event, error) {
	all, err := c.readEvents(ctx, *query)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	chosen, err := of(ctx, all)
	if err == nil {
		query.After = all[len(all)-1].ID
	}
	return chosen, err
}

// eventStream prints single events; its columns can't wait for all of them, so
// their widths are fixed and longer cells push the rest of their line.
type eventStream struct{ c *call }

func streamWidths() []int { return []int{23, 8, 24, 16, 16, 24, 0} }

func (s *eventStream) begin() error {
	if s.c.out.isJSON() {
		return nil
	}
	return s.rows(eventTable().header)
}

func (s *eventStream) print(e bucketctl.Event) error {
	if s.c.out.isJSON() {
		return s.c.out.jsonl(toEvent(e))
	}
	return s.rows(s.c.eventRow(e))
}

func (s *eventStream) rows(cells []string) error {
	if s.c.out.format == formatTSV {
		return s.c.out.write(strings.Join(cells, "\t") + "\n")
	}
	var b strings.Builder
	writeAligned(&b, cells, streamWidths(), nil)
	return s.c.out.write(b.String())
}

func eventTable() table {
	return table{header: []string{"TIME", "KIND", "BUCKET", "BY", "REV", "CHANGE", "REASON"}}
}

func (c *call) eventRow(e bucketctl.Event) []string {
	return []string{
		clock(e.At), c.out.cell(string(e.Kind)), c.out.cell(e.Key), c.out.cell(e.By), revNumber(e.Rev),
		c.eventChange(e), c.out.cell(e.Reason),
	}
}

// eventChange is before -> after where limit or hold changed, and whatever else
// the event tells.
func (c *call) eventChange(e bucketctl.Event) string {
	var parts []string
	for _, pair := range [][2]string{
		{overrideAt(e.Before.Override, e.At), overrideAt(e.After.Override, e.At)},
		{holdAt(e.Before.Hold, e.At), holdAt(e.After.Hold, e.At)},
	} {
		if pair[0] != pair[1] {
			parts = append(parts, pair[0]+" -> "+pair[1])
		}
	}
	told, words := eventWords(&e)
	if words != "" {
		parts = append(parts, words)
	}
	var details []string
	for name, value := range e.Detail {
		if strings.HasSuffix(name, "_id") || slices.Contains(told, name) {
			continue // for programs, which read JSON
		}
		details = append(details, c.out.cell(name+"="+value))
	}
	slices.Sort(details)
	parts = append(parts, details...)
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

// eventWords are the details of an outage or a cooldown in words, and which details
// those are.
func eventWords(e *bucketctl.Event) (told []string, words string) {
	if outage := watch.OutageText(e, e.At); outage != "" {
		return []string{watch.DetailSince, watch.DetailLasted, watch.DetailLocal}, outage
	}
	length, err := time.ParseDuration(e.Detail[watch.DetailLength])
	until, errUntil := time.Parse(time.RFC3339Nano, e.Detail[watch.DetailUntil])
	if e.Kind != bucketctl.EventCooldown || err != nil || errUntil != nil {
		return nil, ""
	}
	return []string{watch.DetailLength, watch.DetailUntil}, "paused for " + showSpan(length) + ", until " + clock(until)
}

func overrideAt(o bucketctl.Override, at time.Time) string {
	if o.IsZero() {
		return "as declared"
	}
	return overriding(o) + endAt(o.Until, at)
}

func holdAt(h bucketctl.Hold, at time.Time) string {
	if !h.Active {
		return "not held"
	}
	return "held" + endAt(h.Until, at)
}

// endAt is how long something was meant to last, seen from at.
func endAt(until, at time.Time) string {
	if until.IsZero() {
		return ""
	}
	return " for " + showSpan(until.Sub(at).Round(time.Second))
}
