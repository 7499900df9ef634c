package cli

import (
	"encoding/base64"
	"math"
	"time"
	"unicode/utf8"

	"bucketop/bucketctl"
)

// The shapes of JSON output, all of them. Rules that hold everywhere: what is
// not known is null, what is empty is [] or absent only where said; rates are
// tokens per second, beside them rate_text in the unit they were declared in;
// times are UTC in RFC 3339, by the clock of the Redis server; durations are
// seconds. Fields may be added, none changes its meaning. A name or reason that
// is no UTF-8 has U+FFFD for its bad bytes; only keys are exact.

// jsonKey is a bucket's name: key, or key_b64 (standard Base64) where it is no
// valid UTF-8. Exactly one of the two is there.
type jsonKey struct {
	Key    *string `json:"key,omitempty"`
	KeyB64 *string `json:"key_b64,omitempty"`
}

// jsonLimit is a limit. In an override null means "as declared".
type jsonLimit struct {
	Rate     *float64 `json:"rate"`      // tokens per second
	RateText *string  `json:"rate_text"` // such as "300/min"
	Capacity *float64 `json:"capacity"`  // tokens
}

// jsonSetting is an override as a change left it; who and why is the event's.
type jsonSetting struct {
	jsonLimit
	Until *string `json:"until"` // null: no end
}

// jsonOverride is what an operator set instead of the declared limit.
type jsonOverride struct {
	jsonSetting
	By     *string `json:"by"`
	At     *string `json:"at"`
	Reason *string `json:"reason"`
}

// jsonHold is an operator's stop.
type jsonHold struct {
	Until  *string `json:"until"` // null: no end
	By     *string `json:"by"`
	At     *string `json:"at"`
	Reason *string `json:"reason"`
}

// jsonCooldown is a stop that a worker started.
type jsonCooldown struct {
	Until *string `json:"until"`
	By    *string `json:"by"`
}

// jsonProblem is one thing that is wrong with the stored values.
type jsonProblem struct {
	Code  string `json:"code"` // wrong-type, record, corrupt, ts-ahead, debt, denied
	Field string `json:"field"`
	Text  string `json:"text"`
}

// jsonBucket is one bucket: a record of ls and get.
type jsonBucket struct {
	jsonKey
	State     string        `json:"state"` // stuck, corrupt, cooldown, held, override, ok, idle, foreign, denied
	Kind      string        `json:"kind"`  // none, bucket, window, foreign, foreign-window, wrong-type, denied
	Type      *string       `json:"type"`  // Redis' type of the key; null: not known
	At        *string       `json:"at"`    // when it was read
	Level     *float64      `json:"level"` // tokens; below 0 is debt
	Granted   *float64      `json:"granted"`
	Effective *jsonLimit    `json:"effective"`
	Declared  *jsonLimit    `json:"declared"`
	Override  *jsonOverride `json:"override"` // null: none
	Hold      *jsonHold     `json:"hold"`     // null: none
	Cooldown  *jsonCooldown `json:"cooldown"` // null: none
	Rev       int64         `json:"rev"`      // 0: never changed by an operator
	Problems  []jsonProblem `json:"problems"`
	TTL       *float64      `json:"ttl"`  // seconds; null: none
	Seen      *string       `json:"seen"` // when a worker last reported it; ls only
}

// jsonRecord is what a change of limit or hold can alter.
type jsonRecord struct {
	Override *jsonSetting `json:"override"` // null: none
	Hold     *jsonHold    `json:"hold"`     // null: none
}

// jsonEvent is one event: a record of events. It has no key where it is about a
// whole worker.
type jsonEvent struct {
	ID   string `json:"id"`
	At   string `json:"at"`
	Kind string `json:"kind"`
	jsonKey
	By     *string           `json:"by"`
	Reason *string           `json:"reason"`
	Rev    int64             `json:"rev"` // 0 where the event changed no record
	Before jsonRecord        `json:"before"`
	After  jsonRecord        `json:"after"`
	Detail map[string]string `json:"detail"`
}

// jsonChange is what set, unset, reset, hold, resume and undo did.
type jsonChange struct {
	jsonKey
	Written bool       `json:"written"` // false with --dry-run
	Before  jsonBucket `json:"before"`
	After   jsonBucket `json:"after"`
	Event   *jsonEvent `json:"event"` // null where none was written
	Lacks   *string    `json:"lacks"` // what was not done of a change that is written, and why; null: nothing
}

