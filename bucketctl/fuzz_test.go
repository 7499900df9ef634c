package bucketctl

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// A text is refused as ErrLimit, or it is a limit that can be used, and that
// is read again as it is written.
func FuzzParseLimit(f *testing.F) {
	for _, seed := range []string{
		"300/min burst 15", "7.5/s", "25000/day", "10/10s burst 5", "1/100µs", "NaN/s", "0x1p4/s", "1_000/s", "1,000/s",
		"", "/", "5/s burst 3s", "-1/s", "1e400/s", "300/min\x00", "5/s burst \xff", "0.00000000100000000001/s",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limit, err := ParseLimit(text)
		if err != nil {
			if !errors.Is(err, ErrLimit) {
				t.Fatalf("ParseLimit(%q): %v is no ErrLimit", text, err)
			}
			return
		}
		if err := limit.Validate(); err != nil {
			t.Fatalf("ParseLimit(%q) took %+v: %v", text, limit, err)
		}
		again, err := ParseLimit(limit.String())
		if err != nil && atBound(limit) {
			return // rounding to 12 digits may lead out of the range
		}
		if err != nil || !close12(again.Rate, limit.Rate) || !close12(again.Capacity, limit.Capacity) || again.Per != limit.Per {
			t.Fatalf("%q is %+v, which is written %q and read %+v, %v", text, limit, limit, again, err)
		}
	})
}

func atBound(l Limit) bool {
	return close12(l.Rate, MinRate) || close12(l.Rate, MaxRate) || close12(l.Capacity, MinCapacity) || close12(l.Capacity, MaxCapacity)
}

func FuzzParseLimitChange(f *testing.F) {
	f.Add("450/min", "3s", "1h")
	f.Add("x0.5", "x2", "forever")
	f.Add("declared", "declared", "")
	f.Add("x", "0x10", "9d")
	f.Fuzz(func(t *testing.T, rate, capacity, end string) {
		s := changing()
		c, err := ParseLimitChange(s, rate, capacity, end)
		if err != nil {
			if !errors.Is(err, ErrLimit) {
				t.Fatalf("%q %q %q: %v is no ErrLimit", rate, capacity, end, err)
			}
			return
		}
		o, after, err := c.Preview(s)
		if err != nil {
			t.Fatalf("%q %q %q is taken, and then not possible: %v", rate, capacity, end, err)
		}
		if err := after.Validate(); err != nil {
			t.Fatalf("%q %q %q leads to %v: %v", rate, capacity, end, after, err)
		}
		if !o.Until.IsZero() && !o.Until.After(s.At) {
			t.Fatalf("%q %q %q: an override that ended at %v", rate, capacity, end, o.Until)
		}
	})
}

// Replies come from scripts of the same version, but also through proxies and
// from servers that answer otherwise than expected: they are never trusted to
// be of a type.
func FuzzDecodeReplies(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 5, 3, 5, 3, 5, 1, 1})
	f.Add([]byte{3, 1, 3, 4, 4, 4, 4, 1})
	f.Add([]byte{3, 0, 1, 9, 3, 4, 4, 3, 1, 3, 1, 4, 0, 4, 0, 4, 0, 1, 5})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := someReply(&data, 20)
		if v, err := decodeOne(r, takeArguments(PerSecond(1), 1, 0, 1, 0)); err == nil && (v.code < codeCharged || v.code > codeImpossible) {
			t.Fatalf("%v is decoded to code %d", r, v.code)
		}
		if change, _, err := decodeChange("k", r); err == nil && change.Before.At.IsZero() {
			t.Fatalf("%v is decoded to a change at no time", r)
		}
	})
}

// FuzzDecodeReport: readers pass over what they can't read, and what they can
// has a name.
func FuzzDecodeReport(f *testing.F) {
	f.Add(encodeReport(Worker{ID: "w", Buckets: []WorkerBucket{{Key: "\xff", Level: math.NaN()}}}))
	f.Add(`{"id":"w","buckets":[{"key_b64":"!"}]}`)
	f.Add("null")
	f.Add("[]")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := decodeReport(text, time.Unix(1, 0))
		if err == nil && w.ID == "" {
			t.Fatalf("%q is decoded to a worker without a name", text)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "bucketctl: ") {
			t.Fatalf("%q: %v does not say whose error it is", text, err)
		}
	})
}

// someReply makes a list of whatever the bytes say.
func someReply(data *[]byte, most int) reply {
	r := reply{}
	for len(r) < most && len(*data) > 0 {
		r = append(r, someValue(data))
	}
	return r
}

func someValue(data *[]byte) any {
	next := func() byte {
		if len(*data) == 0 {
			return 0
		}
		b := (*data)[0]
		*data = (*data)[1:]
		return b
	}
	switch next() % 8 {
	case 1:
		return int64(next()) - 3
	case 2:
		return []float64{0, -1, 1e300, math.NaN(), math.Inf(1)}[next()%5]
	case 3:
		return []string{"", "ok", "1", "-1e5", "nan", "0x10", "hash", "tokens", "hold"}[next()%9]
	case 4:
		return []any(someReply(data, int(next()%5)))
	case 5:
		return errors.New("ERR nested")
	case 6:
		return int64(math.MinInt64) + int64(next())
	case 7:
		return map[any]any{"a": int64(1)}
	}
	return nil
}
