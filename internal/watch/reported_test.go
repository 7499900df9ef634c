package watch

import (
	"testing"

	"bucketop/bucketctl"
	"bucketop/internal/redistest"
)

// A worker that may not call scripts has reported a limit and stored none: the
// console goes by what it declares, and says so until Redis knows better.
func TestALimitThatIsNotStoredIsWhatWorkersDeclare(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	root := server.Client(t)
	grant := func(rules ...any) {
		t.Helper()
		if err := root.Do(t.Context(), append([]any{"ACL", "SETUSER", "worker"}, rules...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	grant("on", ">secret", "~*", "&*", "+@all", "-eval", "-evalsha")
	const key = "k"
	limit := bucketctl.PerSecond(20)
	startWorkerAs(t, "geo-1", "redis://worker:secret@"+server.Addr, key, limit, 3)
	c := openConsole(t, server, Config{Refresh: MinRefresh})
	c.w.Show([]string{key})
	row := c.awaitRow(key, "reported", func(b Bucket) bool { return b.Reported && b.Used > 0 })
	if row.State.Declared != limit || row.State.Effective != limit || row.Window() || row.State.Known() {
		t.Errorf("declared %v, in force %v: %+v", row.State.Declared, row.State.Effective, row.State)
	}
	if _, err := c.admin.SetLimit(t.Context(), key, bucketctl.AnyRev, bucketctl.LimitChange{Rate: bucketctl.To(10), Capacity: bucketctl.ToDeclared()}); err != nil {
		t.Fatal(err)
	}
	row = c.awaitRow(key, "overridden", func(b Bucket) bool { return !b.State.Override.IsZero() })
	if want := (bucketctl.Limit{Capacity: limit.Capacity, Rate: 10}); !row.Reported || !sameLimit(row.State.Effective, want) {
		t.Errorf("reported %v, in force %v, want %v", row.Reported, row.State.Effective, want)
	}
	grant("+@all")
	row = c.awaitRow(key, "stored", func(b Bucket) bool { return b.State.Known() })
	if row.Reported || row.State.Declared != limit {
		t.Errorf("reported %v, declared %v", row.Reported, row.State.Declared)
	}
}

func TestTheReportedLimitIsThatOfMost(t *testing.T) {
	row := func(name string, rate float64, silent bool) WorkerRow {
		return WorkerRow{Name: name, Silent: silent, WorkerBucket: bucketctl.WorkerBucket{Declared: bucketctl.PerSecond(rate)}}
	}
	for _, c := range []struct {
		rows []WorkerRow
		want float64
	}{
		{nil, 0},
		{[]WorkerRow{row("a", 1, false), row("b", 2, false), row("c", 2, false)}, 2},
		{[]WorkerRow{row("a", 1, true), row("b", 1, true), row("c", 2, false)}, 2},
		{[]WorkerRow{row("a", 1, true)}, 1},
		{[]WorkerRow{{Name: "a"}}, 0},
	} {
		if got := reportedLimit(c.rows).Rate; got != c.want {
			t.Errorf("%v: %v/s, want %v/s", c.rows, got, c.want)
		}
	}
}
