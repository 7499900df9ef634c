package ui

import (
	"strings"
	"testing"

	"bucketop/bucketctl"
	"bucketop/internal/watch"
)

// reportedSnapshot is one bucket whose worker has never reached the scripts.
func reportedSnapshot() *watch.Snapshot {
	limit := bucketctl.PerMinute(300).Burst(15)
	b := silentRow()
	b.State = bucketctl.State{Key: b.Key, Kind: bucketctl.KindNone, Type: "none", At: t0, Declared: limit, Effective: limit}
	b.Reported, b.Workers, b.Granted, b.Used = true, b.Workers[:1], 1.25, 0.25
	b.Workers[0].Mode, b.Workers[0].Reason, b.Workers[0].Since = bucketctl.ModeShare, "NOPERM evalsha", t0
	b.Status = watch.Status{Code: watch.Fallback, Text: "1 of 1"}
	s := pictureSnapshot()
	s.Buckets = []watch.Bucket{b}
	return s
}

func TestALimitThatOnlyWorkersTellIsMarked(t *testing.T) {
	b := newBench(t, reportedSnapshot(), 80, 30)
	b.want("75 of (300/min)", "300/min, capacity 15, declared by workers, not stored yet")
	b.press("enter")
	b.want("75 of (300/min) granted", "reported by 1 worker", "as workers say; nothing is stored yet")
	b.press("?", "end")
	b.want("(300/min)  a limit in brackets")
}

func TestAnEditBeginsFromWhatWorkersDeclare(t *testing.T) {
	b := newBench(t, reportedSnapshot(), 80, 30)
	b.press("e")
	b.want("rate     300/min    300/min")
	b.typed("x2")
	b.press("enter", "tab", "enter")
	if rate := b.admin.limit.Rate; rate != bucketctl.To(10) {
		t.Errorf("asked for %+v", b.admin.limit)
	}
}

// A reset goes by what is stored, which knows no capacity.
func TestFullIsNotOfferedOfAReportedCapacity(t *testing.T) {
	b := newBench(t, reportedSnapshot(), 80, 30)
	b.press("R", "f")
	if screen := b.screenText(); !strings.Contains(screen, "Full is not offered") {
		t.Errorf("full is offered:\n%s", screen)
	}
}
