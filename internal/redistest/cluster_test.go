package redistest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestClusterOfOne(t *testing.T) {
	t.Parallel() // both clusters wait for two seconds
	nodes := Cluster(t, 1)
	c := nodes.Nodes[0].Client(t)
	if err := c.MGet(t.Context(), "a", "b").Err(); err == nil || !strings.HasPrefix(err.Error(), "CROSSSLOT") {
		t.Errorf("MGET over two slots: %v, want CROSSSLOT", err)
	}
	set(t, nodes.Client(t), "key", "value")
	wantValue(t, c, "key", "value")
	if want := nodes.Nodes[0].URL(); nodes.URL() != want {
		t.Errorf("URL() = %q, want %q", nodes.URL(), want)
	}
}

func TestClusterOfThree(t *testing.T) {
	t.Parallel()
	nodes := Cluster(t, 3)
	options, err := redis.ParseClusterURL(nodes.URL())
	if err != nil || len(options.Addrs) != 3 {
		t.Fatalf("ParseClusterURL(%q) = %v, %v, want three addresses", nodes.URL(), options, err)
	}
	c := nodes.Client(t)
	for i := range 30 {
		key := fmt.Sprint("key", i)
		set(t, c, key, key)
		wantValue(t, c, key, key)
	}
	for _, node := range nodes.Nodes {
		if n, err := node.Client(t).DBSize(t.Context()).Result(); err != nil || n == 0 {
			t.Errorf("%s holds %d of the keys (%v), want some", node.Addr, n, err)
		}
	}
}
