// Command bench measures bucketctl beside other limiters, in one run on one
// machine: what a grant costs where nobody waits, and what waiting costs where
// tokens are short.
//
//	go run -C internal/bench . peers
//
// prints the table of README, every figure behind it, and which targets are
// met, as markdown. It starts a Redis server of its own and ends it, and starts
// itself again as the processes that draw. It takes about five minutes; what is
// under way is told on standard error. Where other programs use the machine
// meanwhile, ratios hold better than figures.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/pflag"

	"bucketop/internal/bench/child"
	"bucketop/internal/bench/report"
	"bucketop/internal/bench/server"
	"bucketop/internal/bench/trial"
)

func main() {
	logging.Disable() // go-redis tells of connections that a trial's end cuts off
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 1 && args[0] == child.Argument:
		return child.Run(ctx, os.Stdin, os.Stdout)
	case len(args) > 0 && args[0] == "peers":
		return comparePeers(ctx, args, os.Stdout, os.Stderr)
	}
	return errors.New("say what to measure: peers")
}

// comparePeers measures what args ask for and writes the report.
func comparePeers(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	p, err := parsePlan(args[1:])
	if err != nil {
		return err
	}
	s, err := server.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.End()) }()
	var r report.Report
	trials := p.trials()
	for i, t := range trials {
		_, _ = fmt.Fprintf(progress, "%d of %d: %s, %s, %d goroutines, %d processes\n",
			i+1, len(trials), t.Peer.Name, t.Setting, t.Shape.Goroutines, t.Shape.Processes)
		o, err := t.Run(ctx, s)
		if err != nil {
			return err
		}
		if o.Failure != "" {
			_, _ = fmt.Fprintf(progress, "  calls failed, such as: %s\n", o.Failure)
		}
		r.Add(t, o)
	}
	return write(out, p, r, machine(s.Version, time.Now())+`, "go run -C internal/bench . `+strings.Join(args, " ")+`"`)
}

func write(out io.Writer, p plan, r report.Report, where string) error {
	limit := trial.ShortLimit()
	_, err := fmt.Fprintf(out, `%s

%s
## No shortage: nobody waits for tokens

Each peer with the defaults of its client; %v a trial, medians of %d. Goroutines are those of all processes together.
The first two figures are relative to redis_rate; those from allocs on are per grant. Redis calls and server µs are
those of all commands that the peer sent, by INFO commandstats.

%s
## Shortage: %d tokens a second, capacity %d, always more waiters than tokens

%v a trial, medians of %d. Used: part of capacity + rate x time. Above: grants more than capacity + rate x span in the
worst span, by the server's time of each grant where the peer tells it, else by when it was received on the same machine,
which jitter alone puts a grant or two above.
ulule/limiter has no capacity: it counts whole seconds. x/time/rate has a bucket in each process.

%s
## Targets

%s`,
		where, r.Overview(),
		p.length, p.rounds, r.Details(trial.Plenty),
		limit.Rate, limit.Capacity, p.shortLength, p.shortRounds, r.Details(trial.Short),
		r.Targets())
	return err
}
