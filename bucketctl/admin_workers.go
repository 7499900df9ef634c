package bucketctl

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/schema"
)

const (
	keptReports  = 15 * time.Minute // how long a report is kept
	freshReports = time.Minute      // how far back Reports begins
	mostReports  = 20_000           // entries read at once, at most
)

// Workers returns the newest report of every worker heard of in the last 15
// minutes, by name, and the server time of the reading, to tell by who is
// silent.
func (a *Admin) Workers(ctx context.Context) ([]Worker, time.Time, error) {
	now, err := a.client.Time(ctx).Result()
	if err != nil {
		return nil, time.Time{}, adminError(ctx, "read the clock", "", err)
	}
	workers, _, err := a.newestReports(ctx, now.Add(-keptReports))
	return workers, now.UTC(), err
}

// newestReports returns the newest report of each worker since then, and the
// ID of the newest entry.
func (a *Admin) newestReports(ctx context.Context, since time.Time) ([]Worker, string, error) {
	newest := map[string]Worker{}
	last, read := "", 0
	err := walkBack(ctx, a.client, a.keys.Reports(), "", since, func(entry redis.XMessage) bool {
		if last == "" {
			last = entry.ID
		}
		if w, err := reportOf(entry); err == nil {
			if _, seen := newest[w.ID]; !seen {
				newest[w.ID] = w
			}
		}
		read++
		return read < mostReports
	})
	if err != nil {
		return nil, "", adminError(ctx, "read reports", "", err)
	}
	workers := make([]Worker, 0, len(newest))
	for _, w := range newest {
		workers = append(workers, w)
	}
	slices.SortFunc(workers, func(a, b Worker) int {
		return cmp.Or(strings.Compare(a.App, b.App), strings.Compare(a.Host, b.Host), strings.Compare(a.ID, b.ID))
	})
	return workers, last, nil
}

// reportOf decodes a stream entry. One that can't be read, since another
// version or a hand wrote it, is an error that readers pass over.
func reportOf(entry redis.XMessage) (Worker, error) {
	text, _ := entry.Values[schema.FieldReport].(string)
	return decodeReport(text, streamTime(entry.ID))
}

// Reports returns reports published after the stream ID after, at most most of
// them, oldest first, and the ID to go on from. With after "" it returns the
// newest report of each worker in the last minute.
func (a *Admin) Reports(ctx context.Context, after string, most int) ([]Worker, string, error) {
	if after == "" {
		now, err := a.client.Time(ctx).Result()
		if err != nil {
			return nil, "", adminError(ctx, "read the clock", "", err)
		}
		workers, last, err := a.newestReports(ctx, now.Add(-freshReports))
		if last == "" {
			last = "0-0"
		}
		return workers, last, err
	}
	entries, err := a.client.XRangeN(ctx, a.keys.Reports(), "("+after, "+", int64(most)).Result()
	if err != nil {
		return nil, after, adminError(ctx, "read reports", "", err)
	}
	workers := make([]Worker, 0, len(entries))
	for _, entry := range entries {
		after = entry.ID
		if w, err := reportOf(entry); err == nil {
			workers = append(workers, w)
		}
	}
	return workers, after, nil
}
