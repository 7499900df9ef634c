package bucketctl

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

func TestNewClientIsOfTheRightSort(t *testing.T) {
	for name, tt := range map[string]struct {
		options redis.UniversalOptions
		cluster bool
	}{
		"one server":            {redis.UniversalOptions{Addrs: []string{"h:1"}}, false},
		"a cluster by its flag": {redis.UniversalOptions{Addrs: []string{"h:1"}, IsClusterMode: true}, true},
		"a cluster by its size": {redis.UniversalOptions{Addrs: []string{"h:1", "h:2"}}, true},
		"a sentinel's":          {redis.UniversalOptions{Addrs: []string{"h:1", "h:2"}, MasterName: "m"}, false},
	} {
		Tune(&tt.options)
		c := NewClient(&tt.options)
		cluster, ok := c.(*redis.ClusterClient)
		if ok != tt.cluster {
			t.Errorf("%s: %T", name, c)
		}
		if ok {
			o := cluster.Options()
			if o.ClusterStateReloadInterval != clusterReload || !o.ContextTimeoutEnabled || o.MaxRetries > 0 {
				t.Errorf("%s: %+v", name, o)
			}
		}
		if one, ok := c.(*redis.Client); ok && (one.Options().MaxRetries > 0 || !one.Options().ContextTimeoutEnabled) {
			t.Errorf("%s: %+v", name, one.Options())
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUnixSocketsAreReached(t *testing.T) {
	s := redistest.Start(t)
	c := patientClient(t, s, func(c *Config) { c.URL = "unix://" + s.Socket })
	d, err := mustBucket(t, c, "k", PerSecond(1)).AllowN(t.Context(), 1)
	if err != nil || d.Mode != ModeShared {
		t.Errorf("%+v, %v", d, err)
	}
}

// A client with the package's own defaults would charge a request several
// times after a timeout; it is used, and its owner is told.
func TestDangerousSettingsOfAGivenClientAreTold(t *testing.T) {
	s := redistest.Start(t)
	for name, tt := range map[string]struct {
		client redis.UniversalClient
		says   []string
	}{
		"defaults":        {redis.NewClient(&redis.Options{Addr: s.Addr}), []string{"repeats calls", "ignores deadlines"}},
		"defaults, nodes": {redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{s.Addr}, MaxRedirects: 1, MaxRetries: 2}), []string{"repeats calls", "ignores deadlines"}},
		"tuned":           {s.Client(t), nil},
	} {
		var log logBuffer
		c := openClient(t, s, func(c *Config) { c.URL, c.Client = "", tt.client }, logInto(&log))
		all := strings.Join(log.lines(), "\n")
		for _, says := range tt.says {
			if !strings.Contains(all, says) {
				t.Errorf("%s: the log does not say %q: %s", name, says, all)
			}
		}
		if tt.says == nil && all != "" {
			t.Errorf("%s: %s", name, all)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := tt.client.Close(); err != nil {
			t.Errorf("%s: the given client was closed: %v", name, err)
		}
	}
}

// Who finds all connections in use is told so before the call's own time is up.
func TestThePoolGivesUpBeforeTheCallDoes(t *testing.T) {
	c := openClient(t, redistest.Start(t))
	client, ok := c.redis.(*redis.Client)
	if !ok {
		t.Fatalf("a %T for one server", c.redis)
	}
	if got := client.Options().PoolTimeout; got <= 0 || got >= callTimeout {
		t.Errorf("the pool gives up after %v, a call after %v", got, callTimeout)
	}
}
