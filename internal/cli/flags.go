package cli

import (
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"bucketop/internal/conn"
)

// Bounds of --refresh: below, the console would be a load of its own; above, it
// would no longer be an operator's view.
const (
	minRefresh     = 250 * time.Millisecond
	maxRefresh     = time.Minute
	defaultRefresh = time.Second
)

// maxReason bounds what is written into every event and beside the override, in
// bytes.
const maxReason = 1000

// inputs is everything flags can say.
type inputs struct {
	conn conn.Config

	output  string
	ascii   bool
	noColor bool
	refresh time.Duration
	match   string

	keysB64  []string
	rate     string
	cap      string
	end      string
	reason   string
	ifRev    string
	dryRun   bool
	to       string
	delete   bool
	since    string
	byBucket bool
	follow   bool

	headless time.Duration

	help    bool
	version bool
}

// group tells which verbs take a flag.
type group int

const (
	groupVerb   group = iota // those that name the flag
	groupConn                // those that talk to Redis
	groupOutput              // those that write data
	groupAny                 // all
)

// flagSet is one pflag set of all verbs' flags: so a flag may stand before the
// verb as well as after it. Which flags go with which verb is checked later.
func flagSet(in *inputs) (*pflag.FlagSet, map[string]group) {
	fs := pflag.NewFlagSet("bucketop", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.SortFlags = false
	groups := map[string]group{}
	mark := func(g group) {
		fs.VisitAll(func(f *pflag.Flag) {
			if _, done := groups[f.Name]; !done {
				groups[f.Name] = g
			}
		})
	}

	in.conn.AddFlags(fs)
	mark(groupConn)

	fs.StringVarP(&in.output, "output", "o", string(formatTable), "write `FORMAT`: table, json, jsonl or tsv")
	mark(groupOutput)

	fs.BoolVar(&in.ascii, "ascii", false, "draw and print nothing beyond ASCII")
	fs.BoolVar(&in.noColor, "no-color", false, "no colours; or env NO_COLOR")
	fs.BoolVarP(&in.help, "help", "h", false, "help on the verb")
	fs.BoolVar(&in.version, "version", false, "print the version")
	mark(groupAny)

	fs.StringVar(&in.match, "match", "", "scan the whole keyspace for buckets of other programs, by a Redis `GLOB`")
	fs.DurationVar(&in.refresh, "refresh", defaultRefresh, "ask Redis every `DURATION`, from 250ms to 1m (default 1s)")
	fs.StringArrayVar(&in.keysB64, "key-b64", nil, "a KEY in `BASE64`, for names that no shell can type")
	fs.StringVar(&in.rate, "rate", "", "`RATE` such as 450/min, 7.5/s, 25000/day, 10/10s, x0.5, x2 or declared")
	fs.StringVar(&in.cap, "capacity", "", "`N` tokens, seconds of rate such as 3s, x2, or declared")
	fs.StringVar(&in.end, "for", "", "it ends by itself after `DURATION` such as 30m, 2h or 1d; or forever")
	fs.StringVar(&in.reason, "reason", "", "why, for the audit: `TEXT`, at most 1000 bytes")
	fs.StringVar(&in.ifRev, "if-rev", "", "only if the bucket is still at revision `N`, else exit 5")
	fs.BoolVar(&in.dryRun, "dry-run", false, "print before and after, write nothing")
	fs.StringVar(&in.to, "to", "", "set the level to `LEVEL`: full, empty, or a number of tokens")
	fs.BoolVar(&in.delete, "delete", false, "delete the state instead, of whatever type; override and hold stay")
	fs.StringVar(&in.since, "since", "1h", "from `DURATION` ago such as 30m, 2h or 1d, or from a time such as 2026-01-31T14:00:00Z")
	fs.BoolVar(&in.follow, "follow", false, "go on until a signal, one line an event")
	fs.BoolVar(&in.byBucket, "by-bucket", false, "one row for each bucket of a worker, not one for all of them")
	fs.DurationVar(&in.headless, "headless", 0, "no screen: run the story for `DURATION` and print what happens")
	mark(groupVerb)
	return fs, groups
}

// parsed is a command line whose flags belong to its verb.
type parsed struct {
	verb    verb
	args    []string
	in      *inputs
	changed func(flag string) bool
}

// parseArgs reads the command line. Errors are usage errors and don't quote the
// value of a flag that is wrong: it may be a secret in the wrong place.
func parseArgs(args []string) (parsed, error) {
	in := &inputs{}
	fs, groups := flagSet(in)
	if err := fs.Parse(args); err != nil {
		return parsed{}, flagError(err)
	}
	p := parsed{in: in, args: fs.Args(), changed: fs.Changed}
	if in.version {
		p.verb, _ = findVerb("version")
		return p, nil
	}
	name := ""
	if len(p.args) > 0 {
		name, p.args = p.args[0], p.args[1:]
	}
	found, err := verbNamed(name)
	if err != nil {
		return parsed{}, err
	}
	p.verb = found
	if in.help {
		return p, nil
	}
	fs.Visit(func(f *pflag.Flag) {
		if err == nil && !found.takes(f.Name, groups[f.Name]) {
			err = usagef("--%s does not go with %s: see bucketop help %s", f.Name, found.title(), found.name)
		}
	})
	if err == nil {
		err = p.check()
	}
	return p, err
}

func verbNamed(name string) (verb, error) {
	found, ok := findVerb(name)
	switch {
	case ok:
		return found, nil
	case strings.Contains(name, "://"):
		return verb{}, usagef("a URL is given with -u, or better with %s, where nobody else sees its password", conn.EnvURL)
	}
	return verb{}, usagef("unknown verb %q: bucketop help lists them", name)
}

// check holds the bounds of what flags say and the number of arguments.
func (p *parsed) check() error {
	if p.in.refresh < minRefresh || p.in.refresh > maxRefresh {
		return usagef("--refresh is %v: from %v to %v", p.in.refresh, minRefresh, maxRefresh)
	}
	if n := len(p.in.reason); n > maxReason {
		return usagef("--reason is %d bytes long: at most %d", n, maxReason)
	}
	if p.in.headless < 0 || p.changed("headless") && p.in.headless == 0 {
		return usagef("--headless is %v: it must be above 0", p.in.headless)
	}
	for _, flag := range []string{"rate", "capacity", "for", "to", "since", "if-rev", "match", "url"} {
		if f := p.changed(flag); f && strings.TrimSpace(p.value(flag)) == "" {
			return usagef("--%s needs a value", flag)
		}
	}
	for _, encoded := range p.in.keysB64 {
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return usagef("--key-b64 %q is no standard Base64", encoded)
		}
		p.args = append(p.args, string(key))
	}
	switch n := len(p.args); {
	case n < p.verb.min:
		return usagef("%s needs a KEY: bucketop %s", p.verb.name, p.verb.usage())
	case n > p.verb.max:
		return usagef("%s: too many arguments (%d): bucketop %s", p.verb.title(), n, p.verb.usage())
	}
	return nil
}

func (p *parsed) value(flag string) string {
	return map[string]string{
		"rate": p.in.rate, "capacity": p.in.cap, "for": p.in.end, "to": p.in.to,
		"since": p.in.since, "if-rev": p.in.ifRev, "match": p.in.match, "url": p.in.conn.URL,
	}[flag]
}

// flagError says in one clause what is wrong with a flag, without its value.
func flagError(err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		if unknown.GetSpecifiedName() == "a" {
			return usagef("there is no -a: others would see the password; use %s, --password-file or --ask-pass", conn.EnvAuth)
		}
		return usagef("unknown flag -%s: bucketop help lists them", unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		return usagef("unknown flag --%s: bucketop help lists them", unknown.GetSpecifiedName())
	case errors.As(err, &missing):
		return usagef("--%s needs a value", missing.GetFlag().Name)
	case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "duration":
		return usagef("--%s: write a duration such as 500ms or 10s", invalid.GetFlag().Name)
	case errors.As(err, &invalid):
		return usagef("--%s is a switch: it takes true or false or nothing", invalid.GetFlag().Name)
	}
	return usagef("the flags can't be read: bucketop help lists them")
}
