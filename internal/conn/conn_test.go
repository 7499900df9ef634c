package conn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	Silence()
	goleak.VerifyTestMain(m)
}

// secret stands in every place where a password can; it must never come out.
const secret = "hunter2"

func noEnv(string) string { return "" }

func withEnv(pairs map[string]string) Env {
	return Env{Getenv: func(name string) string { return pairs[name] }}
}

func resolve(t *testing.T, c Config, env Env) *Target {
	t.Helper()
	target, err := c.Resolve(context.Background(), env)
	if err != nil {
		t.Fatalf("Resolve(%v): %v", c, err)
	}
	return target
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhereItPoints(t *testing.T) {
	for _, c := range []struct {
		name     string
		config   Config
		env      map[string]string
		addr     string
		explicit bool
	}{
		{"default", Config{}, nil, "127.0.0.1:6379", false},
		{"flag", Config{URL: "redis://cache-1:6390/2"}, nil, "cache-1:6390/2", true},
		{"environment", Config{}, map[string]string{EnvURL: "redis://cache-1"}, "cache-1:6379", true},
		{"flag wins", Config{URL: "redis://a"}, map[string]string{EnvURL: "redis://b"}, "a:6379", true},
		{"bare host", Config{URL: "cache-1"}, nil, "cache-1:6379", true},
		{"bare host and port", Config{URL: "cache-1:6390"}, nil, "cache-1:6390", true},
		{"socket", Config{URL: "unix:///run/redis.sock"}, nil, "/run/redis.sock", true},
		{"ipv6", Config{URL: "redis://[::1]:6390"}, nil, "[::1]:6390", true},
		{"user and password", Config{URL: "redis://anna:" + secret + "@cache-1/1"}, nil, "cache-1:6379/1", true},
		{"cluster", Config{URL: "redis://a:1,b:2,c", Cluster: true}, nil, "cluster a:1,b:2,c:6379", true},
		{"cluster in the URL", Config{URL: "redis://a:1?cluster=true"}, nil, "cluster a:1", true},
		{"cluster in the URL, in short", Config{URL: "redis://a:1,b:2?cluster=1"}, nil, "cluster a:1,b:2", true},
		{"commas and @ in the password", Config{URL: "redis://u:p@q," + secret + "@a:1,b:2", Cluster: true}, nil, "cluster a:1,b:2", true},
		{"sentinels", Config{URL: "redis://s1:26379,s2:26379/3", SentinelMaster: "mymaster"}, nil, "mymaster of sentinels s1:26379,s2:26379/3", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := resolve(t, c.config, withEnv(c.env))
			if target.Addr() != c.addr || target.Explicit() != c.explicit {
				t.Errorf("Addr %q, Explicit %t; want %q, %t", target.Addr(), target.Explicit(), c.addr, c.explicit)
			}
		})
	}
}

