package cli

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"bucketop/bucketctl"
)

// decimal is the only form of a number that is read, as in bucketctl: strconv
// alone would take NaN, Inf, 0x1p4 and 1_000 too.
var decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// parseTarget reads what --to says.
func parseTarget(text string) (bucketctl.Target, error) {
	switch text {
	case "full":
		return bucketctl.ToFull(), nil
	case "empty":
		return bucketctl.ToEmpty(), nil
	}
	tokens, err := strconv.ParseFloat(text, 64)
	if !decimal.MatchString(text) || err != nil || tokens > bucketctl.MaxCapacity {
		return bucketctl.Target{}, usagef("--to %q: write full, empty or a plain number of tokens such as 5, at most %s",
			text, showNumber(bucketctl.MaxCapacity))
	}
	return bucketctl.ToLevel(tokens), nil
}

// parseRev reads what --if-rev says.
func parseRev(text string) (bucketctl.Rev, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, usagef("--if-rev %q: write the rev that bucketop get shows, such as 12; 0 is a bucket never changed", text)
	}
	rev, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, usagef("--if-rev %q: the number is too large", text)
	}
	return bucketctl.Rev(rev), nil
}

// parseSince reads how far back --since reaches: a duration, with days, or a
// moment, of which the zero time stands for the other.
func parseSince(text string) (time.Duration, time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return 0, at, nil
	}
	var d time.Duration
	var err error
	if days, isDays := strings.CutSuffix(text, "d"); isDays && decimal.MatchString(days) {
		var n float64
		n, err = strconv.ParseFloat(days, 64)
		d = time.Duration(min(n, maxSinceDays) * float64(24*time.Hour))
	} else {
		d, err = time.ParseDuration(text)
	}
	if err != nil || d <= 0 || text[0] < '0' || text[0] > '9' {
		return 0, time.Time{}, usagef("--since %q: write 30m, 2h, 1d or a time such as 2026-01-31T14:00:00Z", text)
	}
	return d, time.Time{}, nil
}

// maxSinceDays keeps the arithmetic of --since within a time.Duration; no
// event is that old.
const maxSinceDays = 36500

// showNumber is the shortest decimal text of x for people, of at most six digits
// behind the point.
func showNumber(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "?"
	}
	text := strconv.FormatFloat(x, 'f', 6, 64)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// showTokens is a level for people: two digits behind the point tell enough.
func showTokens(x float64) string {
	if math.IsNaN(x) {
		return "?"
	}
	return showNumber(math.Round(x*100) / 100)
}

// showRate is a rate in tokens per second, in the unit that limit was declared
// in. Four digits tell enough; those before the point all stay.
func showRate(rate float64, limit bucketctl.Limit) string {
	n, unit := bucketctl.Limit{Rate: rate, Per: limit.Per}.InUnit()
	if n <= 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return bucketctl.Limit{Rate: rate, Per: limit.Per}.RateString()
	}
	places := max(0, 3-int(math.Floor(math.Log10(n))))
	text := strconv.FormatFloat(n, 'f', places, 64)
	if rounded, err := strconv.ParseFloat(text, 64); err == nil {
		n = rounded
	}
	return bucketctl.Limit{Rate: n / unit.Seconds(), Per: limit.Per}.RateString()
}
