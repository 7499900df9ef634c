package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"bucketop/internal/bench/peer"
	"bucketop/internal/bench/trial"
)

// plan is what a run measures.
type plan struct {
	peers       []peer.Peer
	goroutines  []int // of all processes together
	processes   []int
	length      time.Duration // of one trial without a shortage
	rounds      int
	shortLength time.Duration
	shortRounds int
}

func parsePlan(args []string) (plan, error) {
	var p plan
	var names []string
	flags := pflag.NewFlagSet("peers", pflag.ContinueOnError)
	flags.StringSliceVar(&names, "only", nil, "`PEERS` to measure, as in the table; parts of names will do")
	flags.IntSliceVar(&p.goroutines, "goroutines", []int{1, 16, 256, 1024}, "callers, of all processes together")
	flags.IntSliceVar(&p.processes, "processes", []int{1, 4, 20}, "processes; more than callers are left out")
	flags.DurationVar(&p.length, "for", 400*time.Millisecond, "length of one trial")
	flags.IntVar(&p.rounds, "rounds", 3, "times that each trial runs; the table has the medians")
	flags.DurationVar(&p.shortLength, "short-for", 10*time.Second, "length of one trial with a shortage")
	flags.IntVar(&p.shortRounds, "short-rounds", 1, "times that each trial with a shortage runs; 0: none")
	if err := flags.Parse(args); err != nil {
		return plan{}, err
	}
	if flags.NArg() > 0 {
		return plan{}, fmt.Errorf("%q is too much", flags.Arg(0))
	}
	slices.Sort(p.goroutines)
	slices.Sort(p.processes)
	var err error
	p.peers, err = choose(names)
	return p, errors.Join(err, p.validate())
}

func (p plan) validate() error {
	switch {
	case len(p.goroutines) == 0 || p.goroutines[0] < 1:
		return errors.New("--goroutines: from 1")
	case len(p.processes) == 0 || p.processes[0] < 1:
		return errors.New("--processes: from 1")
	case p.length <= 0 || p.shortLength <= 0:
		return errors.New("--for and --short-for: more than 0")
	case p.rounds < 0 || p.shortRounds < 0 || p.rounds+p.shortRounds == 0:
		return errors.New("--rounds and --short-rounds: from 0, one of them from 1")
	}
	return nil
}

// choose returns the peers of which a name is a part; all where there is none.
func choose(names []string) ([]peer.Peer, error) {
	all := peer.All()
	for _, name := range names {
		if !slices.ContainsFunc(all, func(p peer.Peer) bool { return strings.Contains(p.Name, name) }) {
			return nil, fmt.Errorf("--only: no peer is called %q", name)
		}
	}
	return slices.DeleteFunc(all, func(p peer.Peer) bool {
		return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(p.Name, name) })
	}), nil
}

// shapes are all that have a goroutine for each process.
func (p plan) shapes() (out []trial.Shape) {
	for _, processes := range p.processes {
		for _, goroutines := range p.goroutines {
			if goroutines >= processes {
				out = append(out, trial.Shape{Processes: processes, Goroutines: goroutines})
			}
		}
	}
	return out
}

// shortShapes are those with the most goroutines, in the fewest and the most
// processes: these trials are long, since turns between processes even out only
// in time, and fewer callers stampede less.
func (p plan) shortShapes() []trial.Shape {
	callers, few, many := last(p.goroutines), p.processes[0], last(p.processes)
	return slices.DeleteFunc(p.shapes(), func(s trial.Shape) bool {
		return s.Goroutines < callers || (s.Processes != few && s.Processes != many)
	})
}

func last(sorted []int) int { return sorted[len(sorted)-1] }

// trials are all of the run, in order. Within a round the peers follow each
// other in the same shape, so that what the machine does meanwhile meets all
// of them; each round begins with another one.
func (p plan) trials() (out []trial.Trial) {
	for round := range p.rounds {
		for _, shape := range p.shapes() {
			for i := range p.peers {
				out = append(out, trial.Trial{Setting: trial.Plenty, Shape: shape, Peer: p.peers[(round+i)%len(p.peers)], Length: p.length})
			}
		}
	}
	limiters := slices.DeleteFunc(slices.Clone(p.peers), func(p peer.Peer) bool { return p.Unlimited })
	for range p.shortRounds {
		for _, shape := range p.shortShapes() {
			for _, one := range limiters {
				out = append(out, trial.Trial{Setting: trial.Short, Shape: shape, Peer: one, Length: p.shortLength})
			}
		}
	}
	return out
}
