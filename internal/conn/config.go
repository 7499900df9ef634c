// Package conn turns flags, environment and a URL into a Redis client with
// settings that are safe for an operator's tool. Secrets come in here and never
// leave in a text: not in an address, an error, or a printed struct.
package conn

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"bucketop/internal/schema"
)

// DefaultURL is used when neither --url nor REDIS_URL names a server.
const DefaultURL = "redis://127.0.0.1:6379"

// Names of the environment variables that are read.
const (
	EnvURL  = "REDIS_URL"
	EnvAuth = "REDISCLI_AUTH"
)

// maxBy bounds the name written into every event, in bytes.
const maxBy = 256

// Config is what flags say about the connection. The zero Config, resolved,
// is the server at DefaultURL without a password.
type Config struct {
	// URL names the server: redis://host:6379/0, rediss:// for TLS,
	// unix:///path, or host:port alone. Several hosts may be listed with
	// commas, for a cluster's or sentinels' seeds. Default: REDIS_URL, else
	// DefaultURL.
	URL string

	// User is the ACL user. Default: the URL's.
	User string

	// PasswordFile is a file whose first line is the password. It wins over
	// the URL's password, which wins over REDISCLI_AUTH.
	PasswordFile string

	// AskPass asks for the password on the terminal. Excludes PasswordFile.
	AskPass bool

	// TLS encrypts the connection, as a rediss:// URL does. The other TLS
	// fields need one of the two.
	TLS         bool
	TLSCA       string // file of PEM certificates to trust instead of the system's
	TLSCert     string // file of the client's certificate; needs TLSKey
	TLSKey      string // file of the client's key; needs TLSCert
	TLSSNI      string // name that the server's certificate must carry; default: the host
	TLSInsecure bool   // don't verify the server's certificate

	// SentinelMaster is the name of a master that the sentinels at URL know.
	// Excludes Cluster.
	SentinelMaster string

	// Cluster treats URL as the seeds of a cluster.
	Cluster bool

	// Namespace is where everything but the buckets themselves lies. No
	// braces. Default: "bucketctl".
	Namespace string

	// ReadOnly refuses every change.
	ReadOnly bool

	// By names who makes the changes, for the audit; at most 256 bytes.
	// Default: user@host of this process.
	By string
}

// AddFlags defines the flags that fill c.
func (c *Config) AddFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&c.URL, "url", "u", "", "`URL` of Redis, or env "+EnvURL+" (default "+DefaultURL+")")
	fs.StringVar(&c.User, "user", "", "`NAME` of the ACL user")
	fs.StringVar(&c.PasswordFile, "password-file", "", "read the password from the first line of `FILE`; or env "+EnvAuth)
	fs.BoolVar(&c.AskPass, "ask-pass", false, "ask for the password on the terminal")
	fs.BoolVar(&c.TLS, "tls", false, "encrypt, as a rediss:// URL does")
	fs.StringVar(&c.TLSCA, "tls-ca", "", "trust the certificates in `FILE` instead of the system's")
	fs.StringVar(&c.TLSCert, "tls-cert", "", "client certificate `FILE`")
	fs.StringVar(&c.TLSKey, "tls-key", "", "client key `FILE`")
	fs.StringVar(&c.TLSSNI, "tls-sni", "", "server `NAME` to ask for and to verify")
	fs.BoolVar(&c.TLSInsecure, "tls-insecure", false, "don't verify the server's certificate")
	fs.StringVar(&c.SentinelMaster, "sentinel-master", "", "the URL names sentinels; use their master `NAME`")
	fs.BoolVar(&c.Cluster, "cluster", false, "the URL names nodes of a cluster")
	fs.StringVar(&c.Namespace, "namespace", schema.DefaultNamespace, "`NAME` under which bucketctl's own keys lie, the same as the workers'")
	fs.BoolVar(&c.ReadOnly, "read-only", false, "refuse every change")
	fs.StringVar(&c.By, "by", "", "`NAME` written into the audit (default user@host)")
}

// validate names the flag that can't work, and its bound. It looks at what the
// flags say among themselves; what depends on the URL is checked by Resolve.
func (c Config) validate() error {
	switch {
	case c.AskPass && c.PasswordFile != "":
		return errors.New("--ask-pass and --password-file exclude each other")
	case c.Cluster && c.SentinelMaster != "":
		return errors.New("--cluster and --sentinel-master exclude each other")
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return errors.New("--tls-cert and --tls-key need each other")
	case c.TLSInsecure && c.TLSCA != "":
		return errors.New("--tls-insecure and --tls-ca exclude each other: one verifies, the other does not")
	case len(c.By) > maxBy:
		return fmt.Errorf("--by is %d bytes long: at most %d", len(c.By), maxBy)
	}
	if _, err := schema.New(c.Namespace); err != nil {
		return fmt.Errorf("--namespace: %w", err)
	}
	return nil
}

// String shows the config without any secret.
func (c Config) String() string {
	return fmt.Sprintf("conn.Config{URL:%s User:%q PasswordFile:%q SentinelMaster:%q Cluster:%t Namespace:%q ReadOnly:%t}",
		hideURL(c.URL), c.User, c.PasswordFile, c.SentinelMaster, c.Cluster, c.Namespace, c.ReadOnly)
}

// GoString is String, so that %#v hides secrets too.
func (c Config) GoString() string { return c.String() }

// hideURL shows where a URL points and nothing of who asks. A URL that can't
// be read is not shown at all: nobody knows where its password stands.
func hideURL(raw string) string {
	if raw == "" {
		return `""`
	}
	first, _, err := splitHosts(withScheme(raw))
	if err != nil {
		return "(unreadable)"
	}
	u, err := url.Parse(first)
	if err != nil {
		return "(unreadable)"
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// withScheme makes a URL of a bare host:port.
func withScheme(raw string) string {
	if strings.Contains(raw, "://") {
		return raw
	}
	return "redis://" + raw
}
