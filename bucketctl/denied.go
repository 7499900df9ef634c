package bucketctl

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"bucketop/lua"
)

// deniedError is the refusal of a command within a script. Whoever has to mend
// the user's permissions needs to know which command it was; servers before 7.2
// don't say.
type deniedError struct {
	commands []string // one of these
	reply    error
}

func (e *deniedError) Error() string {
	return "the user may not run " + strings.Join(e.commands, " or ")
}

func (e *deniedError) Unwrap() error { return e.reply }

// nameDenied adds to a script's error which command was denied, where that is
// what it is about.
func nameDenied(script *redis.Script, err error) error {
	if named := regexp.MustCompile(`no permissions to run the '([^']+)' command`).FindStringSubmatch(err.Error()); named != nil {
		return &deniedError{[]string{strings.ToUpper(named[1])}, err}
	}
	if !strings.Contains(err.Error(), "can't run this command") {
		return err
	}
	if commands := commandsAt(sourceOf(script), lineOf(err.Error())); len(commands) > 0 {
		return &deniedError{commands, err}
	}
	return err
}

// lineOf is where in the script the server stopped; 0 where it does not say: the
// script itself handed the refusal on.
func lineOf(text string) int {
	found := regexp.MustCompile(`@user_script: ?(\d+)`).FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	line, err := strconv.Atoi(found[1])
	if err != nil {
		return 0
	}
	return line
}

// commandsAt are the commands that a line of a script calls; of line 0, those
// whose refusal the script hands on.
func commandsAt(source string, line int) []string {
	call := regexp.MustCompile(`redis\.p?call\('([A-Z]+)'`)
	if line == 0 {
		call = regexp.MustCompile(`redis\.pcall\('([A-Z]+)'`)
	} else if lines := strings.Split(source, "\n"); line <= len(lines) {
		source = lines[line-1]
	}
	var commands []string
	for _, found := range call.FindAllStringSubmatch(source, -1) {
		commands = append(commands, found[1])
	}
	slices.Sort(commands)
	return slices.Compact(commands)
}

// sourceOf is the text of a script, which the client keeps only the hash of.
func sourceOf(script *redis.Script) string {
	for _, source := range []string{
		lua.Take(), lua.TakeAll(), lua.Give(), lua.Limit(), lua.Hold(), lua.Reset(), lua.Beat(), lua.Cool(),
		lua.WindowTake(), lua.WindowGive(), lua.WindowCool(),
	} {
		if redis.NewScript(source).Hash() == script.Hash() {
			return source
		}
	}
	return ""
}
