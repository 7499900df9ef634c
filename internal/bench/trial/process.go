package trial

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"bucketop/internal/bench/child"
)

// process is a running child, seen from its parent.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start runs this program again as a child and hands it its job. The child ends
// with ctx at the latest, and, since its input then ends, with this process.
func start(ctx context.Context, job child.Job) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, child.Argument) // #nosec G204 -- this program
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a child: %w", err)
	}
	p := &process{cmd, in, bufio.NewReader(out)}
	if err := json.NewEncoder(in).Encode(job); err != nil {
		return nil, errors.Join(fmt.Errorf("telling a child its job: %w", err), p.end())
	}
	return p, nil
}

func (p *process) tell(order string) error {
	_, err := fmt.Fprintln(p.in, order)
	return err
}

func (p *process) awaitReady() error {
	line, err := p.out.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != child.Ready {
		return fmt.Errorf("a child is not ready: it said %q: %w", line, err)
	}
	return nil
}

func (p *process) result() (r child.Result, err error) {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("a child told no result: %w", err)
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("reading a child's result: %w", err)
	}
	return r, nil
}

// end lets the child close what it opened, and waits until it is gone.
func (p *process) end() error {
	return errors.Join(p.in.Close(), p.cmd.Wait())
}
