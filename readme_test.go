package main

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"bucketop/internal/cli"
	"bucketop/internal/schema"
	"bucketop/ui"
)

const readme = "README.md"

var update = flag.Bool("update", false, "write the generated parts of README anew")

// TestReadmeIsTrue holds the parts of README that are generated, or copied from
// code that compiles. go test -run Readme . -update writes them anew.
func TestReadmeIsTrue(t *testing.T) {
	text := read(t, readme)
	for name, want := range map[string]string{
		"keys":    ui.KeysMarkdown(),
		"verbs":   cli.VerbsMarkdown(),
		"flags":   cli.FlagsMarkdown(),
		"exits":   cli.ExitMarkdown(),
		"example": "```go\n" + exampleBody(t, "bucketctl/example_test.go") + "```\n",
	} {
		part := regexp.MustCompile(`(?s)<!-- ` + name + ` -->\n(.*?)<!-- end -->`)
		found := part.FindStringSubmatch(text)
		switch {
		case found == nil:
			t.Errorf("README has no part %q", name)
		case found[1] == want:
		case *update:
			text = part.ReplaceAllLiteralString(text, "<!-- "+name+" -->\n"+want+"<!-- end -->")
		default:
			t.Errorf("README's part %q is out of date: go test -run Readme . -update\ngot:\n%s\nwant:\n%s", name, found[1], want)
		}
	}
	if *update {
		if err := os.WriteFile(readme, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// exampleBody is the body of the package's example, without its indentation.
func exampleBody(t *testing.T, path string) string {
	_, after, found := strings.Cut(read(t, path), "func Example() {\n")
	body, _, ends := strings.Cut(after, "\n}\n")
	if !found || !ends {
		t.Fatalf("%s has no example for README", path)
	}
	var b strings.Builder
	for line := range strings.Lines(body + "\n") {
		b.WriteString(strings.TrimPrefix(line, "\t"))
	}
	return b.String()
}

func TestReadmeNamesEveryKeyAndField(t *testing.T) {
	text := read(t, readme)
	keys, err := schema.New("")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		keys.Buckets(), keys.Reports(), keys.Events(), keys.Wake(),
		schema.FieldTokens, schema.FieldTs, schema.FieldGranted, schema.FieldCapacity, schema.FieldRate, schema.FieldPer,
		schema.FieldGen, schema.FieldBlocked, schema.FieldBlockedBy, schema.FieldTurn, schema.FieldNeed, schema.FieldExp,
		schema.FieldKind, schema.FieldUntil, schema.FieldHold, schema.FieldHoldBy, schema.FieldHoldAt, schema.FieldHoldReason,
		schema.FieldRev, schema.FieldBy, schema.FieldAt, schema.FieldReason,
	} {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("README does not name %q", name)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
