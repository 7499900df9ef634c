package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// helpOn prints help on one verb; on the console, which has no name, it is the
// overview of everything.
func (c *call) helpOn(v verb) error {
	if v.name == "" {
		return c.out.write(overview())
	}
	return c.out.write(verbHelp(v))
}

func overview() string {
	var b strings.Builder
	b.WriteString("bucketop watches rate-limit buckets in Redis, and changes, holds and resets them.\n\nusage:\n")
	width := 0
	for _, v := range verbs() {
		width = max(width, len("bucketop "+v.name))
	}
	for _, v := range verbs() {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, strings.TrimSpace("bucketop "+v.name), v.summary)
	}
	b.WriteString("\nbucketop help VERB tells more. Flags may stand before or after the verb.\n")
	b.WriteString("\nconnection:\n" + flagUsages(func(_ string, g group) bool { return g == groupConn }))
	b.WriteString("\noutput:\n" + flagUsages(func(name string, g group) bool {
		return g == groupOutput || g == groupAny || name == "match" || name == "refresh"
	}))
	b.WriteString("\nexamples, none with a password that others could read:\n")
	for _, example := range verbs()[0].examples {
		b.WriteString("  " + example + "\n")
	}
	b.WriteString("\nexit codes:\n")
	for _, e := range exits() {
		fmt.Fprintf(&b, "  %3d  %s\n", e.code, e.text)
	}
	return b.String()
}

func verbHelp(v verb) string {
	var b strings.Builder
	fmt.Fprintf(&b, "bucketop %s\n\n%s.\n", v.usage(), sentenceCase(v.summary))
	if v.text != "" {
		b.WriteString(v.text + "\n")
	}
	if own := flagUsages(func(name string, g group) bool { return g == groupVerb && v.takes(name, g) }); own != "" {
		b.WriteString("\nflags:\n" + own)
	}
	if len(v.examples) > 0 {
		b.WriteString("\nexamples:\n")
		for _, example := range v.examples {
			b.WriteString("  " + example + "\n")
		}
	}
	b.WriteString("\nbucketop help lists the flags that all verbs share, and the exit codes.\n")
	return b.String()
}

func sentenceCase(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// flagUsages lays out the flags that wanted picks.
func flagUsages(wanted func(name string, g group) bool) string {
	type row struct{ name, text string }
	var rows []row
	width := 0
	all, groups := flagSet(&inputs{})
	all.VisitAll(func(f *pflag.Flag) {
		if !wanted(f.Name, groups[f.Name]) {
			return
		}
		name, text := flagUsage(f)
		if f.Shorthand == "" {
			name = "    " + name
		}
		rows = append(rows, row{name, text})
		width = max(width, len(name))
	})
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, r.name, r.text)
	}
	return b.String()
}

// flagUsage is a flag as it is typed and what it says.
func flagUsage(f *pflag.Flag) (name, text string) {
	value, text := pflag.UnquoteUsage(f)
	name = "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if f.Value.Type() != "bool" {
		name += " " + value
	}
	if f.DefValue != "" && f.Value.Type() == "string" {
		text += " (default " + f.DefValue + ")"
	}
	return name, text
}

// VerbsMarkdown is the table of verbs for the documentation.
func VerbsMarkdown() string {
	var b strings.Builder
	b.WriteString("| verb | what it does |\n|---|---|\n")
	for _, v := range verbs() {
		typed := strings.ReplaceAll(strings.TrimSpace("bucketop "+v.usage()), "|", `\|`)
		fmt.Fprintf(&b, "| `%s` | %s |\n", typed, v.summary)
	}
	return b.String()
}

// FlagsMarkdown is the table of flags for the documentation.
func FlagsMarkdown() string {
	var b strings.Builder
	b.WriteString("| flag | what it says |\n|---|---|\n")
	all, _ := flagSet(&inputs{})
	all.VisitAll(func(f *pflag.Flag) {
		name, usage := flagUsage(f)
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(usage, "|", `\|`))
	})
	return b.String()
}
