package cli

import (
	"cmp"
	"context"
	"slices"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// Bounds of ls. Pages keep every single call to Redis short.
const (
	pageSize   = 500
	scanCount  = 1000    // keys that one step of a scan looks at, about
	maxScanned = 10_000  // keys that a scan returns at most
	maxSteps   = 100_000 // steps of a scan at most: 100 million keys
)

func runLs(ctx context.Context, c *call) error {
	filter := newPattern("")
	if len(c.args) > 0 {
		filter = newPattern(c.args[0])
	}
	listing := c.registered
	if c.in.match != "" {
		listing = c.scanned
	}
	found, err := listing(ctx, filter)
	if err != nil {
		return err
	}
	keys := make([]string, len(found))
	for i, r := range found {
		keys[i] = r.Key
	}
	states, err := c.states(ctx, keys)
	if err != nil {
		return err
	}
	if len(states) == 0 && !c.out.isJSON() {
		c.note("no bucket %s", c.emptyReason())
	}
	records := make([]any, len(states))
	t := lsTable()
	for i, s := range states {
		records[i] = toBucket(s, found[i].Seen)
		t.rows = append(t.rows, c.lsRow(s))
	}
	if err := c.out.list(records, t); err != nil {
		return err
	}
	return c.tellDenied(states)
}

// tellDenied says once of all buckets that can't be read that they can't.
func (c *call) tellDenied(states []bucketctl.State) error {
	var first error
	denied := 0
	for _, s := range states {
		if err := s.Err(); err != nil {
			denied++
			first = cmp.Or(first, err)
		}
	}
	if denied == 0 {
		return nil
	}
	c.note("%d of %d buckets are kept from this user: %s", denied, len(states), sentence(first, c.target.Addr()))
	return alreadySaid{first}
}

func (c *call) emptyReason() string {
	switch {
	case c.in.match != "":
		return "matches the scan"
	case len(c.args) > 0:
		return "matches the pattern"
	}
	return "is registered: no worker of bucketctl has reported one here; foreign keys: --match GLOB"
}

// registered returns the buckets of the registry, by name.
func (c *call) registered(ctx context.Context, filter pattern) ([]bucketctl.Registered, error) {
	var all []bucketctl.Registered
	seen := map[string]bool{} // a page may repeat what another had, while workers report
	for cursor := ""; ; {
		page, err := ask(ctx, func(ctx context.Context) (bucketctl.Page, error) {
			return c.admin.List(ctx, cursor, pageSize)
		})
		if err != nil {
			return nil, err
		}
		for _, r := range page.Buckets {
			if filter.matches(r.Key) && !seen[r.Key] {
				seen[r.Key] = true
				all = append(all, r)
			}
		}
		if cursor = page.Next; cursor == "" {
			slices.SortFunc(all, byKey)
			return all, nil
		}
	}
}

func byKey(a, b bucketctl.Registered) int { return cmp.Compare(a.Key, b.Key) }

// scanned returns what a scan of the keyspace finds, by name.
func (c *call) scanned(ctx context.Context, filter pattern) ([]bucketctl.Registered, error) {
	var all []bucketctl.Registered
	seen := map[string]bool{} // SCAN may return a key twice
	cursor, denied := "", 0
	defer func() {
		if denied > 0 {
			c.note("left out, since the ACL keeps them from this user: %d of the scanned keys", denied)
		}
	}()
	for range maxSteps {
		page, err := ask(ctx, func(ctx context.Context) (bucketctl.ScanPage, error) {
			return c.admin.Scan(ctx, c.in.match, cursor, scanCount)
		})
		if err != nil {
			return nil, err
		}
		denied += page.Denied
		for _, f := range page.Keys {
			if filter.matches(f.Key) && !seen[f.Key] {
				seen[f.Key] = true
				all = append(all, bucketctl.Registered{Key: f.Key})
			}
		}
		if cursor = page.Next; cursor == "" {
			slices.SortFunc(all, byKey)
			return all, nil
		}
		if len(all) >= maxScanned {
			break
		}
	}
	c.note("the scan stopped after %d buckets: there may be more, narrow --match", len(all))
	slices.SortFunc(all, byKey)
	return all, nil
}

// states reads the buckets' states, in order.
func (c *call) states(ctx context.Context, keys []string) ([]bucketctl.State, error) {
	all := make([]bucketctl.State, 0, len(keys))
	for part := range slices.Chunk(keys, pageSize) {
		states, err := ask(ctx, func(ctx context.Context) ([]bucketctl.State, error) {
			return c.admin.GetMany(ctx, part)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, states...)
	}
	return all, nil
}

func lsTable() table {
	return table{
		header: []string{"BUCKET", "STATE", "TOKENS", "GRANTED", "LIMIT", "OVERRIDE", "HOLD", "PROBLEM"},
		right:  map[int]bool{2: true, 3: true},
	}
}

func (c *call) lsRow(s bucketctl.State) []string {
	return []string{
		c.out.cell(s.Key), stateText(s), levelText(s), grantedText(s), watch.LimitText(s.Effective, watch.IsWindow(&s)),
		c.overrideText(s), c.holdText(s), c.problemText(s),
	}
}

// levelText is the level and the capacity in force, "12.5/15".
func levelText(s bucketctl.State) string {
	capacity := "?"
	if s.Effective.Capacity != 0 {
		capacity = showTokens(s.Effective.Capacity)
	}
	return showTokens(s.Level) + "/" + capacity
}

func grantedText(s bucketctl.State) string {
	if s.Kind != bucketctl.KindBucket {
		return "?"
	}
	return showTokens(s.Granted)
}

func (c *call) overrideText(s bucketctl.State) string {
	if s.Override.IsZero() {
		return "-"
	}
	return overriding(s.Override) + endText(s.Override.Until, s.At) + by(c.out.cell(s.By))
}

// overriding names only what the override sets.
func overriding(o bucketctl.Override) string {
	rate := bucketctl.Limit{Rate: o.Rate, Per: o.Per}.RateString()
	capacity := "burst " + showTokens(o.Capacity)
	switch {
	case o.Capacity == 0:
		return rate
	case o.Rate == 0:
		return capacity
	}
	return rate + " " + capacity
}

// endText is what is left until an end.
func endText(until, now time.Time) string {
	if until.IsZero() {
		return ", no end"
	}
	return ", " + showSpan(until.Sub(now)) + " left"
}

// by names who did it; who is a cell already.
func by(who string) string {
	if who == "-" {
		return ""
	}
	return ", by " + who
}

func (c *call) holdText(s bucketctl.State) string {
	if !s.Hold.Active {
		return "-"
	}
	text := "no end"
	if !s.Hold.Until.IsZero() {
		text = showSpan(s.Hold.Until.Sub(s.At)) + " left"
	}
	return text + by(c.out.cell(s.Hold.By))
}

// problemText is the gravest problem.
func (c *call) problemText(s bucketctl.State) string {
	if len(s.Problems) == 0 {
		return "-"
	}
	return c.out.cell(s.Problems[0].Text)
}
