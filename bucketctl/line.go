package bucketctl

import (
	"container/list"
	"sync"
)

// line is where callers of one process stand, in their order of arrival. The
// first of them speaks for all: so a process asks Redis once for a queue, and
// not once per caller.
type line struct {
	mu      sync.Mutex
	callers list.List // of *place; the front has its turn
}

// place is one caller's place in the line.
type place struct {
	turn    chan struct{} // closed when it is at the front
	element *list.Element
}

// enter takes the last place.
func (l *line) enter() *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &place{turn: make(chan struct{})}
	p.element = l.callers.PushBack(p)
	l.callFront()
	return p
}

// leave gives a place up, from wherever it is, and lets the next one forward.
func (l *line) leave(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.callers.Remove(p.element)
	l.callFront()
}

// callFront tells the first caller, once, that it is its turn.
func (l *line) callFront() {
	front := l.callers.Front()
	if front == nil {
		return
	}
	p, ok := front.Value.(*place)
	if !ok {
		return // the list holds nothing else
	}
	select {
	case <-p.turn:
	default:
		close(p.turn)
	}
}

// length is how many callers stand in the line.
func (l *line) length() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.callers.Len()
}
