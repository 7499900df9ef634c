package bucketctl

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

func TestOptions(t *testing.T) {
	for url, want := range map[string]redis.UniversalOptions{
		"redis://h":                                 {Addrs: []string{"h:6379"}},
		"redis://h:7000/3":                          {Addrs: []string{"h:7000"}, DB: 3},
		"redis://anna:p%40ss@h:7000":                {Addrs: []string{"h:7000"}, Username: "anna", Password: "p@ss"},
		"redis://:secret@h:7000/2":                  {Addrs: []string{"h:7000"}, Password: "secret", DB: 2},
		"redis://h:7000?cluster=true":               {Addrs: []string{"h:7000"}, IsClusterMode: true},
		"redis://a:p%40ss@h:7000?cluster=true&db=0": {Addrs: []string{"h:7000"}, Username: "a", Password: "p@ss", IsClusterMode: true},
		"redis://h:7000?cluster=false":              {Addrs: []string{"h:7000"}},
		"redis://h:7000?protocol=2&pool_size=5":     {Addrs: []string{"h:7000"}, Protocol: 2, PoolSize: 5},
		"unix:///run/redis.sock":                    {Addrs: []string{"/run/redis.sock"}},
		"unix://anna:secret@/run/redis.sock?db=1":   {Addrs: []string{"/run/redis.sock"}, Username: "anna", Password: "secret", DB: 1},
		"redis://[::1]:7000":                        {Addrs: []string{"[::1]:7000"}},
	} {
		got, err := Options(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if strings.Join(got.Addrs, ",") != strings.Join(want.Addrs, ",") || got.DB != want.DB || got.Username != want.Username ||
			got.Password != want.Password || got.IsClusterMode != want.IsClusterMode || got.Protocol != want.Protocol || got.PoolSize != want.PoolSize {
			t.Errorf("%s: %+v, want %+v", url, got, want)
		}
		if got.TLSConfig != nil {
			t.Errorf("%s: TLS that nobody asked for", url)
		}
		if got.MaxRetries != -1 || !got.ContextTimeoutEnabled || got.ReadTimeout != time.Second || got.DialerRetries != 1 {
			t.Errorf("%s: settings that a limiter can't live with: %+v", url, got)
		}
	}
	if got, err := Options("rediss://h"); err != nil || got.TLSConfig == nil || got.TLSConfig.ServerName != "h" {
		t.Errorf("rediss: %+v, %v", got, err)
	}
}

func TestUnreadableURLsAreNotQuoted(t *testing.T) {
	for _, url := range []string{
		"", "h:6379", "http://:open-sesame@h", "redis://:open-sesame@h:port", "redis://:open-sesame@h/x", "redis://:open-sesame@h:1/0/1",
		"redis://:open-sesame@h?nope=1", "redis://:open%zzsesame@h", "redis://:open-sesame@h\x7f", "redis://:open-sesame@h?cluster=true&nope=1",
	} {
		_, err := Options(url)
		if !errors.Is(err, ErrConfig) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%q: %v, want an ErrConfig that shows no password", url, err)
		}
		if _, err = Open(t.Context(), Config{URL: url, Logger: quiet()}); !errors.Is(err, ErrConfig) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("Open with %q: %v", url, err)
		}
	}
}

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
