package bucketctl

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// Whichever command is denied, the reason names it: where a script calls it,
// where a script hands its refusal on, and where it is called by itself.
func TestDeniedCommandsAreNamed(t *testing.T) {
	s := redistest.Start(t)
	owner := s.Client(t)
	user := plainClient(t, &redis.Options{Addr: s.Addr, Username: "w", Password: "p"})
	scripts := newScripts()
	missed := workerCommands()
	for _, command := range workerCommands() {
		do(t, owner, []any{"ACL", "SETUSER", "w", "reset", "on", ">p", "~*", "&*", "+@all", "-" + command},
			[]any{"HSET", "k", "blocked", 1}, []any{"DEL", "w"}) // so that take has to mend, and the window begins
		_, errTake := runScript(t.Context(), user, scripts.take, []string{"k", "l"}, takeArguments(PerSecond(1), 1, 0, 1, 0)...)
		_, errWindow := runScript(t.Context(), user, scripts.windowTake, []string{"w", "l", "log"}, takeArguments(PerSecond(1), 1, 0, 1, 0)...)
		for _, err := range []error{errTake, errWindow} {
			if err == nil {
				continue
			}
			missed = slices.DeleteFunc(missed, func(m string) bool { return m == command })
			if got := reasonOf(classify(t.Context(), err), err); !strings.HasPrefix(got, "configuration: ") || !strings.Contains(strings.ToLower(got), command) {
				t.Errorf("without %s: %q (%v)", command, got, err)
			}
		}
	}
	for _, command := range []string{"eval", "evalsha", "time", "hmget", "hset", "hdel", "pexpire"} {
		if slices.Contains(missed, command) {
			t.Errorf("nothing was refused without %s", command)
		}
	}
}

// As servers of version 8 word it.
func TestDeniedCommandsOfNewerServersAreNamed(t *testing.T) {
	hash := strings.Repeat("0a", 20)
	err := errors.New("ERR ACL failure in script: User w has no permissions to run the 'hset' command script: " + hash + ", on @user_script:290.")
	if got := cause(nameDenied(newScripts().take, err)); got != "the user may not run HSET" {
		t.Errorf("told as %q", got)
	}
	if got := answerText(err.Error()); got != "ERR ACL failure in script: User w has no permissions to run the 'hset' command" {
		t.Errorf("by itself it reads %q", got)
	}
}

// As servers of version 6.2 word it.
func TestDeniedCommandsOfOlderServersAreNamed(t *testing.T) {
	take := newScripts().take
	line := 1 + slices.IndexFunc(strings.Split(sourceOf(take), "\n"), func(l string) bool { return strings.Contains(l, "redis.call('HDEL'") })
	text := "ERR Error running script (call to f_x): @user_script:" + formatNumber(float64(line)) +
		": @user_script: " + formatNumber(float64(line)) + ": The user executing the script can't run this command or subcommand"
	if got := cause(nameDenied(take, errors.New(text))); got != "the user may not run HDEL" {
		t.Errorf("told as %q", got)
	}
	if got := cause(nameDenied(take, errors.New("ERR something else"))); got != "ERR something else" {
		t.Errorf("another error is told as %q", got)
	}
}
