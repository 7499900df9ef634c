package ui

import (
	"context"
	"errors"
	"fmt"

	_ "bucketop/internal/noprobe" // without it a terminal that does not answer costs 5 s
)

// childVariable makes a test process the console of TestRun.
const childVariable = "BUCKETOP_UI_CHILD"

// How the console in a child ended, as its exit status.
const (
	endedWell = iota
	endedByFlags
	_ // a Go panic that nobody caught
	endedBySignal
	endedByPanic
	endedByHangup
	endedByContext
	endedOtherwise
)

// childSource ends the console's context where it calls Pause, and panics where
// it calls Pause of a broken one.
type childSource struct {
	fakeSource
	broken bool
	cancel context.CancelFunc
}

func (s *childSource) Pause(bool) {
	if s.broken {
		panic("the source is broken")
	}
	s.cancel()
}

// runChild is the console on this process's terminal, over the picture.
func runChild(how string) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	source := &childSource{fakeSource{snap: pictureSnapshot(), updates: make(chan struct{})}, how == "broken", cancel}
	err := Run(ctx, Config{Source: source, Admin: &fakeAdmin{}, Title: "child"})

	var bySignal *SignalError
	var byPanic *PanicError
	switch {
	case err == nil:
		return endedWell
	case errors.As(err, &bySignal):
		return endedBySignal
	case errors.As(err, &byPanic):
		fmt.Println(err)
		return endedByPanic
	case errors.Is(err, ErrHangup):
		return endedByHangup
	case errors.Is(err, context.Canceled):
		return endedByContext
	}
	return endedOtherwise
}
