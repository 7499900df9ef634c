package conn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"bucketop/bucketctl"
)

// Env is what Resolve reads besides the flags.
type Env struct {
	// Getenv is os.Getenv, or a test's. Required.
	Getenv func(string) string

	// ReadPassword asks on the terminal without echo; nil where there is none.
	ReadPassword func(ctx context.Context, prompt string) (string, error)
}

// Target is a Redis that may be dialled: complete options, and what may be
// said about them. It is only ever printed by Addr.
type Target struct {
	options   *redis.UniversalOptions
	explicit  bool
	warnings  []string
	namespace string
	by        string
	readOnly  bool
}

// Resolve reads the URL, the password and the certificates. It dials nothing.
// Its errors name the flag or variable to change and never quote a secret.
func (c Config) Resolve(ctx context.Context, env Env) (*Target, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	raw, source := c.source(env)
	options, err := readURL(raw)
	var wrong *bucketctl.URLError
	if errors.As(err, &wrong) {
		return nil, fmt.Errorf("%s: %s", source, wrong.Because)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	t := &Target{
		options: options, explicit: source != "the default URL",
		namespace: c.Namespace, by: c.By, readOnly: c.ReadOnly,
	}
	if t.by == "" {
		t.by = processOwner()
	}
	if source == flagURL && options.Password != "" {
		t.warnings = append(t.warnings, "the password in --url is visible to every user of this machine: use "+
			EnvAuth+", --password-file or --ask-pass")
	}
	if err := c.applyTopology(options); err != nil {
		return nil, err
	}
	if err := c.applyTLS(options); err != nil {
		return nil, err
	}
	if options.TLSConfig != nil && options.TLSConfig.InsecureSkipVerify {
		t.warnings = append(t.warnings, "the server's certificate is not verified: anybody on the way can pose as the server and read the password")
	}
	return t, c.applyLogin(ctx, options, env)
}

const flagURL = "--url"

// source returns the URL and what it came from.
func (c Config) source(env Env) (raw, from string) {
	if c.URL != "" {
		return c.URL, flagURL
	}
	if fromEnv := env.Getenv(EnvURL); fromEnv != "" {
		return fromEnv, EnvURL
	}
	return DefaultURL, "the default URL"
}

// readURL reads one URL, which may list several hosts.
func readURL(raw string) (*redis.UniversalOptions, error) {
	first, others, err := splitHosts(withScheme(raw))
	if err != nil {
		return nil, err
	}
	options, err := bucketctl.Options(first)
	if err != nil {
		return nil, err
	}
	options.Addrs = append(options.Addrs, others...)
	return options, nil
}

func (c Config) applyTopology(o *redis.UniversalOptions) error {
	isSocket := strings.HasPrefix(o.Addrs[0], "/")
	o.IsClusterMode = o.IsClusterMode || c.Cluster
	o.MasterName = c.SentinelMaster
	switch {
	case isSocket && (o.IsClusterMode || o.MasterName != ""):
		return errors.New("a unix socket leads to one server: it excludes --cluster and --sentinel-master")
	case o.IsClusterMode && o.MasterName != "":
		return errors.New("cluster=true in the URL and --sentinel-master exclude each other")
	case o.IsClusterMode && o.DB != 0:
		return fmt.Errorf("a cluster has only database 0, the URL asks for %d", o.DB)
	case len(o.Addrs) > 1 && o.MasterName == "" && !o.IsClusterMode:
		return errors.New("the URL lists several hosts: say --cluster or --sentinel-master NAME")
	}
	return nil
}

// applyLogin settles user and password: asked for, else the file's, else the
// URL's, else the environment's.
func (c Config) applyLogin(ctx context.Context, o *redis.UniversalOptions, env Env) error {
	if c.User != "" {
		o.Username = c.User
	}
	switch {
	case c.AskPass:
		if env.ReadPassword == nil {
			return errors.New("--ask-pass needs a terminal: use --password-file or " + EnvAuth)
		}
		password, err := env.ReadPassword(ctx, "Redis password: ")
		if err != nil {
			return fmt.Errorf("--ask-pass: %w", err)
		}
		o.Password = password
	case c.PasswordFile != "":
		password, err := readPasswordFile(c.PasswordFile)
		if err != nil {
			return err
		}
		o.Password = password
	case o.Password == "":
		o.Password = env.Getenv(EnvAuth)
	}
	if o.Username != "" && o.Password == "" {
		return errors.New("a user was given without a password: add --password-file FILE, " + EnvAuth + " or --ask-pass")
	}
	return nil
}

// Explicit reports whether a flag or REDIS_URL named the server.
func (t Target) Explicit() bool { return t.explicit }

// Warnings are sentences for the operator, about secrets that others can see.
func (t Target) Warnings() []string { return t.warnings }

// By is who makes the changes.
func (t Target) By() string { return t.by }

// Addr is where the target is, for display: host:port and the database, never
// a user or a password.
func (t Target) Addr() string {
	addr := strings.Join(t.options.Addrs, ",")
	switch {
	case t.options.MasterName != "":
		addr = t.options.MasterName + " of sentinels " + addr
	case t.options.IsClusterMode:
		addr = "cluster " + addr
	}
	if t.options.DB != 0 {
		addr += "/" + strconv.Itoa(t.options.DB)
	}
	return addr
}

// String is Addr: whatever prints a Target prints no secret.
func (t Target) String() string { return t.Addr() }

// GoString is Addr too.
func (t Target) GoString() string { return t.Addr() }

// Admin returns an Admin over a client of its own, and what closes that
// client. It dials nothing.
func (t Target) Admin() (*bucketctl.Admin, func() error, error) {
	client := bucketctl.NewClient(t.options)
	admin, err := bucketctl.NewAdmin(bucketctl.AdminConfig{
		Client: client, Namespace: t.namespace, By: t.by, ReadOnly: t.readOnly,
	})
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	return admin, client.Close, nil
}

// processOwner is user@host as far as this process can know it.
func processOwner() string {
	name := "unknown"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		return name
	}
	return name + "@" + host
}
