package cli

import (
	"strings"
	"testing"

	"bucketop/internal/conn"
)

func TestCommandLinesThatCannotWork(t *testing.T) {
	key := "geocode:{acme}:eu"
	lines := map[string][]string{
		"unknown verb":          {"lss"},
		"unknown flag":          {"ls", "--colour"},
		"unknown short flag":    {"ls", "-x"},
		"redis-cli's password":  {"-a", "hunter2", "ls"},
		"URL without -u":        {"redis://:hunter2@h"},
		"flag of another verb":  {"get", key, "--to", "full"},
		"connection for demo":   {"demo", "-u", "redis://h"},
		"format for demo":       {"demo", "-o", "json"},
		"format":                {"ls", "-o", "yaml"},
		"value missing":         {"ls", "-u"},
		"value empty":           {"ls", "-u", ""},
		"no duration":           {"events", "--refresh", "hunter2"},
		"refresh too short":     {"events", "--refresh", "1ms"},
		"refresh too long":      {"events", "--refresh", "1h"},
		"headless negative":     {"demo", "--headless", "-1s"},
		"switch with a value":   {"get", key, "--ask-pass=hunter2"},
		"no KEY":                {"get"},
		"two KEYs":              {"hold", "a", "b"},
		"two patterns":          {"ls", "a", "b"},
		"no Base64":             {"get", "--key-b64", "?"},
		"set without anything":  {"set", key},
		"reset without target":  {"reset", key},
		"reset with two":        {"reset", key, "--to", "full", "--delete"},
		"follow as an array":    {"events", "--follow", "-o", "json"},
		"reason too long":       {"hold", key, "--reason", strings.Repeat("r", maxReason+1)},
		"since":                 {"events", "--since", "yesterday"},
		"since negative":        {"events", "--since", "-1h"},
		"since in days":         {"events", "--since", "NaNd"},
		"bad URL":               {"ls", "-u", "http://:hunter2@h"},
		"bad namespace":         {"ls", "--namespace", "a{b}"},
		"help on nothing known": {"help", "lss"},
	}
	numbers := []string{"NaN", "Inf", "-1", "0x1p4", "1_000", "1e400", "1e3", "", " ", "1,000", ".5", "5.", "99999999999999999999"}
	for _, n := range numbers {
		lines["rate "+n+"/s"] = []string{"set", key, "--rate", n + "/s"}
		lines["rate "+n] = []string{"set", key, "--rate", n}
		lines["capacity "+n] = []string{"set", key, "--capacity", n}
		lines["capacity x"+n] = []string{"set", key, "--capacity", "x" + n}
		lines["reset to "+n] = []string{"reset", key, "--to", n}
		lines["if-rev "+n] = []string{"hold", key, "--if-rev", n}
		lines["for "+n] = []string{"hold", key, "--for", n}
	}
	delete(lines, "if-rev 99999999999999999999") // said below, by its size
	for name, args := range map[string][]string{
		"rate 0":                {"set", key, "--rate", "0/s"},
		"rate without a unit":   {"set", key, "--rate", "300"},
		"rate's unit":           {"set", key, "--rate", "300/fortnight"},
		"rate's span":           {"set", key, "--rate", "300/-5s"},
		"capacity 0":            {"set", key, "--capacity", "0"},
		"capacity below 1":      {"set", key, "--capacity", "0.5"},
		"capacity below 1 in s": {"set", key, "--capacity", "1ms"},
		"capacity's unit":       {"set", key, "--capacity", "5k"},
		"reset to a rate":       {"reset", key, "--to", "5/s"},
		"end":                   {"set", key, "--rate", "5/s", "--for", "tomorrow"},
		"end negative":          {"set", key, "--rate", "5/s", "--for", "-1h"},
		"end too far":           {"set", key, "--rate", "5/s", "--for", "999999d"},
		"end 0":                 {"hold", key, "--for", "0s"},
		"huge revision":         {"hold", key, "--if-rev", "99999999999999999999"},
	} {
		lines[name] = args
	}
	for name, args := range lines {
		t.Run(name, func(t *testing.T) {
			admin := scene()
			r := fakeRun(t, admin, args...)
			if r.code != ExitUsage {
				t.Errorf("%q: exit %d, want %d", args, r.code, ExitUsage)
			}
			if strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, "bucketop: ") || r.stdout != "" {
				t.Errorf("%q: %q and %q, want one line on stderr", args, r.stdout, r.stderr)
			}
			if admin.writes != 0 {
				t.Errorf("%q: wrote %d times", args, admin.writes)
			}
			if strings.Contains(r.stderr, "hunter2") {
				t.Errorf("%q: the password is in %q", args, r.stderr)
			}
		})
	}
}

func TestUsageIsToldBeforeRedisIsAsked(t *testing.T) {
	for _, args := range [][]string{
		{"set", "k", "--rate", "NaN"}, {"set", "k", "--capacity", "0"},
		{"set", "k", "--rate", "x"}, {"set", "k", "--rate", "x0"}, {"set", "k", "--capacity", "x-1"}, {"set", "k", "--capacity", "x2/3"}, {"set", "k", "--rate", "5/s", "--for", "x"},
		{"hold", "k", "--for", "x"}, {"reset", "k", "--to", "x"}, {"events", "--since", "x"}, {"resume", "k", "--if-rev", "x"},
	} {
		if r := fakeRun(t, unasked{}, args...); r.code != ExitUsage {
			t.Errorf("%q: exit %d %q", args, r.code, r.stderr)
		}
	}
}

// unasked is an Admin that panics when asked anything.
type unasked struct{ Admin }

func TestFlagsStandAnywhere(t *testing.T) {
	want := fakeRun(t, scene(), "get", "geo:py", "-o", "json")
	for _, args := range [][]string{
		{"-o", "json", "get", "geo:py"}, {"get", "-o=json", "geo:py"}, {"get", "--output", "json", "--", "geo:py"},
		{"get", "--key-b64", "Z2VvOnB5", "-ojson"}, {"-u", "redis://h", "get", "geo:py", "-o", "json"},
	} {
		if r := fakeRun(t, scene(), args...); r != want {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

func TestConsoleNeedsATerminal(t *testing.T) {
	for _, args := range [][]string{{}, {"--match", "x*"}, {"demo"}} {
		r := fakeRun(t, unasked{}, args...)
		if r.code != ExitUsage || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "terminal") {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

func TestPasswordInArgvIsWarnedAbout(t *testing.T) {
	r := fakeRun(t, scene(), "ls", "-u", "redis://u:hunter2@h")
	if r.code != ExitOK || !strings.Contains(r.stderr, "warning") || strings.Contains(r.stderr+r.stdout, "hunter2") {
		t.Errorf("%+v", r)
	}
	env := fakeEnv(scene())
	env.Getenv = func(name string) string {
		return map[string]string{conn.EnvURL: "redis://u:hunter2@h"}[name]
	}
	if r := runIn(t.Context(), env, "ls"); r.stderr != "" {
		t.Errorf("the environment is no argv, yet: %q", r.stderr)
	}
}
