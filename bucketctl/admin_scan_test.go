package bucketctl

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// scanAll walks a scan to its end.
func scanAll(t *testing.T, a *Admin, pattern string, count int) (found map[string]Kind, steps int) {
	t.Helper()
	found = map[string]Kind{}
	for cursor := ""; ; {
		page, err := a.Scan(t.Context(), pattern, cursor, count)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range page.Keys {
			found[f.Key] = f.Kind
		}
		steps++
		if cursor = page.Next; cursor == "" {
			return found, steps
		}
	}
}

// population fills a server with all that a scan may meet, and returns what
// it should find.
func population(t *testing.T, c redis.UniversalClient) map[string]Kind {
	t.Helper()
	a := newAdmin(t, c)
	want := map[string]Kind{}
	for i := range 40 {
		ours, foreign := fmt.Sprintf("geo:{%d}:eu", i), fmt.Sprintf("geo:other:%d", i)
		takeFrom(t, c, ours, PerMinute(300), 1)
		if _, err := a.Hold(t.Context(), ours, AnyRev, NoEnd(), ""); err != nil {
			t.Fatal(err)
		}
		do(t, c,
			[]any{"HSET", foreign, "tokens", "3", "ts", "1700000000"},
			[]any{"SET", fmt.Sprintf("geo:text:%d", i), "x"},
			[]any{"HSET", fmt.Sprintf("geo:hash:%d", i), "name", "bob"},
			[]any{"HSET", fmt.Sprintf("geo:{%d", i), "tokens", "1", "ts", "1"}, // no bucket's name
		)
		want[ours], want[foreign] = KindBucket, KindForeign
	}
	do(t, c, []any{"ZADD", "geo:log", "1700000000", "a"}, []any{"HSET", "geo:win", "kind", "window"})
	want["geo:log"], want["geo:win"] = KindForeignWindow, KindWindow
	return want
}

func TestScanFindsBucketsAndNoSiblings(t *testing.T) {
	c := redistest.Start(t).Client(t)
	a := newAdmin(t, c)
	want := population(t, c)
	got, steps := scanAll(t, a, "*", 10)
	if !maps.Equal(got, want) || steps < 5 {
		t.Errorf("found %v in %d steps, want %v", got, steps, want)
	}
	if got, _ := scanAll(t, a, "geo:other:1?", 1000); len(got) != 10 {
		t.Errorf("by pattern: %v", got)
	}
	if got, _ := scanAll(t, a, "nothing", 1000); len(got) != 0 {
		t.Errorf("nothing: %v", got)
	}
	for _, cursor := range []string{"x", "0", "0:x", "-1:0", ":"} {
		if _, err := a.Scan(t.Context(), "*", cursor, 10); err == nil {
			t.Errorf("cursor %q was taken", cursor)
		}
	}
	if page, err := a.Scan(t.Context(), "*", "9:0", 10); err != nil || page.Next != "" || len(page.Keys) != 0 {
		t.Errorf("a node that is gone: %+v, %v", page, err)
	}
}

// Everything an Admin does, on a cluster: a bucket and its record share a
// slot, and lists are put together from all nodes.
func TestAdminOfACluster(t *testing.T) {
	t.Parallel() // it waits for the cluster to form
	nodes := redistest.Cluster(t, 3)
	c := nodes.Client(t)
	a := newAdmin(t, c)
	want := population(t, c)
	got, steps := scanAll(t, a, "*", 10)
	if !maps.Equal(got, want) || steps < 3 {
		t.Errorf("found %v in %d steps, want %v", got, steps, want)
	}
	var keys []string
	for _, key := range hostileKeys() {
		takeFrom(t, c, key, PerMinute(300), 1)
		keys = append(keys, key)
		for name, change := range changes(a) {
			if name == "Delete" || name == "Undo" {
				continue
			}
			arrange(t, a, key)
			if _, err := change(t, key, AnyRev); err != nil {
				t.Errorf("%s of %q: %v", name, key, err)
			}
		}
		arrange(t, a, key)
		if _, err := a.Resume(t.Context(), key, AnyRev, ""); err != nil {
			t.Errorf("Resume of %q: %v", key, err)
		}
		if _, err := a.Undo(t.Context(), key, AnyRev, ""); err != nil {
			t.Errorf("Undo of %q: %v", key, err)
		}
	}
	states, err := a.GetMany(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range states {
		if s.Key != keys[i] || s.Kind != KindBucket || s.Override.Capacity != 30 || !s.Hold.Active {
			t.Errorf("%q: %+v", keys[i], s)
		}
	}
	if _, err := a.Delete(t.Context(), keys[0], AnyRev, ""); err != nil {
		t.Error(err)
	}
	if events := mustEvents(t, a, EventQuery{Key: keys[1]}); len(events) == 0 || events[len(events)-1].Kind != EventUndo {
		t.Errorf("events of %q: %v", keys[1], kindsOf(events))
	}
	workerOfACluster(t, nodes)
}

// workerOfACluster: the same permissions suffice on each node, with the two
// commands by which a client learns where a command has to go.
func workerOfACluster(t *testing.T, nodes *redistest.Nodes) {
	t.Helper()
	for _, node := range nodes.Nodes {
		userWith(t, node.Client(t), "worker", append(workerCommands(), "cluster|slots", "command"))
	}
	c := patientClient(t, nodes.Nodes[0], func(c *Config) { c.URL = "redis://worker:p@" + nodes.Nodes[0].Addr + "?cluster=true" })
	for i := range 12 { // on every node
		l := mustBucket(t, c, fmt.Sprintf("b:%d", i), PerSecond(100))
		if d, err := l.AllowN(t.Context(), 1); err != nil || d.Mode != ModeShared {
			t.Errorf("%s: %+v, %v", l.Key(), d, err)
		}
	}
	if err := errors.Join(c.publishReport(t.Context(), reportInterval, false), c.beat(t.Context(), c.pulses(), beatInterval)); err != nil {
		t.Error(err)
	}
	for _, node := range nodes.Nodes {
		owner := node.Client(t)
		if refused := denied(t, owner); len(refused) != 0 {
			t.Errorf("a worker of a cluster was refused %v", refused)
		}
	}
}
