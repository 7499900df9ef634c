// Package trial measures one peer in one shape: so many goroutines in so many
// processes, that all draw from one bucket.
package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bucketop/internal/bench/child"
	"bucketop/internal/bench/figure"
	"bucketop/internal/bench/peer"
	"bucketop/internal/bench/server"
)

// Setting is how much there is to draw.
type Setting string

// Settings.
const (
	// Plenty is a limit so high that nobody waits: it shows what a grant costs.
	Plenty Setting = "no shortage"
	// Short is a limit with always more waiters than tokens: it shows what
	// waiting costs, how much of the allowance is used, and by whom.
	Short Setting = "shortage"
)

// ShortLimit is the limit of Short.
func ShortLimit() peer.Limit { return peer.Limit{Rate: 50, Capacity: 5} }

// Shape is who draws. Goroutines are those of all processes together.
type Shape struct {
	Processes, Goroutines int
}

// Trial is one measurement.
type Trial struct {
	Setting Setting
	Shape   Shape
	Peer    peer.Peer
	Length  time.Duration
}

const (
	warmUp = 100 * time.Millisecond // of each child
	// patience is for all that surrounds the measured time: starting 20
	// processes on a busy machine, and calls under way at the end.
	patience = 30 * time.Second
)

// Run measures once. The server is emptied before.
func (t Trial) Run(ctx context.Context, s *server.Server) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, t.Length+patience)
	defer cancel()
	if err := s.Empty(ctx); err != nil {
		return Outcome{}, err
	}
	crew, err := t.startAll(ctx, s.Addr)
	if err != nil {
		return Outcome{}, err
	}
	outcome, err := t.measure(ctx, s, crew)
	for _, p := range crew {
		err = errors.Join(err, p.end())
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("%s, %s, %d goroutines in %d processes: %w",
			t.Peer.Name, t.Setting, t.Shape.Goroutines, t.Shape.Processes, err)
	}
	return outcome, nil
}

// startAll returns when every child is ready.
func (t Trial) startAll(ctx context.Context, addr string) (crew []*process, err error) {
	defer func() {
		if err == nil {
			return
		}
		for _, p := range crew {
			err = errors.Join(err, p.end())
		}
	}()
	for i := range t.Shape.Processes {
		p, err := start(ctx, child.Job{
			Peer:       t.Peer.Name,
			Addr:       addr,
			Key:        "bucket",
			Limit:      ShortLimit(),
			Goroutines: t.Shape.of(i),
			WarmKey:    fmt.Sprintf("warm:%d", i),
			Warm:       warmUp,
			Short:      t.Setting == Short,
		})
		if err != nil {
			return crew, err
		}
		crew = append(crew, p)
	}
	for _, p := range crew {
		if err := p.awaitReady(); err != nil {
			return crew, err
		}
	}
	return crew, nil
}

// of is how many goroutines process i has: they are spread evenly.
func (s Shape) of(i int) int {
	n := s.Goroutines / s.Processes
	if i < s.Goroutines%s.Processes {
		n++
	}
	return n
}

// measure lets the children go, and reads what the server did for them.
func (t Trial) measure(ctx context.Context, s *server.Server, crew []*process) (Outcome, error) {
	before, err := s.Commands(ctx)
	if err != nil {
		return Outcome{}, err
	}
	began := time.Now()
	if err := tellAll(crew, child.Go); err != nil {
		return Outcome{}, err
	}
	time.Sleep(t.Length) // the measure itself
	// Where nobody waits the calls under way still become grants, so the server
	// is read after them. Where tokens are short, what follows the stop is the
	// end of the trial and not a part of it.
	var after figure.Commands
	if t.Setting == Short {
		if after, err = s.Commands(ctx); err != nil {
			return Outcome{}, err
		}
	}
	if err := tellAll(crew, child.Stop); err != nil {
		return Outcome{}, err
	}
	results := make([]child.Result, len(crew))
	for i, p := range crew {
		if results[i], err = p.result(); err != nil {
			return Outcome{}, err
		}
	}
	if t.Setting == Plenty {
		if after, err = s.Commands(ctx); err != nil {
			return Outcome{}, err
		}
	}
	return t.outcome(began, results, after.Since(before)), nil
}

func tellAll(crew []*process, order string) error {
	for _, p := range crew {
		if err := p.tell(order); err != nil {
			return fmt.Errorf("telling a child to %s: %w", order, err)
		}
	}
	return nil
}
