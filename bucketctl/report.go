package bucketctl

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"time"
	"unicode/utf8"
)

// reportJSON is one entry of the reports stream. Durations and times are in
// microseconds, rates in tokens per second; unknown fields are ignored, so
// that versions can live side by side.
type reportJSON struct {
	ID       string             `json:"id"`
	App      string             `json:"app"`
	Host     string             `json:"host"`
	PID      int                `json:"pid"`
	Version  string             `json:"version"`
	Start    int64              `json:"start"`
	Interval int64              `json:"interval"`
	Fallback Policy             `json:"fallback"`
	Closing  bool               `json:"closing,omitempty"`
	Outage   *outageJSON        `json:"outage,omitempty"`
	Buckets  []reportBucketJSON `json:"buckets"`
}

type outageJSON struct {
	Reason string  `json:"reason"`
	Since  int64   `json:"since"`
	Lasted int64   `json:"lasted"`
	Local  float64 `json:"local,omitempty"`
}

type reportBucketJSON struct {
	Key      string     `json:"key,omitempty"`
	KeyB64   string     `json:"key_b64,omitempty"` // where the key is not valid UTF-8
	Mode     Mode       `json:"mode"`
	Reason   string     `json:"reason,omitempty"`
	Since    int64      `json:"since,omitempty"`
	Fallback Policy     `json:"fallback,omitempty"`
	Workers  int        `json:"workers,omitempty"`
	Share    float64    `json:"share,omitempty"`
	Declared limitJSON  `json:"declared"`
	Window   bool       `json:"window,omitempty"`
	Limit    *limitJSON `json:"limit,omitempty"`
	Rev      Rev        `json:"rev,omitempty"`
	Level    *float64   `json:"level,omitempty"`
	Granted  float64    `json:"granted"`
	Local    float64    `json:"local,omitempty"`
	Refused  int64      `json:"refused,omitempty"`
	Calls    int64      `json:"calls"`
	Waiting  int        `json:"waiting,omitempty"`
	HeadWait int64      `json:"head_wait,omitempty"`
	WaitP50  int64      `json:"wait_p50,omitempty"`
	WaitP99  int64      `json:"wait_p99,omitempty"`
	LargestN float64    `json:"largest_n,omitempty"`
	CallP99  int64      `json:"call_p99,omitempty"`
}

type limitJSON struct {
	Capacity float64 `json:"capacity"`
	Rate     float64 `json:"rate"`
	Per      int64   `json:"per,omitempty"`
}

func toLimitJSON(l Limit) limitJSON {
	return limitJSON{Capacity: l.Capacity, Rate: l.Rate, Per: l.Per.Microseconds()}
}

func (j limitJSON) limit() Limit {
	return Limit{Capacity: j.Capacity, Rate: j.Rate, Per: micros(j.Per)}
}

// micros converts, saturating instead of overflowing.
func micros(us int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Microsecond)
	switch {
	case us > most:
		return math.MaxInt64
	case us < -most:
		return math.MinInt64
	}
	return time.Duration(us) * time.Microsecond
}

func encodeReport(w Worker) string {
	j := reportJSON{
		ID:       w.ID,
		App:      w.App,
		Host:     w.Host,
		PID:      w.PID,
		Version:  w.Version,
		Start:    unixMicro(w.Start),
		Interval: w.Interval.Microseconds(),
		Fallback: w.Fallback,
		Closing:  w.Closing,
		Buckets:  make([]reportBucketJSON, len(w.Buckets)),
	}
	if o := w.Outage; o != (Outage{}) {
		j.Outage = &outageJSON{Reason: o.Reason, Since: unixMicro(o.Since), Lasted: o.Lasted.Microseconds(), Local: o.Local}
	}
	for i, b := range w.Buckets {
		j.Buckets[i] = toReportBucket(b)
	}
	return encodeJSON(j)
}

func toReportBucket(b WorkerBucket) reportBucketJSON {
	j := reportBucketJSON{
		Mode:     b.Mode,
		Reason:   b.Reason,
		Since:    unixMicro(b.Since),
		Fallback: b.Fallback,
		Workers:  b.Workers,
		Share:    b.Share,
		Declared: toLimitJSON(b.Declared),
		Window:   b.Window,
		Rev:      b.Rev,
		Granted:  b.Granted,
		Local:    b.Local,
		Refused:  b.Refused,
		Calls:    b.Calls,
		Waiting:  b.Waiting,
		HeadWait: b.HeadWait.Microseconds(),
		WaitP50:  b.WaitP50.Microseconds(),
		WaitP99:  b.WaitP99.Microseconds(),
		LargestN: b.LargestN,
		CallP99:  b.CallP99.Microseconds(),
	}
	if utf8.ValidString(b.Key) {
		j.Key = b.Key
	} else {
		j.KeyB64 = base64.StdEncoding.EncodeToString([]byte(b.Key))
	}
	if !b.Limit.IsZero() {
		limit := toLimitJSON(b.Limit)
		j.Limit = &limit
	}
	if !math.IsNaN(b.Level) {
		j.Level = &b.Level
	}
	return j
}

// decodeReport decodes one entry; seen is its stream ID's time.
func decodeReport(text string, seen time.Time) (Worker, error) {
	var j reportJSON
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return Worker{}, fmt.Errorf("bucketctl: a report can't be read: %w", err)
	}
	w := Worker{
		ID:       j.ID,
		App:      j.App,
		Host:     j.Host,
		PID:      j.PID,
		Version:  j.Version,
		Start:    fromUnixMicro(j.Start),
		Interval: micros(j.Interval),
		Fallback: j.Fallback,
		Seen:     seen,
		Closing:  j.Closing,
		Buckets:  make([]WorkerBucket, 0, len(j.Buckets)),
	}
	if o := j.Outage; o != nil {
		w.Outage = Outage{Reason: o.Reason, Since: fromUnixMicro(o.Since), Lasted: micros(o.Lasted), Local: o.Local}
	}
	for _, b := range j.Buckets {
		bucket, err := b.bucket()
		if err != nil {
			return Worker{}, err
		}
		w.Buckets = append(w.Buckets, bucket)
	}
	if err := w.check(); err != nil {
		return Worker{}, fmt.Errorf("bucketctl: a report can't be: %w", err)
	}
	return w, nil
}

func (j reportBucketJSON) bucket() (WorkerBucket, error) {
	b := WorkerBucket{
		Key:      j.Key,
		Mode:     j.Mode,
		Reason:   j.Reason,
		Since:    fromUnixMicro(j.Since),
		Fallback: j.Fallback,
		Workers:  j.Workers,
		Share:    j.Share,
		Declared: j.Declared.limit(),
		Window:   j.Window,
		Rev:      j.Rev,
		Level:    math.NaN(),
		Granted:  j.Granted,
		Local:    j.Local,
		Refused:  j.Refused,
		Calls:    j.Calls,
		Waiting:  j.Waiting,
		HeadWait: micros(j.HeadWait),
		WaitP50:  micros(j.WaitP50),
		WaitP99:  micros(j.WaitP99),
		LargestN: j.LargestN,
		CallP99:  micros(j.CallP99),
	}
	if j.KeyB64 != "" {
		key, err := base64.StdEncoding.DecodeString(j.KeyB64)
		if err != nil {
			return b, fmt.Errorf("bucketctl: a report's key_b64 can't be read: %w", err)
		}
		b.Key = string(key)
	}
	if j.Limit != nil {
		b.Limit = j.Limit.limit()
	}
	if j.Level != nil {
		b.Level = *j.Level
	}
	return b, nil
}
