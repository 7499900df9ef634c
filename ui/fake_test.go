package ui

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// t0 is server time and local time of the newest reading in tests.
var t0 = time.Date(2026, 3, 14, 14, 32, 5, 0, time.UTC)

// fakeSource hands out whatever snapshot a test puts into it.
type fakeSource struct {
	snap      *watch.Snapshot
	updates   chan struct{}
	shown     []string
	refreshed int
	paused    bool
	prefer    func(key string) bool
	preferred int // times
}

func (s *fakeSource) Snapshot() *watch.Snapshot { return s.snap }
func (s *fakeSource) Updates() <-chan struct{}  { return s.updates }
func (s *fakeSource) Show(keys []string)        { s.shown = append([]string(nil), keys...) }
func (s *fakeSource) Refresh()                  { s.refreshed++ }
func (s *fakeSource) Pause(paused bool)         { s.paused = paused }

func (s *fakeSource) Prefer(match func(key string) bool) {
	s.prefer = match
	s.preferred++
}

// fakeAdmin records what it is asked to change. answer and err are what every
// change yields.
type fakeAdmin struct {
	readOnly bool
	calls    []string // such as "Reset geo:py rev 7"
	rev      bucketctl.Rev
	limit    bucketctl.LimitChange
	end      bucketctl.End
	target   bucketctl.Target
	reason   string

	events []bucketctl.Event
	answer bucketctl.Change
	err    error
}

func (f *fakeAdmin) ReadOnly() bool { return f.readOnly }
func (f *fakeAdmin) By() string     { return "anna@ops1" }

func (f *fakeAdmin) Events(context.Context, bucketctl.EventQuery) ([]bucketctl.Event, error) {
	return f.events, f.err
}

func (f *fakeAdmin) did(what, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error) {
	f.calls = append(f.calls, what+" "+key)
	f.rev, f.reason = rev, reason
	return f.answer, f.err
}

func (f *fakeAdmin) SetLimit(_ context.Context, key string, rev bucketctl.Rev, c bucketctl.LimitChange) (bucketctl.Change, error) {
	f.limit = c
	return f.did("SetLimit", key, rev, c.Reason)
}

func (f *fakeAdmin) ClearLimit(_ context.Context, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error) {
	return f.did("ClearLimit", key, rev, reason)
}

func (f *fakeAdmin) Hold(_ context.Context, key string, rev bucketctl.Rev, end bucketctl.End, reason string) (bucketctl.Change, error) {
	f.end = end
	return f.did("Hold", key, rev, reason)
}

func (f *fakeAdmin) Resume(_ context.Context, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error) {
	return f.did("Resume", key, rev, reason)
}

func (f *fakeAdmin) Undo(_ context.Context, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error) {
	return f.did("Undo", key, rev, reason)
}

func (f *fakeAdmin) Reset(_ context.Context, key string, rev bucketctl.Rev, to bucketctl.Target, reason string) (bucketctl.Change, error) {
	f.target = to
	return f.did("Reset", key, rev, reason)
}

func (f *fakeAdmin) Delete(_ context.Context, key string, rev bucketctl.Rev, reason string) (bucketctl.Change, error) {
	return f.did("Delete", key, rev, reason)
}

// bench is a console without a terminal, on a clock of the test's own.
type bench struct {
	*app
	t      testing.TB
	source *fakeSource
	admin  *fakeAdmin
	local  time.Time
	blind  bool // nothing is drawn: on the way to what a test is about
}

// newBench returns a console of width x height over snap.
func newBench(t testing.TB, snap *watch.Snapshot, width, height int) *bench {
	return newBenchWith(t, snap, width, height, Config{Title: "prod cache-1:6379"})
}

func newBenchWith(t testing.TB, snap *watch.Snapshot, width, height int, c Config) *bench {
	b := &bench{
		t:      t,
		source: &fakeSource{snap: snap, updates: make(chan struct{}, 1)},
		admin:  &fakeAdmin{},
		local:  t0,
	}
	c.Source, c.Admin, c.Now = b.source, b.admin, func() time.Time { return b.local }
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	b.app = newApp(ctx, stop, c)
	b.send(tea.WindowSizeMsg{Width: width, Height: height})
	return b
}

// send gives the console one message and returns the Cmd it asked for.
func (b *bench) send(msg tea.Msg) tea.Cmd {
	_, cmd := b.app.Update(msg)
	if !b.blind {
		b.app.View() // bubbletea draws after each message
	}
	return cmd
}

// press types keys one by one, as a person does: "R", "enter", "ctrl+c".
// Requests to the fake Admin that follow are answered.
func (b *bench) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.local = b.local.Add(300 * time.Millisecond)
		cmd := b.send(keyMsg(k))
		if b.app.pending != nil {
			cmd = b.send(settledMsg{b.app.pendingGen})
		}
		b.answer(cmd)
	}
}

// pressAtOnce sends keys in separate messages within one moment.
func (b *bench) pressAtOnce(keys ...string) {
	b.local = b.local.Add(300 * time.Millisecond)
	for _, k := range keys {
		b.send(keyMsg(k))
	}
	b.send(settledMsg{b.app.pendingGen})
}

// typed types a text rune by rune.
func (b *bench) typed(text string) {
	for _, r := range text {
		b.press(string(r))
	}
}

// answer runs cmd and gives the console what it yields.
func (b *bench) answer(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			b.answer(c)
		}
	default:
		b.send(msg)
	}
}

// pass lets d go by and rings the clock.
func (b *bench) pass(d time.Duration) {
	b.local = b.local.Add(d)
	b.send(tickMsg{b.app.tickGen})
}

// feed shows another snapshot, as the clock would.
func (b *bench) feed(snap *watch.Snapshot) {
	b.source.snap = snap
	b.send(tickMsg{b.app.tickGen})
}

// screenText is what is drawn, without colours.
func (b *bench) screenText() string { return b.app.View() }

// want fails unless the screen shows all texts.
func (b *bench) want(texts ...string) {
	b.t.Helper()
	screen := b.screenText()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			b.t.Errorf("%q is not on the screen:\n%s", text, screen)
		}
	}
}

// keyMsg is the message of a key by its name.
func keyMsg(name string) tea.KeyMsg {
	for _, k := range []tea.KeyType{
		tea.KeyEnter, tea.KeyEsc, tea.KeyTab, tea.KeyShiftTab, tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight,
		tea.KeyHome, tea.KeyEnd, tea.KeyPgUp, tea.KeyPgDown, tea.KeyBackspace, tea.KeyDelete, tea.KeySpace,
		tea.KeyCtrlC, tea.KeyCtrlZ, tea.KeyCtrlU, tea.KeyCtrlB, tea.KeyCtrlF,
	} {
		if msg := (tea.KeyMsg{Type: k}); msg.String() == name {
			if k == tea.KeySpace {
				msg.Runes = []rune{' '}
			}
			return msg
		}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// aBucket is a healthy bucket that tests change to what they need.
func aBucket(key string, limit bucketctl.Limit, level float64) watch.Bucket {
	return watch.Bucket{
		Key: key,
		State: bucketctl.State{
			Key: key, Kind: bucketctl.KindBucket, Type: "hash", At: t0, TTL: 24 * time.Hour,
			Level: level, Declared: limit, Effective: limit, Rev: 12,
		},
		Seen:     t0,
		Status:   watch.Status{Code: watch.OK},
		Granted:  0,
		Used:     math.NaN(),
		Waiting:  0,
		LargestN: 1,
	}
}
