package ui

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// writeGoldens makes the golden tests write what they see instead of comparing.
const writeGoldens = "WRITE_GOLDENS"

// golden compares a screen with testdata/name.txt.
func golden(t *testing.T, name, screen string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	screen += "\n"
	if os.Getenv(writeGoldens) != "" {
		if err := os.WriteFile(path, []byte(screen), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (set %s=1 to write it)", err, writeGoldens)
	}
	if screen != string(want) {
		t.Errorf("%s differs; %s=1 accepts it. Got:\n%s\nwant:\n%s", path, writeGoldens, screen, want)
	}
}

func TestScreens(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height int
		snap          func() *watch.Snapshot
		config        Config
		keys          string
	}{
		{"list_80x24", 80, 24, pictureSnapshot, Config{}, "down"},
		{"list_40x12", 40, 12, pictureSnapshot, Config{}, "down"},
		{"list_60x16", 60, 16, pictureSnapshot, Config{}, "down down"},
		{"list_120x32", 120, 32, pictureSnapshot, Config{}, "down down"},
		{"list_200x50", 200, 50, pictureSnapshot, Config{}, ""},
		{"list_ascii", 120, 24, pictureSnapshot, Config{ASCII: true}, "down down"},
		{"list_nocolor", 80, 24, pictureSnapshot, Config{NoColor: true}, "down  "},
		{"list_filter", 80, 24, pictureSnapshot, Config{}, "/ G E O"},
		{"list_marked", 80, 24, pictureSnapshot, Config{}, "j j space j space s s"},
		{"list_cost", 80, 24, pictureSnapshot, Config{}, "c"},
		{"list_paused", 80, 24, pictureSnapshot, Config{}, "p"},
		{"list_lost", 80, 24, lostSnapshot, Config{}, "down e"},
		{"list_lost_40x12", 40, 12, lostSnapshot, Config{}, "down"},
		{"list_connecting", 80, 24, connectingSnapshot, Config{}, "R"},
		{"list_empty", 80, 24, emptySnapshot, Config{}, ""},
		{"list_hostile", 80, 24, hostileSnapshot, Config{}, "end"},
		{"list_hostile_ascii", 80, 24, hostileSnapshot, Config{ASCII: true}, "end"},
		{"too_small", 39, 12, pictureSnapshot, Config{}, ""},
		{"detail_silent_80x40", 80, 40, pictureSnapshot, Config{}, "j j enter"},
		{"detail_held_80x24", 80, 24, pictureSnapshot, Config{}, "j enter"},
		{"detail_stuck_80x24", 80, 24, pictureSnapshot, Config{}, "enter"},
		{"detail_40x12", 40, 12, pictureSnapshot, Config{}, "j j enter pgdown"},
		{"detail_ascii", 80, 40, pictureSnapshot, Config{ASCII: true}, "j j enter"},
		{"workers_80x24", 80, 24, pictureSnapshot, Config{}, "w"},
		{"workers_40x12", 40, 12, pictureSnapshot, Config{}, "w j"},
		{"workers_120x32", 120, 32, pictureSnapshot, Config{}, "w"},
		{"workers_of_bucket_80x24", 80, 24, pictureSnapshot, Config{}, "j j enter w"},
		{"workers_lost_80x24", 80, 24, lostSnapshot, Config{}, "w"},
		{"workers_lost_40x12", 40, 12, lostSnapshot, Config{}, "w"},
		{"workers_many_40x12", 40, 12, manySnapshot, Config{}, "w pgdown"},
		{"workers_hostile_120x32", 120, 32, hostileSnapshot, Config{}, "w"},
		{"events_hostile_120x32", 120, 32, hostileSnapshot, Config{}, "v"},
		{"detail_lost_80x24", 80, 24, lostSnapshot, Config{}, "j enter"},
		{"detail_many_80x24", 80, 24, manySnapshot, Config{}, "enter pgdown"},
		{"events_80x24", 80, 24, pictureSnapshot, Config{}, "v j"},
		{"events_40x12", 40, 12, pictureSnapshot, Config{}, "v"},
		{"help_80x24", 80, 24, pictureSnapshot, Config{}, "?"},
		{"help_80x70", 80, 70, pictureSnapshot, Config{}, "?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.Title = "prod cache-1:6379"
			b := newBenchWith(t, c.snap(), c.width, c.height, c.config)
			b.local = b.local.Add(-time.Duration(len(strings.Fields(c.keys))) * 300 * time.Millisecond)
			for _, k := range strings.Fields(c.keys) {
				b.press(strings.ReplaceAll(k, "space", " "))
			}
			golden(t, c.name, b.View())
		})
	}
}

