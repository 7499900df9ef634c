package bucketctl

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/schema"
)

const (
	keptEvents = 10_000 // roughly
	eventsPage = 1000   // entries read at once
)

// tell adds the event to the stream and wakes the workers that wait at its
// bucket. It returns the entry's ID. In a cluster it asks the stream's server
// itself, as runOnce does and for the same reason: the event of one change must
// not be there twice. A message of this channel reaches the whole cluster.
func (a *Admin) tell(ctx context.Context, e Event) (string, *AuditError) {
	var server redis.Cmdable = a.client
	if cluster, is := a.client.(*redis.ClusterClient); is {
		one, err := cluster.MasterForKey(ctx, a.keys.Events())
		if err != nil {
			return "", a.untold(ctx, e, err, err)
		}
		server = one
	}
	id, errEvent, errWake := a.send(ctx, server, e)
	if isRedirection(errEvent) {
		id, errEvent, errWake = a.send(ctx, a.client, e)
	}
	return id, a.untold(ctx, e, errEvent, errWake)
}

func (a *Admin) send(ctx context.Context, server redis.Cmdable, e Event) (id string, errEvent, errWake error) {
	var added *redis.StringCmd
	var woken *redis.IntCmd
	cmds, err := server.Pipelined(ctx, func(p redis.Pipeliner) error {
		added = p.XAdd(ctx, eventEntry(a.keys, e))
		woken = p.Publish(ctx, a.keys.Wake(), e.Key)
		return nil
	})
	if err := untold(err, cmds); err != nil {
		return "", err, err
	}
	return added.Val(), added.Err(), woken.Err()
}

// untold is the error of a change that is written but not told; nil where it is.
func (a *Admin) untold(ctx context.Context, e Event, errEvent, errWake error) *AuditError {
	if errEvent == nil && errWake == nil {
		return nil
	}
	return &AuditError{Event: writeError(ctx, "tell of", e.Key, errEvent), Wake: writeError(ctx, "wake who waits at", e.Key, errWake)}
}

// eventEntry is the event as a stream entry. Empty parts are left out.
func eventEntry(names schema.Keys, e Event) *redis.XAddArgs {
	values := []any{schema.EventKind, string(e.Kind)}
	add := func(name, value string) {
		if value != "" {
			values = append(values, name, value)
		}
	}
	add(schema.EventKey, e.Key)
	add(schema.EventBy, e.By)
	add(schema.EventReason, e.Reason)
	if e.Rev != 0 {
		add(schema.EventRev, strconv.FormatInt(int64(e.Rev), 10))
		add(schema.EventBefore, encodeRecord(e.Before))
		add(schema.EventAfter, encodeRecord(e.After))
	}
	if len(e.Detail) > 0 {
		add(schema.EventDetail, encodeJSON(e.Detail))
	}
	return &redis.XAddArgs{Stream: names.Events(), MaxLen: keptEvents, Approx: true, Values: values}
}

// recordJSON is a Record in an event: times in server microseconds, 0 for no
// end; what is not in force is left out.
type recordJSON struct {
	Capacity float64   `json:"capacity,omitempty"`
	Rate     float64   `json:"rate,omitempty"`
	Per      int64     `json:"per,omitempty"` // microseconds
	Until    int64     `json:"until,omitempty"`
	Hold     *holdJSON `json:"hold,omitempty"`
}

type holdJSON struct {
	Until  int64  `json:"until,omitempty"`
	By     string `json:"by,omitempty"`
	At     int64  `json:"at,omitempty"`
	Reason string `json:"reason,omitempty"`
}

func encodeRecord(r Record) string {
	j := recordJSON{
		Capacity: r.Override.Capacity,
		Rate:     r.Override.Rate,
		Per:      r.Override.Per.Microseconds(),
		Until:    unixMicro(r.Override.Until),
	}
	if r.Hold.Active {
		j.Hold = &holdJSON{
			Until:  unixMicro(r.Hold.Until),
			By:     r.Hold.By,
			At:     unixMicro(r.Hold.At),
			Reason: r.Hold.Reason,
		}
	}
	return encodeJSON(j)
}

func decodeRecordJSON(text string) Record {
	var j recordJSON
	if text == "" || json.Unmarshal([]byte(text), &j) != nil {
		return Record{} // written by another version, or by hand: shown as nothing
	}
	r := Record{Override: Override{
		Capacity: j.Capacity,
		Rate:     j.Rate,
		Per:      time.Duration(j.Per) * time.Microsecond,
		Until:    fromUnixMicro(j.Until),
	}}
	if j.Hold != nil {
		r.Hold = Hold{
			Active: true,
			Until:  fromUnixMicro(j.Hold.Until),
			By:     j.Hold.By,
			At:     fromUnixMicro(j.Hold.At),
			Reason: j.Hold.Reason,
		}
	}
	return r
}

// encodeJSON encodes values of this package's own types, which can't fail.
func encodeJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// unixMicro is t in microseconds, 0 for the zero time.
func unixMicro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromUnixMicro(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// Events returns events, oldest first.
func (a *Admin) Events(ctx context.Context, q EventQuery) ([]Event, error) {
	most := q.Max
	if most <= 0 {
		most = keptEvents
	}
	var found []Event // newest first
	err := walkBack(ctx, a.client, a.keys.Events(), q.After, q.Since, func(entry redis.XMessage) bool {
		if e := decodeEvent(entry); q.Key == "" || q.Key == e.Key {
			found = append(found, e)
		}
		return len(found) < most
	})
	if err != nil {
		return nil, adminError(ctx, "read events", "", err)
	}
	slices.Reverse(found)
	return found, nil
}

// walkBack visits a stream's entries, newest first, down to the time since
// (inclusive) or the entry after (exclusive), until visit returns false.
func walkBack(ctx context.Context, client redis.UniversalClient, stream, after string, since time.Time, visit func(redis.XMessage) bool) error {
	oldest := "-"
	if !since.IsZero() {
		oldest = strconv.FormatInt(max(0, since.UnixMilli()), 10)
	}
	if after != "" {
		oldest = "(" + after
	}
	newest := "+"
	for {
		entries, err := client.XRevRangeN(ctx, stream, newest, oldest, eventsPage).Result()
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if !visit(entry) {
				return nil
			}
		}
		if len(entries) < eventsPage {
			return nil
		}
		newest = "(" + entries[len(entries)-1].ID
	}
}

func decodeEvent(entry redis.XMessage) Event {
	text := func(name string) string {
		value, ok := entry.Values[name].(string)
		if !ok {
			return ""
		}
		return value
	}
	e := Event{
		ID:     entry.ID,
		At:     streamTime(entry.ID),
		Kind:   EventKind(text(schema.EventKind)),
		Key:    text(schema.EventKey),
		By:     text(schema.EventBy),
		Reason: text(schema.EventReason),
		Before: decodeRecordJSON(text(schema.EventBefore)),
		After:  decodeRecordJSON(text(schema.EventAfter)),
	}
	if rev, ok := storedNumber(text(schema.EventRev)); ok {
		e.Rev = Rev(rev)
	}
	if detail := text(schema.EventDetail); detail != "" && json.Unmarshal([]byte(detail), &e.Detail) != nil {
		e.Detail = map[string]string{"detail": detail}
	}
	return e
}

// streamTime is the server time in a stream entry's ID.
func streamTime(id string) time.Time {
	ms, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

// String is the event in one line, for logs.
func (e Event) String() string {
	return fmt.Sprintf("%s %s %q by %s", e.At.Format(time.RFC3339), e.Kind, e.Key, e.By)
}
