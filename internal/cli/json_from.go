package cli

import (
	"strings"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

func toBucket(s bucketctl.State, seen time.Time) jsonBucket {
	b := jsonBucket{
		jsonKey: toKey(s.Key), State: stateOf(s), Kind: string(s.Kind), Type: orNull(s.Type),
		At: moment(s.At), Level: known(s.Level), Granted: known(s.Granted),
		Effective: toLimit(s.Effective), Declared: toLimit(s.Declared),
		Override: toOverride(s), Hold: toHold(s.Hold), Cooldown: toCooldown(s),
		Rev: int64(s.Rev), Problems: []jsonProblem{}, Seen: moment(seen),
	}
	if s.Kind != bucketctl.KindBucket {
		b.Granted = nil // nobody counts it there
	}
	for _, p := range s.Problems {
		b.Problems = append(b.Problems, jsonProblem{Code: string(p.Code), Field: p.Field, Text: p.Text})
	}
	if s.TTL > 0 {
		b.TTL = known(s.TTL.Seconds())
	}
	return b
}

func toOverride(s bucketctl.State) *jsonOverride {
	setting := toSetting(s.Override)
	if setting == nil {
		return nil
	}
	return &jsonOverride{jsonSetting: *setting, By: orNull(s.By), At: moment(s.ChangedAt), Reason: orNull(s.Reason)}
}

func toSetting(o bucketctl.Override) *jsonSetting {
	limit := toLimit(bucketctl.Limit{Capacity: o.Capacity, Rate: o.Rate, Per: o.Per})
	if limit == nil {
		return nil
	}
	return &jsonSetting{jsonLimit: *limit, Until: moment(o.Until)}
}

func toHold(h bucketctl.Hold) *jsonHold {
	if !h.Active {
		return nil
	}
	return &jsonHold{Until: moment(h.Until), By: orNull(h.By), At: moment(h.At), Reason: orNull(h.Reason)}
}

// toCooldown returns nil for one that has ended by the time of the reading.
func toCooldown(s bucketctl.State) *jsonCooldown {
	if !s.Cooldown.Until.After(s.At) {
		return nil
	}
	return &jsonCooldown{Until: moment(s.Cooldown.Until), By: orNull(s.Cooldown.By)}
}

func toRecord(r bucketctl.Record) jsonRecord {
	return jsonRecord{Override: toSetting(r.Override), Hold: toHold(r.Hold)}
}

func toEvent(e bucketctl.Event) jsonEvent {
	j := jsonEvent{
		ID: e.ID, At: e.At.UTC().Format(time.RFC3339Nano), Kind: string(e.Kind),
		By: orNull(e.By), Reason: orNull(e.Reason), Rev: int64(e.Rev),
		Before: toRecord(e.Before), After: toRecord(e.After), Detail: e.Detail,
	}
	if e.Key != "" {
		j.jsonKey = toKey(e.Key)
	}
	if j.Detail == nil {
		j.Detail = map[string]string{}
	}
	return j
}

func toWorker(w *watch.Worker, who crew) jsonWorker {
	rate, waiting, p99 := w.Totals()
	j := jsonWorker{
		ID: w.ID, Name: w.Name, App: w.App, Host: w.Host, PID: w.PID, Version: w.Version,
		Start: moment(w.Start), Seen: moment(w.Seen), Interval: w.Interval.Seconds(),
		Fallback: string(w.Fallback), State: strings.ToLower(w.State.Word()), Since: moment(w.Since), Why: orNull(w.Why),
		Silent: w.State == watch.WorkerSilent, Left: w.Closing,
		Rate: known(rate), Buckets: []jsonWorkerBucket{},
	}
	if waiting >= 0 {
		j.Waiting, j.WaitP99 = &waiting, known(p99.Seconds())
	}
	if o := w.Outage; !o.Since.IsZero() {
		j.Outage = &jsonOutage{Since: moment(o.Since), Lasted: o.Lasted.Seconds(), Granted: finite(o.Local), Reason: orNull(o.Reason)}
	}
	for i := range w.Rows {
		j.Buckets = append(j.Buckets, toWorkerBucket(&w.Rows[i], who.revs[w.Rows[i].Key]))
	}
	return j
}

func toWorkerBucket(b *watch.WorkerRow, newest bucketctl.Rev) jsonWorkerBucket {
	j := jsonWorkerBucket{
		jsonKey: toKey(b.Key), Mode: string(b.Mode), Since: moment(b.Since), Reason: orNull(b.Reason),
		Over: known(b.Over), Window: b.Window,
		Declared: toLimit(b.Declared), Effective: toLimit(b.Limit), Rev: int64(b.Rev), RevNow: int64(newest), Level: known(b.Level),
		Granted: finite(b.Granted), Local: finite(b.Local), Refused: b.Refused, Calls: b.Calls,
		Waiting: b.Waiting, HeadWait: b.HeadWait.Seconds(), WaitP50: b.WaitP50.Seconds(),
		WaitP99: b.WaitP99.Seconds(), CallP99: b.CallP99.Seconds(), LargestN: finite(b.LargestN),
	}
	if b.Share > 0 {
		j.Share, j.ShareText = known(b.Share), orNull(showRate(b.Share, unitOf(b)))
	}
	if !b.Silent { // else nobody knows
		j.Rate = known(b.Rate)
	}
	if b.Over > 0 {
		j.OverText = orNull(overText(b))
	}
	return j
}