func lostSnapshot() *watch.Snapshot {
	s := pictureSnapshot()
	s.Taken = t0.Add(-13 * time.Second)
	s.Link = watch.Link{State: watch.Lost, Addr: "cache-1:6379", Since: t0.Add(-12 * time.Second),
		Err: "dial tcp 10.0.0.7:6379: connect: connection refused", Tries: 5}
	return s
}

// manySnapshot is an outage of a part of a large fleet.
func manySnapshot() *watch.Snapshot {
	s := pictureSnapshot()
	b := silentRow()
	b.Key, b.Workers, s.Workers = "geocode:{many}:eu", nil, nil
	for i := range 200 {
		name := fmt.Sprintf("geo-%03d", i)
		row := worker(name, b.Key, b.State.Declared)
		w := watch.Worker{Name: name, State: watch.WorkerShared}
		w.ID, w.App, w.Host, w.PID, w.Start, w.Interval, w.Seen = name, "geocoder", "node-4", i, t0.Add(-time.Hour), 5*time.Second, row.Seen
		if i%3 == 0 {
			row.Mode, row.Reason, row.Since, row.Over, row.Share = bucketctl.ModeShare, "NOPERM", t0.Add(time.Duration(-i)*time.Second), 0.05, 0.05
			plight := row.Plight()
			w.State, w.Since, w.Why = plight.State, plight.Since, plight.Why
		}
		w.Rows = []watch.WorkerRow{row}
		b.Workers, s.Workers = append(b.Workers, row), append(s.Workers, w)
	}
	slices.SortStableFunc(s.Workers, func(x, y watch.Worker) int { return int(x.State) - int(y.State) })
	b.Status = watch.Status{Code: watch.Fallback, Text: "67 of 200", Cause: "geo-000: NOPERM"}
	s.Buckets = append([]watch.Bucket{b}, s.Buckets...)
	return s
}

func connectingSnapshot() *watch.Snapshot {
	return &watch.Snapshot{Link: watch.Link{State: watch.Connecting, Addr: "cache-1:6379", Since: t0.Add(-3 * time.Second),
		Err: "dial tcp 10.0.0.7:6379: connect: connection refused", Tries: 4}}
}

func emptySnapshot() *watch.Snapshot {
	s := pictureSnapshot()
	s.Buckets, s.Workers, s.Events, s.Alerts, s.Counts, s.Forced = nil, nil, nil, nil, nil, watch.Forced{}
	return s
}

// hostileNames are keys that do harm, or shift columns, where they are drawn as
// they are.
var hostileNames = []string{
	"a\x1b]52;c;SGk=\x07\x1b[2J\x1b[31mX", "tab\there", "line\nbreak\rreturn", "nul\x00", " spaces ", `back\slash`,
	"\xff\xfe", "rtl\u202egnp.exe", "zero\u200bwidth", "wide:配额配额配额配额配额", "family:👩\u200d👩\u200d👧", "flag:🇩🇪",
	"e\u0301", "marks:a" + strings.Repeat("\u0301", 40), "half:ｶﾞ", strings.Repeat("long", 60), "\x9b31m",
}

func hostileSnapshot() *watch.Snapshot {
	s := pictureSnapshot()
	s.Buckets, s.Counts, s.Forced = nil, nil, watch.Forced{}
	for _, name := range hostileNames {
		b := aBucket(name, bucketctl.PerMinute(60), 3)
		b.Status = watch.Status{Code: watch.Held, Text: name, Cause: name, Remedy: name}
		b.State.Hold = bucketctl.Hold{Active: true, By: name, Reason: name}
		b.State.Override = bucketctl.Override{Rate: 1}
		b.State.By, b.State.Reason, b.State.Type = name, name, name
		b.State.Problems = []bucketctl.Problem{{Field: name, Text: name}, {Text: name}}
		b.State.Raw = map[string]string{name: name}
		b.State.RawLimit = map[string]string{name: name}
		w := worker(name, name, bucketctl.PerMinute(60))
		w.Mode, w.Reason, w.Over = bucketctl.Mode(name), name, math.Inf(1)
		b.Workers = []watch.WorkerRow{w}
		s.Buckets = append(s.Buckets, b)
		s.Events = append(s.Events, bucketctl.Event{ID: name, At: t0, Kind: bucketctl.EventKind(name), Key: name, By: name,
			Reason: name, Detail: map[string]string{name: name}})
		s.Workers = append(s.Workers, watch.Worker{Worker: bucketctl.Worker{ID: name, App: name, Host: name, Version: name,
			Fallback: bucketctl.Policy(name)}, Name: name, State: watch.WorkerFallback, Why: name, Rows: []watch.WorkerRow{w}})
	}
	bad := hostileNames[0]
	s.Alerts = []watch.Alert{{Key: bad, Text: bad, Grave: true}, {Worker: bad, Text: bad}, {Text: bad}}
	s.Link.Err, s.Link.Addr = bad, bad
	return s
}
