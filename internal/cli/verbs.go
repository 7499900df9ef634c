package cli

import (
	"context"
	"slices"
)

// many is the most arguments of a verb that takes any number.
const many = 1 << 20

// verb is one row of the table that drives parsing, help and documentation.
type verb struct {
	name     string // "" is the console
	args     string // arguments and the verb's own flags, as shown
	summary  string // one clause
	text     string // what more there is to know, wrapped for a terminal
	examples []string

	flags    []string // flags of its own
	conn     bool     // talks to Redis, takes the connection's flags
	output   bool     // writes data, takes --output
	min, max int      // number of arguments

	run func(ctx context.Context, c *call) error
}

func (v verb) takes(flag string, g group) bool {
	switch g {
	case groupAny:
		return true
	case groupConn:
		return v.conn
	case groupOutput:
		return v.output
	case groupVerb:
	}
	return slices.Contains(v.flags, flag)
}

// title names the verb in a sentence.
func (v verb) title() string {
	if v.name == "" {
		return "the console"
	}
	return v.name
}

// usage is the verb as it is typed.
func (v verb) usage() string {
	if v.args == "" {
		return v.name
	}
	if v.name == "" {
		return v.args
	}
	return v.name + " " + v.args
}

func findVerb(name string) (verb, bool) {
	for _, v := range verbs() {
		if v.name == name {
			return v, true
		}
	}
	return verb{}, false
}

// verbs is the table, in the order of help. It is a function because help,
// which is a verb, reads it.
func verbs() []verb {
	return slices.Concat(screens(), readers(), changers(), abouts())
}

func screens() []verb {
	return []verb{
		{
			args: "[--match GLOB]", summary: "the console: live buckets, worst first",
			text: "Needs a terminal. With no Redis at the default address it says so and ends;\n" +
				"with -u or REDIS_URL it opens and goes on trying.",
			examples: []string{
				"bucketop",
				"REDIS_URL=rediss://cache-1:6379/0 bucketop --user anna --ask-pass",
				"REDISCLI_AUTH=$(pass redis/prod) bucketop -u redis://cache-1:6379",
			},
			flags: []string{"match", "refresh"}, conn: true, run: runConsole,
		},
		{
			name: "demo", args: "[--headless DURATION]", summary: "the console over a Redis of its own and simulated workers",
			text:     "Needs no Redis and no configuration. Nothing is left behind.",
			examples: []string{"bucketop demo", "bucketop demo --headless 10s"},
			flags:    []string{"headless", "refresh"}, run: runDemo,
		},
	}
}

func readers() []verb {
	return []verb{
		{
			name: "ls", args: "[PATTERN] [--match GLOB]", summary: "list buckets and their state",
			text: "PATTERN filters the buckets that workers registered. Without * or ? it is a text that\n" +
				"the name contains; with one of them it fits the whole name, * any run of characters and\n" +
				"? one. Brackets and braces stand for themselves; \\* \\? \\\\ for the character.\n" +
				"--match scans the whole keyspace instead, by a glob as Redis reads it, and so finds\n" +
				"buckets of other programs too; at most 10,000 of them.",
			examples: []string{"bucketop ls", "bucketop ls 'geocode:*'", "bucketop ls -o json | jq '.[] | select(.state==\"stuck\")'", "bucketop ls --match 'ratelimit:*'"},
			flags:    []string{"match"}, conn: true, output: true, max: 1, run: runLs,
		},
		{
			name: "get", args: "KEY…", summary: "show buckets in full",
			text: "Exits 4 if Redis knows nothing of one of them, 1 if its ACL keeps one from this user; the others\n" +
				"are shown.",
			examples: []string{"bucketop get 'geocode:{acme}:eu'", "bucketop get -o json stripe:charge | jq '.[0].level'"},
			flags:    []string{"key-b64"}, conn: true, output: true, min: 1, max: many, run: runGet,
		},
		{
			name: "workers", args: "[KEY] [--by-bucket]", summary: "show which worker decides how, worst first",
			text: "Those heard of in the last 15 minutes; with KEY those that draw from it.\n" +
				"SILENT: no report for 3 of its intervals. It is down, or on its own share; nobody can know.\n" +
				"FALLBACK: it decides without Redis, since when and why; share, closed or open is how.\n" +
				"shared: Redis decides. gone: it shut down in order, or its process was started anew.\n" +
				"MAY EXCEED is what it may draw on top of the bucket's limit: its share, while others draw\n" +
				"from Redis. SHARE is the limit in force by the live workers, as it knew them. GRANTED is\n" +
				"lately, WAITING are callers, P99 is their wait, REV is the operators' change it has seen.",
			examples: []string{
				"bucketop workers", "bucketop workers 'geocode:{acme}:eu'",
				"bucketop workers -o json | jq -r '.[] | select(.state==\"silent\" or .state==\"fallback\") | .name'",
			},
			flags: []string{"key-b64", "by-bucket"}, conn: true, output: true, max: 1, run: runWorkers,
		},
		{
			name: "events", args: "[KEY] [--since 1h] [--follow]", summary: "show what changed, by whom and why, oldest first",
			text: "The last hour if --since says nothing else; about 10,000 events are kept. A worker tells of\n" +
				"an outage when it is over: begin, length, why, and what it granted alone. With KEY that is\n" +
				"told of the workers that draw from it, as far as they reported in the last 15 minutes.\n" +
				"--follow goes on until a signal, also over an outage of Redis.",
			examples: []string{"bucketop events --since 1d", "bucketop events --follow -o jsonl"},
			flags:    []string{"key-b64", "since", "follow", "refresh"}, conn: true, output: true, max: 1, run: runEvents,
		},
	}
}

