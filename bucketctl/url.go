package bucketctl

import (
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// URLError says what is wrong with a Redis URL. It is an ErrConfig, and never
// quotes the URL, which may carry a password.
type URLError struct {
	Because string // one clause, such as "cluster is true or false"
}

func (e *URLError) Error() string { return ErrConfig.Error() + ": " + e.Because }

// Unwrap makes errors.Is(err, ErrConfig) true.
func (e *URLError) Unwrap() error { return ErrConfig }

const unreadableURL = "the Redis URL can't be read: write redis://host:6379/0, rediss://host:6379/0 or unix:///path"

// Options reads a Redis URL into client options that are safe for a limiter
// (see Tune): redis://, rediss:// for TLS, or unix://. Its query may say
// cluster=true, db=1, protocol=2, pool_size=20, client_name=geocoder, and with
// rediss:// skip_verify=true. Anything else is refused instead of ignored: also
// the client's timeouts and retries, which a limiter sets itself. Errors are
// URLErrors.
func Options(rawURL string) (*redis.UniversalOptions, error) {
	rest, cluster, err := readQuery(rawURL)
	if err != nil {
		return nil, err
	}
	parsed, err := redis.ParseURL(rest)
	if err != nil {
		// The parser's own error may quote the password, so it is not wrapped.
		return nil, &URLError{unreadableURL}
	}
	if because := wrongPlace(parsed, cluster); because != "" {
		return nil, &URLError{because}
	}
	options := &redis.UniversalOptions{
		Addrs:         []string{parsed.Addr},
		ClientName:    parsed.ClientName,
		DB:            parsed.DB,
		Username:      parsed.Username,
		Password:      parsed.Password,
		TLSConfig:     parsed.TLSConfig,
		Protocol:      parsed.Protocol,
		PoolSize:      parsed.PoolSize,
		IsClusterMode: cluster,
	}
	Tune(options)
	return options, nil
}

// wrongPlace is what keeps the place that a URL names from being reached.
func wrongPlace(o *redis.Options, cluster bool) string {
	_, port, err := net.SplitHostPort(o.Addr)
	switch {
	case o.Network == "unix" && cluster:
		return "the Redis URL asks for a cluster at a unix socket, which leads to one server"
	case o.Network != "unix" && err == nil && !isPort(port):
		return "the Redis URL's port must be from 1 to 65535"
	case o.DB < 0:
		return "the Redis URL's database must be a whole number from 0"
	}
	return ""
}

// readQuery checks the URL's options, and takes cluster out of them, which the
// client's own parser does not know.
func readQuery(rawURL string) (rest string, cluster bool, err error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", false, &URLError{unreadableURL}
	}
	query, err := url.ParseQuery(u.RawQuery)
	switch {
	case err != nil:
		return "", false, &URLError{unreadableURL}
	case u.Fragment != "":
		return "", false, &URLError{"the Redis URL has a #, which means nothing there: in a password it is written %23"}
	case u.Scheme == "unix" && u.Host != "":
		return "", false, &URLError{"the Redis URL of a unix socket has three slashes: unix:///path"}
	case u.Scheme != "unix" && strings.Trim(u.Path, "/") != "" && query.Has("db"):
		return "", false, &URLError{"the Redis URL names a database twice, in its path and by db"}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if because := wrongOption(u.Scheme, name, query[name]); because != "" {
			return "", false, &URLError{because}
		}
	}
	if !query.Has(clusterOption) {
		return rawURL, false, nil
	}
	cluster = isTrue(query.Get(clusterOption))
	query.Del(clusterOption)
	u.RawQuery = query.Encode()
	return u.String(), cluster, nil
}

const clusterOption = "cluster"

// wrongOption is what keeps an option of a URL from having its effect; empty
// where it has. A name is quoted only if it is one that is known: an unknown one
// may be a piece of a password.
func wrongOption(scheme, name string, values []string) string {
	check, known := urlOptions()[name]
	switch {
	case slices.Contains(tunedOptions(), name):
		return "the Redis URL's option " + name + " has no effect here, since timeouts, retries and all of the pool but its size are a limiter's own: leave it out"
	case !known:
		return "the Redis URL has an option that is not known: those known are " +
			"client_name, cluster, db, pool_size, protocol and skip_verify, and a ? in a password is written %3F"
	case len(values) > 1:
		return "the Redis URL says " + name + " more than once"
	case name == "skip_verify" && scheme != "rediss":
		return "the Redis URL's option skip_verify needs rediss://"
	}
	if must := check(values[0]); must != "" {
		return "the Redis URL's option " + name + " must be " + must
	}
	return ""
}

// urlOptions are the options that have an effect, and for each the check that
// says what its value must be, or nothing where it is.
func urlOptions() map[string]func(value string) string {
	return map[string]func(value string) string{
		clusterOption: trueOrFalse,
		"skip_verify": trueOrFalse,
		"client_name": func(value string) string { return unless(value != "", "a name") },
		"db":          func(value string) string { return unless(isWhole(value, 0), "a whole number from 0") },
		"pool_size":   func(value string) string { return unless(isWhole(value, 1), "a whole number from 1") },
		"protocol":    func(value string) string { return unless(value == "2" || value == "3", "2 or 3") },
	}
}

// tunedOptions are the client's own that Tune overrides, or that change nothing
// that a limiter needs.
func tunedOptions() []string {
	return []string{
		"conn_max_idle_time", "conn_max_lifetime", "conn_max_lifetime_jitter", "dial_timeout", "dialer_retries", "dialer_retry_timeout",
		"idle_timeout", "max_active_conns", "max_concurrent_dials", "max_conn_age", "max_idle_conns", "max_retries", "max_retry_backoff",
		"min_idle_conns", "min_retry_backoff", "pipeline_pool_size", "pipeline_read_buffer_size", "pipeline_write_buffer_size",
		"pool_fifo", "pool_timeout", "read_timeout", "write_timeout",
	}
}

func trueOrFalse(value string) string {
	return unless(isTrue(value) || value == "false" || value == "0", "true or false")
}

func isTrue(value string) bool { return value == "true" || value == "1" }

func isWhole(value string, least int) bool {
	n, err := strconv.Atoi(value)
	return err == nil && n >= least
}

// isPort reports whether the text is a TCP port that can be dialled.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

func unless(ok bool, must string) string {
	if ok {
		return ""
	}
	return must
}
