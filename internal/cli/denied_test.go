package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"bucketop/internal/redistest"
)

// A change of which only the waking is denied is made, and the warning says just
// that.
func TestAChangeThatWakesNobodyIsMade(t *testing.T) {
	s := redistest.Start(t)
	c := s.Client(t)
	put(t, c, "b:1")
	if err := c.Do(t.Context(), "ACL", "SETUSER", "deaf", "on", ">p", "~*", "&*", "+@all", "-publish").Err(); err != nil {
		t.Fatal(err)
	}
	r := realRun(t, "redis://deaf:p@"+s.Addr, "hold", "b:1", "-o", "json")
	warned := strings.HasPrefix(r.stderr, "bucketop: warning: the change is written, but nobody was woken (who waits looks again within 5 s): NOPERM")
	if r.code != ExitOK || !warned || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stdout, `"kind": "hold"`) || !strings.Contains(r.stdout, `"lacks": "nobody was woken`) {
		t.Errorf("%+v", r)
	}
}

// A bucket that nobody can take from is not ok, and its change says which key is in
// the way.
func TestARecordThatIsNone(t *testing.T) {
	s := redistest.Start(t)
	c := s.Client(t)
	put(t, c, "b:1")
	if err := c.Set(t.Context(), "bucketctl:limit:{b:1}", "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if r := realRun(t, s.URL(), "ls"); r.code != ExitOK || !strings.Contains(r.stdout, "CORRUPT") || !strings.Contains(r.stdout, "bucketctl:limit:{b:1}, is no hash") {
		t.Errorf("%+v", r)
	}
	if r := realRun(t, s.URL(), "hold", "b:1"); r.code != ExitFailed || !strings.Contains(r.stderr, "a key of the namespace") {
		t.Errorf("%+v", r)
	}
}

// What ls lists can be taken out of the list.
func TestDeletingWhatHasNoState(t *testing.T) {
	s := redistest.Start(t)
	c := s.Client(t)
	put(t, c, "b:1")
	if err := c.Del(t.Context(), "b:1").Err(); err != nil {
		t.Fatal(err)
	}
	if r := realRun(t, s.URL(), "reset", "b:1", "--delete"); r.code != ExitOK || !strings.Contains(r.stdout, "forgotten") || r.stderr != "" {
		t.Errorf("%+v", r)
	}
	if r := realRun(t, s.URL(), "ls", "-o", "json"); r.stdout != "[]\n" {
		t.Errorf("ls after it: %+v", r)
	}
	if r := realRun(t, s.URL(), "reset", "b:1", "--delete"); r.code != ExitNotFound || r.stdout != "" {
		t.Errorf("again: %+v", r)
	}
}

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
		Type       *string
		Problems   []struct{ Code string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != ExitFailed || len(got) != 2 ||
		got[0].State != "denied" || got[0].Level != nil || got[0].Type != nil || got[1].Type == nil || got[0].Problems[0].Code != "denied" || got[1].State != "ok" {
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