func TestWhoAsks(t *testing.T) {
	file := writeFile(t, "from-file\r\nsecond line\n")
	ask := func(context.Context, string) (string, error) { return "from-prompt", nil }
	for _, c := range []struct {
		name           string
		config         Config
		env            map[string]string
		user, password string
	}{
		{"nobody", Config{}, nil, "", ""},
		{"environment", Config{}, map[string]string{EnvAuth: "from-env"}, "", "from-env"},
		{"URL before environment", Config{URL: "redis://:from-url@h"}, map[string]string{EnvAuth: "from-env"}, "", "from-url"},
		{"file before URL", Config{URL: "redis://u:from-url@h", PasswordFile: file}, nil, "u", "from-file"},
		{"prompt", Config{User: "anna", AskPass: true}, map[string]string{EnvAuth: "from-env"}, "anna", "from-prompt"},
		{"flag's user before URL's", Config{URL: "redis://u:from-url@h", User: "anna"}, nil, "anna", "from-url"},
		{"escaped in the URL", Config{URL: "redis://u:a%2Fb%40@h"}, nil, "u", "a/b@"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := withEnv(c.env)
			env.ReadPassword = ask
			o := resolve(t, c.config, env).options
			if o.Username != c.user || o.Password != c.password {
				t.Errorf("%q %q, want %q %q", o.Username, o.Password, c.user, c.password)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	notPEM := writeFile(t, "not a certificate")
	for _, c := range []struct {
		name   string
		config Config
		says   string
	}{
		{"two sources", Config{AskPass: true, PasswordFile: "f"}, "--ask-pass and --password-file"},
		{"two topologies", Config{Cluster: true, SentinelMaster: "m"}, "--cluster and --sentinel-master"},
		{"cert alone", Config{TLS: true, TLSCert: "c"}, "--tls-cert and --tls-key"},
		{"key alone", Config{TLS: true, TLSKey: "k"}, "--tls-cert and --tls-key"},
		{"CA without TLS", Config{TLSCA: "ca"}, "--tls-ca needs --tls"},
		{"SNI without TLS", Config{TLSSNI: "n"}, "--tls-sni needs --tls"},
		{"insecure without TLS", Config{TLSInsecure: true}, "--tls-insecure needs --tls"},
		{"insecure and CA", Config{TLS: true, TLSInsecure: true, TLSCA: "ca"}, "--tls-insecure and --tls-ca"},
		{"CA not there", Config{TLS: true, TLSCA: filepath.Join(t.TempDir(), "none")}, "--tls-ca"},
		{"CA no PEM", Config{TLS: true, TLSCA: notPEM}, "no PEM certificate"},
		{"TLS over a socket", Config{URL: "unix:///s", TLS: true}, "unix socket"},
		{"cluster over a socket", Config{URL: "unix:///s", Cluster: true}, "unix socket"},
		{"cluster with a database", Config{URL: "redis://h/2", Cluster: true}, "only database 0"},
		{"hosts without a topology", Config{URL: "redis://a:1,b:2"}, "--cluster or --sentinel-master"},
		{"port", Config{URL: "redis://a:70000"}, "--url: the Redis URL's port must be from 1 to 65535"},
		{"port of another host", Config{URL: "redis://a:1,b:x", Cluster: true}, "can't be read"},
		{"high port of another host", Config{URL: "redis://a:1,b:65536", Cluster: true}, "--url: the Redis URL's port"},
		{"empty host", Config{URL: "redis://a:1,,b:2", Cluster: true}, "empty place"},
		{"namespace with braces", Config{Namespace: "a{b}"}, "--namespace"},
		{"long name", Config{By: strings.Repeat("x", 257)}, "--by is 257 bytes long: at most 256"},
		{"user without a password", Config{User: "anna"}, "without a password"},
		{"prompt without a terminal", Config{AskPass: true}, "needs a terminal"},
		{"password file not there", Config{PasswordFile: filepath.Join(t.TempDir(), "none")}, "--password-file"},
		{"password file empty", Config{PasswordFile: writeFile(t, "\n")}, "first line is empty"},
		{"scheme", Config{URL: "http://u:" + secret + "@h"}, "can't be read"},
		{"port", Config{URL: "redis://u:" + secret + "/@h"}, "can't be read"},
		{"percent", Config{URL: "redis://u:" + secret + "%zz@h"}, "can't be read"},
		{"database", Config{URL: "redis://u:" + secret + "@h/x"}, "can't be read"},
		{"option unknown", Config{URL: "redis://u:" + secret + "@h?x=1"}, "--url: the Redis URL has an option that is not known"},
		{"option without effect", Config{URL: "redis://u:" + secret + "@h?read_timeout=9s"}, "read_timeout has no effect here"},
		{"cluster, maybe", Config{URL: "redis://u:" + secret + "@h?cluster=yes"}, "cluster must be true or false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			target, err := c.config.Resolve(context.Background(), Env{Getenv: noEnv})
			if err == nil {
				t.Fatalf("accepted as %v", target)
			}
			if !strings.Contains(err.Error(), c.says) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("says %q, want one line with %q", err, c.says)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the password is in %q", err)
			}
		})
	}
}

func TestPromptThatFails(t *testing.T) {
	env := Env{Getenv: noEnv, ReadPassword: func(context.Context, string) (string, error) {
		return "", context.Canceled
	}}
	if _, err := (Config{AskPass: true}).Resolve(context.Background(), env); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestSecretsStayInside(t *testing.T) {
	config := Config{URL: "redis://anna:" + secret + "@cache-1:6390/1"}
	target := resolve(t, config, withEnv(nil))
	broken := Config{URL: "redis://anna:" + secret + "%zz@h,i"}
	for _, value := range []any{config, &config, broken, target, *target} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if shown := fmt.Sprintf(verb, value); strings.Contains(shown, secret) {
				t.Errorf("%s of %T shows the password: %s", verb, value, shown)
			}
		}
	}
	if w := target.Warnings(); len(w) != 1 || !strings.Contains(w[0], "--url") || strings.Contains(w[0], secret) {
		t.Errorf("warnings %q, want one about --url", w)
	}
	for _, unverified := range []Config{{URL: "redis://h", TLS: true, TLSInsecure: true}, {URL: "rediss://h?skip_verify=true"}} {
		if w := resolve(t, unverified, withEnv(nil)).Warnings(); len(w) != 1 || !strings.Contains(w[0], "not verified") {
			t.Errorf("%v: warnings %q", unverified, w)
		}
	}
	if w := resolve(t, Config{}, withEnv(map[string]string{EnvURL: config.URL})).Warnings(); len(w) != 0 {
		t.Errorf("warned about the environment, which others can't read: %q", w)
	}
}

