package bucketctl

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rateUnit is a unit that a rate may be given in.
type rateUnit struct {
	d     time.Duration
	names []string // all that are read; the first is shown
}

func rateUnits() []rateUnit {
	return []rateUnit{
		{time.Second, []string{"s", "sec", "second", "seconds"}},
		{time.Minute, []string{"min", "m", "minute", "minutes"}},
		{time.Hour, []string{"h", "hour", "hours"}},
		{24 * time.Hour, []string{"day", "d", "days"}},
	}
}

// decimal is the only form of a number that is read: digits, and at most one
// point with digits on both sides. strconv alone would take NaN, Inf, 0x1p4
// and 1_000 too.
var decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// ParseLimit reads a limit such as "300/min", "300/min burst 15", "7.5/s" or
// "10/10s burst 5"; units are s, min, h and day, or a duration. Without a
// burst the capacity is Per's default. Errors are ErrLimit.
func ParseLimit(text string) (Limit, error) {
	words := strings.Fields(text)
	if len(words) != 1 && (len(words) != 3 || words[1] != "burst") {
		return Limit{}, fmt.Errorf("%w: %q: write it as 300/min or 300/min burst 15", ErrLimit, text)
	}
	limit, err := ParseRate(words[0])
	if err != nil || len(words) == 1 {
		return limit, err
	}
	limit.Capacity, err = ParseCapacity(words[2], limit.Rate)
	return limit, err
}

// ParseRate reads a rate such as "300/min", "7.5/s", "25000/day" or "10/10s"
// and returns a limit with Per's default capacity. Errors are ErrLimit.
func ParseRate(text string) (Limit, error) {
	count, unit, found := strings.Cut(text, "/")
	if !found {
		return Limit{}, fmt.Errorf("%w: rate %q: it needs a unit, such as 300/min or 5/s", ErrLimit, text)
	}
	n, err := parseNumber(count)
	if err != nil {
		return Limit{}, fmt.Errorf("%w: rate %q: %w", ErrLimit, text, err)
	}
	per, err := parseUnit(unit)
	if err != nil {
		return Limit{}, fmt.Errorf("%w: rate %q: %w", ErrLimit, text, err)
	}
	limit := Per(n, per)
	return limit, limit.Validate()
}

// ParseCapacity reads a capacity in tokens ("22", "0.5k" is not read) or in
// seconds of rate ("3s", "1m30s"), which needs the rate it stands beside, in
// tokens per second. Errors are ErrLimit.
func ParseCapacity(text string, rate float64) (float64, error) {
	capacity, err := parseNumber(text)
	if err != nil {
		d, bad := time.ParseDuration(text)
		if bad != nil || d <= 0 || !startsWithDigit(text) {
			return 0, fmt.Errorf("%w: capacity %q: %w, or seconds of rate such as 3s", ErrLimit, text, err)
		}
		if validateRate(rate) != nil {
			return 0, fmt.Errorf("%w: capacity %q: the rate is not known, give tokens", ErrLimit, text)
		}
		capacity = d.Seconds() * rate
	}
	return capacity, validateCapacity(capacity)
}

// parseNumber reads an unsigned decimal number. Its errors say what to write.
func parseNumber(text string) (float64, error) {
	switch {
	case text == "":
		return 0, fmt.Errorf("the number is missing")
	case strings.Contains(text, ","):
		return 0, fmt.Errorf("write %q without commas", text)
	case !decimal.MatchString(text):
		return 0, fmt.Errorf("%q is not a plain number such as 300 or 7.5", text)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) {
		return 0, fmt.Errorf("%q is too large", text)
	}
	return n, nil
}

// parseUnit reads what stands behind the slash: a unit's name, or a duration
// that starts with a digit.
func parseUnit(text string) (time.Duration, error) {
	for _, u := range rateUnits() {
		if slices.Contains(u.names, text) {
			return u.d, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || !startsWithDigit(text) {
		return 0, fmt.Errorf("unknown unit %q: use s, min, h, day or a duration such as 10s", text)
	}
	return d, nil
}

func startsWithDigit(text string) bool {
	return text != "" && text[0] >= '0' && text[0] <= '9'
}

// unitName is the inverse of parseUnit.
func unitName(d time.Duration) string {
	for _, u := range rateUnits() {
		if u.d == d {
			return u.names[0]
		}
	}
	return d.String()
}

// formatNumber is the shortest decimal text of x, rounded to 12 digits so that
// 5.000000000000001 a second is shown as the 300 a minute that it was.
func formatNumber(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	if err != nil {
		rounded = x
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
