package bucketctl

import (
	"testing"

	"github.com/redis/go-redis/v9"
)

func newAdmin(t *testing.T, c redis.UniversalClient) *Admin {
	t.Helper()
	a, err := NewAdmin(AdminConfig{Client: c, By: "anna@ops1"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// takeFrom runs the take script as a worker of generation 1 does: it brings a
// bucket into being with a limit and some tokens gone, without a worker.
func takeFrom(t *testing.T, c redis.UniversalClient, key string, limit Limit, n float64) verdict {
	t.Helper()
	a := newAdmin(t, c)
	r, err := runScript(t.Context(), c, a.scripts.take, []string{key, a.keys.Limit(key)}, takeArguments(limit, 1, 0, n, 0)...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := decodeTake(r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
