package cli

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bucketop/bucketctl"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file under testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s\n(-update writes it anew: scripts depend on these shapes)", path, got, want)
	}
}

func TestShapesOfOutput(t *testing.T) {
	for name, args := range map[string][]string{
		"ls.json":                 {"ls", "-o", "json"},
		"ls.table":                {"ls"},
		"ls.tsv":                  {"ls", "-o", "tsv"},
		"get.jsonl":               {"get", "-o", "jsonl", "stripe:charge", "crm:sync"},
		"get.table":               {"get", "geocode:{acme}:eu", "stripe:charge", "geo:py", "rss:cool"},
		"set.json":                {"set", "geocode:{acme}:eu", "--rate", "450/min", "--capacity", "22", "--for", "1h", "--reason", "429s, #8812", "-o", "json", "--by", "bert@ops2"},
		"set.table":               {"set", "geocode:{acme}:eu", "--rate", "450/min"},
		"dryrun.json":             {"set", "geocode:{acme}:eu", "--rate", "x0.5", "--dry-run", "-o", "json", "--by", "bert@ops2"},
		"dryrun.table":            {"set", "geocode:{acme}:eu", "--capacity", "5", "--dry-run", "--by", "bert@ops2"},
		"workers.json":            {"workers", "-o", "json"},
		"workers.table":           {"workers"},
		"workers_by_bucket.tsv":   {"workers", "--by-bucket", "-o", "tsv"},
		"workers_of_bucket.table": {"workers", "geocode:{acme}:eu"},
		"events.json":             {"events", "-o", "json"},
		"events.table":            {"events"},
	} {
		t.Run(name, func(t *testing.T) {
			r := fakeRun(t, scene(), args...)
			if r.code != ExitOK {
				t.Fatalf("exit %d: %s", r.code, r.stderr)
			}
			if strings.HasSuffix(name, ".json") && !json.Valid([]byte(r.stdout)) {
				t.Errorf("not JSON: %s", r.stdout)
			}
			golden(t, name, r.stdout)
		})
	}
}

func TestTextsOfHelp(t *testing.T) {
	var all strings.Builder
	for _, v := range verbs() {
		args := []string{"help"}
		if v.name != "" {
			args = append(args, v.name)
		}
		r := fakeRun(t, nil, args...)
		if r.code != ExitOK || r.stderr != "" {
			t.Errorf("help %s: exit %d, %q", v.name, r.code, r.stderr)
		}
		if v.name != "" && v.name != "help" {
			if again := fakeRun(t, nil, v.name, "--help"); again != r {
				t.Errorf("%s --help says something else than help %s", v.name, v.name)
			}
		}
		all.WriteString(r.stdout + "----\n")
	}
	golden(t, "help.txt", all.String())
	golden(t, "tables.md", VerbsMarkdown()+"\n"+FlagsMarkdown()+"\n"+ExitMarkdown())
}

func TestPreviewOfTheLevel(t *testing.T) {
	old, slow := bucketctl.PerSecond(10).Burst(20), bucketctl.PerSecond(5).Burst(8)
	for _, c := range []struct{ level, want float64 }{{20, 8}, {5, 5}, {0, 0}, {-10, -5}} {
		if got := levelUnder(bucketctl.State{Level: c.level, Effective: old}, slow); got != c.want {
			t.Errorf("%v becomes %v, want %v", c.level, got, c.want)
		}
	}
	if got := levelUnder(bucketctl.State{Level: math.NaN(), Effective: old}, slow); !math.IsNaN(got) {
		t.Errorf("unknown becomes %v", got)
	}
}

func TestNothingIsEmptyBrackets(t *testing.T) {
	for _, verb := range []string{"ls", "workers", "events"} {
		if r := fakeRun(t, &fakeAdmin{}, verb, "-o", "json"); r.stdout != "[]\n" || r.stderr != "" || r.code != 0 {
			t.Errorf("%s: %d %q %q, want [] alone", verb, r.code, r.stdout, r.stderr)
		}
		if r := fakeRun(t, &fakeAdmin{}, verb, "-o", "jsonl"); r.stdout != "" {
			t.Errorf("%s as lines: %q, want nothing", verb, r.stdout)
		}
		if r := fakeRun(t, &fakeAdmin{}, verb); strings.Count(r.stdout, "\n") != 1 || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s as a table: %q %q, want the header alone, and a line that says so", verb, r.stdout, r.stderr)
		}
	}
}
