package bucketctl

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
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
		"redis://h:7000?cluster=1":                  {Addrs: []string{"h:7000"}, IsClusterMode: true},
		"redis://h:7000?cluster=0":                  {Addrs: []string{"h:7000"}},
		"redis://h:7000?client_name=geocoder":       {Addrs: []string{"h:7000"}, ClientName: "geocoder"},
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
			got.Password != want.Password || got.IsClusterMode != want.IsClusterMode || got.Protocol != want.Protocol || got.PoolSize != want.PoolSize || got.ClientName != want.ClientName {
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
		"redis://:open-sesame@h?nope=1", "redis://:open%zzsesame@h", "redis://:open-sesame@h\x7f", "redis://:12?open=sesame@h", "redis://:open-sesame@h?a=1;b=2",
		"redis://:open-sesame@h?cluster=true&nope=1",
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

// An option of a URL has its effect, or is refused in one sentence that says what
// to do.
func TestOptionsOfURLsThatCannotBe(t *testing.T) {
	for query, says := range map[string]string{
		"cluster":                  "cluster must be true or false",
		"cluster=yes":              "cluster must be true or false",
		"cluster=True":             "cluster must be true or false",
		"cluster=true&cluster=0":   "cluster more than once",
		"Cluster=true":             "not known",
		"addr=h:7001":              "not known",
		"read_only=true":           "not known",
		"read_timeout=5s":          "read_timeout has no effect",
		"max_retries=3&db=1":       "max_retries has no effect",
		"pool_timeout=1":           "pool_timeout has no effect",
		"pool_size=0":              "pool_size must be a whole number from 1",
		"pool_size=-4":             "pool_size must be a whole number from 1",
		"db=x":                     "db must be a whole number from 0",
		"db=-1":                    "db must be a whole number from 0",
		"db=":                      "db must be a whole number from 0",
		"protocol=4":               "protocol must be 2 or 3",
		"client_name=":             "client_name must be a name",
		"skip_verify=true":         "skip_verify needs rediss://",
		"cluster=true#frag":        "#",
		"cluster=true&nope=sesame": "not known",
	} {
		_, err := Options("redis://:p@h:7000?" + query)
		var wrong *URLError
		if !errors.As(err, &wrong) || !errors.Is(err, ErrConfig) || !strings.Contains(wrong.Because, says) || strings.ContainsAny(wrong.Because, "\n") {
			t.Errorf("%s: %v, want %q", query, err, says)
		}
	}
	for wrong, says := range map[string]string{
		"redis://h/-1":             "database must be a whole number from 0",
		"redis://h/1?db=2":         "names a database twice",
		"unix://run/redis.sock":    "three slashes",
		"unix:///s?cluster=true":   "a cluster at a unix socket",
		"unix://u:p@/s?nope=1&x=2": "not known",
	} {
		if _, err := Options(wrong); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", wrong, err, says)
		}
	}
	for _, port := range []string{"0", "65536", "99999", "999999999999999999999"} {
		var wrong *URLError
		if _, err := Options("redis://h:" + port); !errors.As(err, &wrong) || !strings.Contains(wrong.Because, "port must be from 1 to 65535") {
			t.Errorf("port %s: %v", port, err)
		}
	}
	if o, err := Options("rediss://h?skip_verify=1"); err != nil || !o.TLSConfig.InsecureSkipVerify {
		t.Errorf("skip_verify: %+v, %v", o, err)
	}
	// Every name that the client's own parsers take is either read here or refused by name.
	for _, name := range tunedOptions() {
		if _, err := redis.ParseURL("redis://h?" + name + "=1"); err != nil {
			if _, err = redis.ParseClusterURL("redis://h?" + name + "=1"); err != nil {
				t.Errorf("%s: the client does not know it: %v", name, err)
			}
		}
	}
}