func changers() []verb {
	change := func(v verb) verb {
		v.flags = append(v.flags, "key-b64", "reason", "if-rev")
		v.conn, v.output, v.min, v.max = true, true, 1, 1
		return v
	}
	return []verb{
		change(verb{
			name: "set", args: "KEY [--rate 300/min] [--capacity 15] [--for 30m|forever] [--reason TEXT] [--if-rev N] [--dry-run]",
			summary: "override a bucket's rate, capacity or both",
			text: "What is not named stays. Without --for the end that is there stays, and a new override has\n" +
				"none. x0.5 and x2 multiply what is in force; declared takes the override of that one away.\n" +
				"The change is refused (exit 5) if somebody else changed the bucket in the same moment.",
			examples: []string{
				"bucketop set 'geocode:{acme}:eu' --rate 450/min --for 1h --reason '429s, #8812'",
				"bucketop set stripe:charge --rate x0.5 --dry-run", "bucketop set mail:smtp --capacity 3s",
			},
			flags: []string{"rate", "capacity", "for", "dry-run"}, run: runSet,
		}),
		change(verb{
			name: "unset", args: "KEY [--reason TEXT] [--if-rev N]", summary: "take the override away: back to the declared limit",
			examples: []string{"bucketop unset mail:smtp"}, run: runUnset,
		}),
		change(verb{
			name: "reset", args: "KEY --to full|empty|N | --delete", summary: "set the level, and mend values that can't be",
			text: "Touches no hold, cooldown or override, and can't be undone. --to full lets a whole capacity\n" +
				"start at once; --to empty is the careful one. --delete also clears a key of a wrong type, and\n" +
				"takes the bucket out of the list; a worker that still has it lists it again.",
			examples: []string{"bucketop reset geo:py --to empty", "bucketop reset geo:py --to 5", "bucketop reset --key-b64 //4= --to full"},
			flags:    []string{"to", "delete"}, run: runReset,
		}),
		change(verb{
			name: "hold", args: "KEY [--for 10m|forever] [--reason TEXT] [--if-rev N]", summary: "stop a bucket: nothing more is charged",
			text:     "Without --for a new hold lasts 10 minutes, and one that is there keeps its end.",
			examples: []string{"bucketop hold stripe:charge --for 30m --reason 'provider asked us to stop'"},
			flags:    []string{"for"}, run: runHold,
		}),
		change(verb{
			name: "resume", args: "KEY [--reason TEXT] [--if-rev N]", summary: "take the hold away",
			examples: []string{"bucketop resume stripe:charge"}, run: runResume,
		}),
		change(verb{
			name: "undo", args: "KEY [--reason TEXT] [--if-rev N]", summary: "change the newest change of limit or hold back",
			text:     "Says whose change it was. A reset can't be undone.",
			examples: []string{"bucketop undo mail:smtp"}, run: runUndo,
		}),
	}
}

func abouts() []verb {
	return []verb{
		{name: "version", summary: "print the version", output: true, run: runVersion},
		{name: "help", args: "[VERB]", summary: "print help", max: 1, run: runHelp},
	}
}
