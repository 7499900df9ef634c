package redistest

import (
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// link is one forwarded connection: two sockets, and what the switches of its
// Forwarder did to it, guarded by the Forwarder's rules.
type link struct {
	client, target net.Conn
	once           sync.Once
	closed         chan struct{}

	thawed chan struct{} // not nil while frozen; closed at the end of that
	mute   bool          // an answer has been thrown away
}

func (l *link) close() {
	l.once.Do(func() {
		close(l.closed)
		_ = l.client.Close()
		_ = l.target.Close()
	})
}

// piece is what one read returned, and when.
type piece struct {
	bytes []byte
	read  time.Time
	luck  float64 // which part of a random delay it gets, below 1
}

// forward copies one direction of a link until either side closes. Reading goes
// on while a piece waits, or delays would add up.
func (f *Forwarder) forward(l *link, from, to net.Conn, isReply bool) {
	pieces := make(chan piece, 1024)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(pieces)
		for {
			buffer := make([]byte, 32<<10)
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			select {
			case pieces <- piece{buffer[:n], time.Now(), rand.Float64()}:
			case <-l.closed:
				return
			}
		}
	})
	for p := range pieces {
		if !f.pass(l, p, to, isReply) {
			break
		}
	}
	l.close()
	reader.Wait()
}

// pass hands one piece on when its time has come; false ends the link.
func (f *Forwarder) pass(l *link, p piece, to net.Conn, isReply bool) bool {
	for {
		hold, thawed, ok := f.judge(l, p, to, isReply)
		if hold == 0 && thawed == nil {
			return ok
		}
		var due <-chan time.Time // never, while frozen
		if thawed == nil {
			due = time.After(hold)
		}
		select {
		case <-due:
		case <-thawed:
		case <-l.closed:
			return false
		}
	}
}

// judge writes a piece, swallows it, or says what to wait for before asking
// again: so much time, or a frozen link's thaw.
func (f *Forwarder) judge(l *link, p piece, to net.Conn, isReply bool) (hold time.Duration, thawed <-chan struct{}, ok bool) {
	f.rules.RLock()
	defer f.rules.RUnlock()
	delay := f.toward
	if isReply {
		delay = f.back
	}
	if f.random {
		delay = time.Duration(p.luck * float64(delay))
	}
	if hold = delay - time.Since(p.read); hold > 0 {
		return hold, nil, true
	}
	if l.thawed != nil {
		return 0, l.thawed, true
	}
	if isReply && (f.swallow || l.mute) {
		l.mute = true // only this direction's goroutine touches it
		return 0, nil, true
	}
	_, err := to.Write(p.bytes)
	return 0, nil, err == nil
}
