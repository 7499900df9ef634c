package ui

import (
	"errors"
	"slices"
	"testing"

	"bucketop/bucketctl"
)

// Whoever quits while a change is under way is told so by whoever ran the console.
func TestAChangeUnderWayAtTheEndIsNotForgotten(t *testing.T) {
	b := newBench(t, pictureSnapshot(), 80, 24)
	if b.unfinished(nil) != nil {
		t.Error("an end without changes is none")
	}
	first, _ := b.change("a", "hold of a", nil)
	second, _ := b.change("b", "reset of b", nil)
	end := errors.New("a signal")
	var left *UnfinishedError
	if err := b.unfinished(end); !errors.As(err, &left) || !slices.Equal(left.Changes, []string{"hold of a", "reset of b"}) || !errors.Is(err, end) {
		t.Errorf("two under way: %v", err)
	}
	b.send(changeDone{id: first, key: "a", err: bucketctl.ErrUnavailable}) // told on the screen
	if err := b.unfinished(nil); !errors.As(err, &left) || !slices.Equal(left.Changes, []string{"reset of b"}) || left.End != nil {
		t.Errorf("one under way: %v", err)
	}
	b.send(changeDone{id: second, key: "b"})
	if err := b.unfinished(end); !errors.Is(err, end) || errors.As(err, &left) {
		t.Errorf("none under way: %v", err)
	}
}