func TestTLSName(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"of the URL", Config{URL: "rediss://cache-1"}, "cache-1"},
		{"of whatever is dialled", Config{URL: "redis://cache-1", TLS: true}, ""},
		{"of whatever is dialled in a cluster", Config{URL: "rediss://cache-1", Cluster: true}, ""},
		{"of the flag", Config{URL: "rediss://cache-1", TLSSNI: "redis.internal"}, "redis.internal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := resolve(t, c.config, withEnv(nil)).options.TLSConfig.ServerName; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestFlagsFillConfig(t *testing.T) {
	var c Config
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	c.AddFlags(fs)
	err := fs.Parse([]string{"-u", "redis://h", "--user", "anna", "--password-file", "f", "--ask-pass", "--tls",
		"--tls-ca", "ca", "--tls-cert", "cert", "--tls-key", "key", "--tls-sni", "sni", "--tls-insecure",
		"--sentinel-master", "m", "--cluster", "--namespace", "ns", "--read-only", "--by", "me"})
	want := Config{
		URL: "redis://h", User: "anna", PasswordFile: "f", AskPass: true, TLS: true, TLSCA: "ca", TLSCert: "cert",
		TLSKey: "key", TLSSNI: "sni", TLSInsecure: true, SentinelMaster: "m", Cluster: true, Namespace: "ns", ReadOnly: true, By: "me",
	}
	if err != nil || c != want {
		t.Errorf("%v %#v, want %#v", err, c, want)
	}
}

func TestAuditNameHasADefault(t *testing.T) {
	if by := resolve(t, Config{}, withEnv(nil)).By(); by == "" {
		t.Error("nobody would be named in the audit")
	}
	if by := resolve(t, Config{By: "me"}, withEnv(nil)).By(); by != "me" {
		t.Errorf("by is %q", by)
	}
}

func TestSettingsAreSafe(t *testing.T) {
	o := resolve(t, Config{URL: "redis://h"}, withEnv(nil)).options
	if o.MaxRetries != -1 || !o.ContextTimeoutEnabled || o.DialerRetries != 1 {
		t.Errorf("a script may run twice or outlive its context: %d %t %d", o.MaxRetries, o.ContextTimeoutEnabled, o.DialerRetries)
	}
}
