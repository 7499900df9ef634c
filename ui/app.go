package ui

import (
	"context"
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// Source is where the console gets its data; a *watch.Watcher is one. None of
// its methods blocks.
type Source interface {
	Snapshot() *watch.Snapshot // the newest; never nil, never changed afterwards
	Updates() <-chan struct{}  // receives when there is a newer one
	Show(keys []string)        // the buckets on screen, to be asked for often
	Refresh()                  // ask now
	// Prefer says which buckets a snapshot lists where it has not room for all;
	// match may be called by another goroutine.
	Prefer(match func(key string) bool)
	Pause(paused bool) // ask nothing for a while
}

// Admin is the one door through which the console changes anything; a
// *bucketctl.Admin is one.
type Admin interface {
	ReadOnly() bool
	By() string
	Events(ctx context.Context, q bucketctl.EventQuery) ([]bucketctl.Event, error)
	SetLimit(ctx context.Context, key string, rev bucketctl.Rev, c bucketctl.LimitChange) (bucketctl.Change, error)
	ClearLimit(ctx context.Context, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error)
	Hold(ctx context.Context, key string, rev bucketctl.Rev, end bucketctl.End, reason string) (bucketctl.Change, error)
	Resume(ctx context.Context, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error)
	Undo(ctx context.Context, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error)
	Reset(ctx context.Context, key string, rev bucketctl.Rev, to bucketctl.Target, reason string) (bucketctl.Change, error)
	Delete(ctx context.Context, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error)
}

var _ Admin = (*bucketctl.Admin)(nil)

// Config is what the console needs.
type Config struct {
	Source Source // required
	Admin  Admin  // required
	Title  string // what is watched, such as "prod cache-1:6379"; default: the server's address

	ASCII   bool // nothing beyond ASCII on the screen
	NoColor bool // as NO_COLOR in the environment

	Now func() time.Time // local clock; default: time.Now

	output io.Writer // whose colours count, and where a copied name goes; nil in tests: none
}

// app is the console's one bubbletea model. Screens and dialogs are parts of
// it that have no loop of their own.
type app struct {
	styles
	look     look
	ctx      context.Context // ends when the console ends; only Cmds use it
	stop     context.CancelFunc
	source   Source
	admin    Admin
	title    string
	clock    func() time.Time
	terminal io.Writer // for what is no part of the screen; nil: none

	width, height int
	snap          *watch.Snapshot // what is shown; swapped by the clock alone
	tickAt        time.Time       // local time of the newest tick: what the screen is drawn for
	swappedAt     time.Time       // local time at which snap came onto the screen
	frozenAt      time.Time       // local time at which data stopped moving: paused, or Redis lost
	paused        bool
	showCost      bool
	asked         []string // the buckets the source was told are on screen
	alertAt       int      // the alert that the key a went to last
	alerted       bool     // it went to one

	canSuspend func() bool // whether a shell would continue the console
	ask        func()      // asks the terminal about its background; nil: nobody asks

	actions []action
	screens []screen // the last is shown; the first is always the list
	list    *listScreen

	dialogs  []dialog
	openedAt time.Time // when the top dialog became the top

	keyAt   time.Time // local time of the newest key
	burst   bool      // the key being handled came in one piece with others
	pending *tea.KeyMsg
	notice  *notice

	underWay map[int]string // changes that nobody has answered yet, by request id

	lastID, tickGen, pendingGen int
	fatal                       error // why the console ends, when it is not the operator's wish
}

// newApp returns the model before its first message. stop ends ctx, which ends
// the console where a view panics.
func newApp(ctx context.Context, stop context.CancelFunc, c Config) *app {
	a := &app{
		ctx: ctx, stop: stop,
		source: c.Source, admin: c.Admin, title: c.Title, clock: c.Now, terminal: c.output,
		look: look{ascii: c.ASCII, noColor: c.NoColor, output: c.output},
	}
	if a.clock == nil {
		a.clock = time.Now
	}
	a.canSuspend = func() bool { return false }
	a.underWay = map[int]string{}
	a.styles = newStyles(a.look)
	a.actions = newActions()
	a.list = newListScreen()
	a.screens = []screen{a.list}
	a.tickAt = a.now()
	a.take(a.source.Snapshot())
	return a
}

// now is the local time. Only differences of it mean anything: Redis' time is
// serverNow.
func (a *app) now() time.Time { return a.clock() }

// serverNow is the server's time for which the screen is drawn; zero before
// the first reading.
func (a *app) serverNow() time.Time { return a.serverTime(a.tickAt) }

// dataNow is the server's time up to which levels and ages may be reckoned on
// from the snapshot: they stand still while paused and while Redis is lost.
func (a *app) dataNow() time.Time {
	if !a.frozenAt.IsZero() {
		return a.serverTime(a.frozenAt)
	}
	return a.serverNow()
}

// serverTime converts a local time.
func (a *app) serverTime(local time.Time) time.Time {
	if a.snap.At.IsZero() {
		return time.Time{}
	}
	return a.snap.At.Add(max(0, local.Sub(a.snap.Taken)))
}

// take makes a snapshot the one that is shown.
func (a *app) take(s *watch.Snapshot) {
	a.snap = s
	if s.Link.State == watch.Lost && a.frozenAt.IsZero() {
		a.frozenAt = s.Taken // what came after that reading is not known
	}
	if s.Link.State != watch.Lost && !a.paused {
		a.frozenAt = time.Time{}
	}
	for _, s := range a.screens {
		s.take(a)
	}
}

// bucket returns what is known of a bucket by now, and whether it is still
// known.
func (a *app) bucket(key string) (watch.Bucket, bool) {
	i, ok := a.list.index[key]
	if !ok {
		return watch.Bucket{Key: key}, false
	}
	return a.snap.Buckets[i], true
}

// blocked says in one sentence why nothing may be written now; it is empty when
// something may.
func (a *app) blocked() string {
	switch {
	case a.admin.ReadOnly():
		return "Read-only: this console was opened to look, not to change."
	case a.snap.Link.State == watch.Connecting:
		return "Not connected yet: nothing can be changed before Redis answers."
	case a.snap.Link.State == watch.Lost:
		return "Redis is lost: nothing can be changed until it answers again."
	}
	return ""
}

// Init starts the clock and the wait for data.
func (a *app) Init() tea.Cmd {
	ask := a.ask
	return tea.Batch(a.tick(tickEvery), a.awaitUpdate(), func() tea.Msg {
		if ask != nil {
			ask() // not before the terminal is in raw mode, or it would echo the answer
		}
		return nil
	})
}
