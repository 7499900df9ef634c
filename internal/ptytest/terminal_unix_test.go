//go:build unix

package ptytest

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// recorder keeps the failures of a test instead of failing it.
type recorder struct {
	testing.TB
	failed []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}

// A harness that overlooks what a program leaves behind would keep its tests green
// for ever.
func TestRestoredSeesWhatIsLeftBehind(t *testing.T) {
	for script, failures := range map[string]int{
		`printf 'all is well'`:                                  0,
		`printf '\033[?1049h\033[?25l\033[?1049l\033[?25h'`:     0,
		`printf '\033[?1049h\033[?25l\033[?1049l'`:              1,
		`printf '\033[?25h\033[?25l'; stty -echo`:               2,
		`stty -echo; printf 'Password: '; read x; stty echo`:    0,
		`stty raw; printf '\033[?2004h'; exec printf '\033[?1'`: 2,
	} {
		r := &recorder{TB: t}
		x := Start(r, exec.Command("sh", "-c", script), Config{})
		if strings.Contains(script, "Password") {
			x.AwaitNoEcho()
			x.Await("Password: ")
			x.Type("hunter2\n")
		}
		if code := x.End(); code != 0 {
			t.Errorf("%s: exit %d, %q", script, code, x.Text())
		}
		if x.Restored(); len(r.failed) != failures {
			t.Errorf("%s: %q, want %d failures", script, r.failed, failures)
		}
	}
}

func TestAnswersAndExitCodes(t *testing.T) {
	x := Start(t, exec.Command("sh", "-c", `stty -icanon -echo; printf '\033[6n'; printf '<%s>' "$(dd bs=1 count=6 2>/dev/null | tail -c 4)"; stty icanon echo; exit 7`), Config{Answers: true})
	x.Await("<1;1R>")
	if code := x.End(); code != 7 {
		t.Errorf("exit %d", code)
	}
	x.Restored()
	x = Start(t, exec.Command("sleep", "60"), Config{})
	x.HangUp()
	if code := x.End(); code != -1 {
		t.Errorf("of a hangup: exit %d", code)
	}
	x = Start(t, exec.Command("sh", "-c", "echo FIRST; read x; echo LIVE"), Config{})
	x.Await("FIRST")
	x.Type("\n")
	x.AwaitAfter("FIRST", "LIVE")
	if x.hasAfter("LIVE", "FIRST") || x.hasAfter("nothing", "") {
		t.Error("found before the mark, or without one")
	}
}
