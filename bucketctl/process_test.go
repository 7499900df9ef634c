package bucketctl

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// process is a worker process of its own: the test binary once more, doing a
// job. It may be killed, which a goroutine may not.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
	ended  chan struct{} // closed when all that it said was read, and it is gone

	mu     sync.Mutex
	lines  []line
	killed bool
}

// startProcess starts a worker process, which waits for its release.
func startProcess(t *testing.T, j job) *process {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
	// The race detector would make each of them linger for a second.
	p.cmd.Env = append(os.Environ(), jobVariable+"="+string(text), "GORACE=atexit_sleep_ms=0")
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.listen(stdout)
	t.Cleanup(func() { p.kill(); <-p.ended })
	return p
}

// startProcesses starts n alike, and returns when all of them are ready.
func startProcesses(t *testing.T, n int, j job) []*process {
	t.Helper()
	all := make([]*process, n)
	for i := range all {
		j.Seed++
		all[i] = startProcess(t, j)
	}
	for _, p := range all {
		p.await("ready", 1)
	}
	return all
}

// listen keeps what the process says until it ends.
func (p *process) listen(stdout io.Reader) {
	defer close(p.ended)
	in := bufio.NewScanner(stdout)
	for in.Scan() {
		var said line
		if err := json.Unmarshal(in.Bytes(), &said); err != nil {
			said = line{Kind: "wrong", Text: in.Text()}
		}
		p.mu.Lock()
		p.lines = append(p.lines, said)
		p.mu.Unlock()
	}
	err := p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil && !p.killed {
		p.lines = append(p.lines, line{Kind: "wrong", Text: err.Error() + ": " + p.stderr.String()})
	}
}

// said returns what the process has said of that kind.
func (p *process) said(kind string) []line {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []line
	for _, l := range p.lines {
		if l.Kind == kind {
			out = append(out, l)
		}
	}
	return out
}

// await returns when the process has said n lines of that kind.
func (p *process) await(kind string, n int) {
	p.t.Helper()
	awaitTrue(p.t, func() bool {
		p.check()
		return len(p.said(kind)) >= n
	})
}

// check fails the test where the process met what it did not expect.
func (p *process) check() {
	p.t.Helper()
	for _, l := range p.said("wrong") {
		p.t.Fatalf("a worker process: %s", l.Text)
	}
}

// release lets the process begin.
func (p *process) release() {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, "go\n"); err != nil {
		p.t.Fatal(err)
	}
}

// end lets the process end in order, and waits for that.
func (p *process) end() {
	p.t.Helper()
	_ = p.stdin.Close()
	select {
	case <-p.ended:
		p.check()
	case <-time.After(20 * time.Second):
		p.t.Error("a worker process does not end")
	}
}

// kill ends the process in the midst of what it does.
func (p *process) kill() {
	p.mu.Lock()
	p.killed = true
	p.mu.Unlock()
	_ = p.cmd.Process.Kill() // fails only where it has ended by itself
}

func releaseAll(all []*process) {
	for _, p := range all {
		p.release()
	}
}

func endAll(all []*process) {
	for _, p := range all {
		_ = p.stdin.Close()
	}
	for _, p := range all {
		p.end()
	}
}

// tokensBetween are those that these processes started with, from one server
// time until another.
func tokensBetween(all []*process, from, until time.Time) float64 {
	var sum float64
	for _, p := range all {
		for _, l := range p.said("start") {
			if l.At >= from.UnixMicro() && l.At < until.UnixMicro() {
				sum += l.N
			}
		}
	}
	return sum
}

// serverTime is Redis' clock.
func serverTime(t *testing.T, c *redis.Client) time.Time {
	t.Helper()
	now, err := c.Time(context.Background()).Result()
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// awaitServerTime lets a measure take its time.
func awaitServerTime(t *testing.T, c *redis.Client, until time.Time) {
	t.Helper()
	for left := time.Hour; left > 0; left = until.Sub(serverTime(t, c)) {
		sleep(t.Context(), min(left, 50*time.Millisecond))
	}
}
