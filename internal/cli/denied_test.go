package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"bucketop/internal/redistest"
)

// Who may read some buckets sees these, is told of each of the others what is
// wrong, and his script learns of it.
func TestBucketsThatTheACLKeepsFromTheUser(t *testing.T) {
	s := redistest.Start(t)
	c := s.Client(t)
	for _, key := range []string{"b:1", "b:2", "hers"} {
		put(t, c, key)
	}
	if err := c.Do(t.Context(), "ACL", "SETUSER", "some", "on", ">p", "~b:*", "~bucketctl:*", "+@all").Err(); err != nil {
		t.Fatal(err)
	}
	url := "redis://some:p@" + s.Addr
	for _, args := range [][]string{{"get", "b:1", "hers", "b:2"}, {"get", "b:unknown", "b:1", "hers", "b:2"}, {"get", "hers", "b:1", "b:unknown", "b:2"}} {
		r := realRun(t, url, args...)
		if r.code != ExitFailed || strings.Count(r.stdout, "state") != 3 || !strings.Contains(r.stdout, "DENIED") ||
			!strings.Contains(r.stderr, `refuses to read "hers": NOPERM`) || strings.Count(r.stderr, "\n") != len(args)-3 {
			t.Errorf("%q: %+v", args, r)
		}
	}
	r := realRun(t, url, "get", "-o", "json", "hers", "b:1")
	var got []struct {
		Key, State string
		Level      *float64
		Problems   []struct{ Code string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != ExitFailed || len(got) != 2 ||
		got[0].State != "denied" || got[0].Level != nil || got[0].Problems[0].Code != "denied" || got[1].State != "ok" {
		t.Errorf("%+v, %v", r, err)
	}
	r = realRun(t, url, "ls")
	if r.code != ExitFailed || strings.Count(r.stdout, "\n") != 4 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "1 of 3 buckets") {
		t.Errorf("ls: %+v", r)
	}
	if r = realRun(t, url, "ls", "--match", "*"); r.code != ExitOK || strings.Count(r.stdout, "\n") != 3 || !strings.Contains(r.stderr, "1 of the scanned keys") {
		t.Errorf("ls --match: %+v", r)
	}
	if r = realRun(t, url, "hold", "hers"); r.code != ExitFailed || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("hold: %+v", r)
	}
}