// jsonWorker is one process that embeds bucketctl: a record of workers. They come
// worst first. Of one that is silent or gone nobody knows what it grants or who
// waits: null.
type jsonWorker struct {
	ID       string             `json:"id"`
	Name     string             `json:"name"` // as people call it, unique
	App      string             `json:"app"`
	Host     string             `json:"host"`
	PID      int                `json:"pid"`
	Version  string             `json:"version"`
	Start    *string            `json:"start"` // by its own clock
	Seen     *string            `json:"seen"`
	Interval float64            `json:"interval"` // seconds between its reports
	Fallback string             `json:"fallback"` // share, closed, open
	State    string             `json:"state"`    // silent, fallback, shared, gone
	Since    *string            `json:"since"`    // when state began; null while shared
	Why      *string            `json:"why"`
	Silent   bool               `json:"silent"`             // down, or on its own share: nobody can know
	Left     bool               `json:"left"`               // it shut down in order
	Rate     *float64           `json:"granted_per_second"` // tokens, lately, of all its buckets
	Waiting  *int               `json:"waiting"`            // callers
	WaitP99  *float64           `json:"wait_p99"`           // the longest of its buckets
	Outage   *jsonOutage        `json:"outage"`             // the newest that is over; null: none
	Buckets  []jsonWorkerBucket `json:"buckets"`
}

// jsonOutage is a time in which a worker decided alone.
type jsonOutage struct {
	Since   *string `json:"since"`
	Lasted  float64 `json:"lasted"`
	Granted float64 `json:"granted"` // tokens granted alone
	Reason  *string `json:"reason"`
}

// jsonWorkerBucket is what a worker said of one bucket in its newest report.
type jsonWorkerBucket struct {
	jsonKey
	Mode      string     `json:"mode"` // shared, share, closed, open
	Since     *string    `json:"since"`
	Reason    *string    `json:"reason"`
	Share     *float64   `json:"share"` // tokens per second it may use alone in fallback
	ShareText *string    `json:"share_text"`
	Over      *float64   `json:"may_exceed"` // tokens per second it may draw on top of the limit; null: no bound
	OverText  *string    `json:"may_exceed_text"`
	Rate      *float64   `json:"granted_per_second"` // tokens, lately
	Window    bool       `json:"window"`             // a sliding window: capacity tokens in any span of capacity / rate
	Declared  *jsonLimit `json:"declared"`
	Effective *jsonLimit `json:"effective"` // as it saw it last
	Rev       int64      `json:"rev"`       // as it saw it last
	RevNow    int64      `json:"rev_now"`   // the newest; 0: none, or not read
	Level     *float64   `json:"level"`     // as it saw it last
	Granted   float64    `json:"granted"`   // tokens since it started
	Local     float64    `json:"local"`     // of these, without Redis
	Refused   int64      `json:"refused"`
	Calls     int64      `json:"calls"`
	Waiting   int        `json:"waiting"`
	HeadWait  float64    `json:"head_wait"`
	WaitP50   float64    `json:"wait_p50"`
	WaitP99   float64    `json:"wait_p99"`
	CallP99   float64    `json:"call_p99"`
	LargestN  float64    `json:"largest_n"`
}

// jsonVersion is the record of version.
type jsonVersion struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func toKey(key string) jsonKey {
	if utf8.ValidString(key) {
		return jsonKey{Key: &key}
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(key))
	return jsonKey{KeyB64: &encoded}
}

// known returns nil, which becomes null, for what JSON has no number for.
func known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// finite is for counters, which always are a number.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return orNull(t.UTC().Format(time.RFC3339Nano))
}

// toLimit returns nil where nothing of the limit is known, and null for a part
// that is not.
func toLimit(l bucketctl.Limit) *jsonLimit {
	if l.IsZero() {
		return nil
	}
	var j jsonLimit
	if l.Rate != 0 {
		j.Rate, j.RateText = known(l.Rate), orNull(l.RateString())
	}
	if l.Capacity != 0 {
		j.Capacity = known(l.Capacity)
	}
	return &j
}
