package watch

import (
	"strings"
	"testing"

	"bucketop/bucketctl"
	"bucketop/internal/redistest"
)

// TestARealWorkerFallsBackAndReturns: while it is alone the console says so, why,
// and by how much its share is on top of the limit; afterwards what that was.
func TestARealWorkerFallsBackAndReturns(t *testing.T) {
	server := redistest.Start(t)
	const key = "k"
	root := server.Client(t)
	grant := func(rules ...any) {
		t.Helper()
		if err := root.Do(t.Context(), append([]any{"ACL", "SETUSER", "worker"}, rules...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	grant("on", ">secret", "~*", "&*", "+@all")
	startWorker(t, server, key, bucketctl.PerSecond(20), 3)
	startWorkerAs(t, "geo-8", "redis://worker:secret@"+server.Addr, key, bucketctl.PerSecond(20), 3)
	c := openConsole(t, server, Config{Refresh: MinRefresh})
	c.w.Show([]string{key})
	c.awaitRow(key, "drawn from by both", func(b Bucket) bool {
		return len(b.Workers) == 2 && b.Workers[0].Share == 10 && b.Workers[1].Share == 10 && len(b.History.Levels) > 0
	})

	grant("-evalsha", "-eval")
	row := c.awaitRow(key, "in fallback", is(Fallback))
	plight := row.Workers[1].Plight()
	if row.Status.Text != "1 of 2" || plight.State != WorkerFallback || row.Workers[1].Over != 10 || row.Workers[0].Over != 0 ||
		!strings.HasPrefix(plight.Why, "on its own share, +10/s above limit: ") || !strings.Contains(plight.Brief(), "EVALSHA") {
		t.Errorf("%s, %s: %s; %+v", row.Status.Text, plight.State.Word(), plight.Why, row.Workers)
	}
	c.await("the line about it", func(s *Snapshot) bool { return len(s.Alerts) == 1 && s.Alerts[0].Worker == "geo-8" })

	grant("+@all")
	s := c.await("the event of its return", func(s *Snapshot) bool {
		return len(s.Events) == 2 && s.Events[1].Kind == bucketctl.EventShared && len(s.Buckets[0].History.Marks) == 2
	})
	marks := s.Buckets[0].History.Marks
	if text := OutageText(&s.Events[1], s.At); !strings.Contains(text, "without Redis, ") || !strings.Contains(text, " granted alone") {
		t.Errorf("told as %q: %+v", text, s.Events[1])
	}
	if marks[0].Kind != bucketctl.EventFallback || marks[1].Kind != bucketctl.EventShared || !marks[0].At.Before(marks[1].At) {
		t.Errorf("marks %+v", marks)
	}
}
