package cli

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
	"bucketop/internal/schema"
)

// Whoever may write reports must not drive the operator's terminal.
func TestHostileReports(t *testing.T) {
	s := redistest.Start(t)
	bad := `"\u001b[2J\n\u202e\u0000\u0007"`
	report := `{"id":` + bad + `,"app":` + bad + `,"host":` + bad + `,"version":` + bad + `,"fallback":"share","interval":60000000,` +
		`"buckets":[{"key":` + bad + `,"mode":"shared","reason":` + bad + `,"declared":{"rate":1,"capacity":1}}]}`
	keys, err := schema.New("bucketctl")
	if err != nil {
		t.Fatal(err)
	}
	err = s.Client(t).XAdd(t.Context(), &redis.XAddArgs{Stream: keys.Reports(), Values: []string{schema.FieldReport, report}}).Err()
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"table", "tsv", "json", "jsonl"} {
		r := realRun(t, s.URL(), "workers", "-o", format)
		if r.code != ExitOK || !strings.Contains(r.stdout, "[2J") || strings.ContainsAny(r.stdout+r.stderr, "\x1b\x00\x07\r\u202e") {
			t.Errorf("%s: exit %d, %q", format, r.code, r.stdout)
		}
	}
}
