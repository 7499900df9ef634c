package figure

import (
	"maps"
	"strconv"
	"strings"
)

// Command is what a Redis server did for one command.
type Command struct {
	Calls, Micros float64
}

// Commands are all commands of a server, by name. Those that a script runs are
// counted as if a client had sent them, and their time is in the script's too.
type Commands map[string]Command

// ParseCommands reads the commandstats section of INFO. Lines that are none of
// its are passed over.
func ParseCommands(info string) Commands {
	all := Commands{}
	for line := range strings.Lines(info) {
		name, fields, ok := strings.Cut(strings.TrimSpace(line), ":")
		name, isCommand := strings.CutPrefix(name, "cmdstat_")
		if !ok || !isCommand {
			continue
		}
		all[name] = parseCommand(fields)
	}
	return all
}

// parseCommand reads "calls=2,usec=7,…".
func parseCommand(fields string) (c Command) {
	for field := range strings.SplitSeq(fields, ",") {
		name, text, _ := strings.Cut(field, "=")
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		switch name {
		case "calls":
			c.Calls = value
		case "usec":
			c.Micros = value
		}
	}
	return c
}

// Since is what was done after an earlier reading.
func (c Commands) Since(earlier Commands) Commands {
	out := Commands{}
	for name, now := range c {
		d := Command{now.Calls - earlier[name].Calls, now.Micros - earlier[name].Micros}
		if d.Calls > 0 {
			out[name] = d
		}
	}
	return out
}

// Without leaves the named commands out.
func (c Commands) Without(names ...string) Commands {
	out := maps.Clone(c)
	for _, name := range names {
		delete(out, name)
	}
	return out
}

// Only keeps so many calls of one command, and their part of its time: for what
// both clients and scripts use.
func (c Commands) Only(name string, calls float64) Commands {
	out := c.Without(name)
	if one := c[name]; one.Calls > 0 && calls > 0 {
		out[name] = Command{calls, one.Micros * calls / one.Calls}
	}
	return out
}

// Total is the sum over all commands.
func (c Commands) Total() (sum Command) {
	for _, one := range c {
		sum.Calls += one.Calls
		sum.Micros += one.Micros
	}
	return sum
}

// Scripts is the sum over the runs of scripts.
func (c Commands) Scripts() Command {
	return Commands{"eval": c["eval"], "evalsha": c["evalsha"]}.Total()
}
