package watch

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/bucketctl"
	"bucketop/internal/redistest"
)

// patience is how long a real server and a real worker may take; they take some
// seconds at most.
const patience = 30 * time.Second

// console runs a watcher of a real server for the test.
type console struct {
	t       *testing.T
	w       *Watcher
	admin   *bucketctl.Admin
	initial *Snapshot
}

func openConsole(t *testing.T, server *redistest.Server, config Config) *console {
	t.Helper()
	admin, err := bucketctl.NewAdmin(bucketctl.AdminConfig{Client: server.Client(t), By: "anna@ops1"})
	if err != nil {
		t.Fatal(err)
	}
	config.Admin, config.Addr = admin, server.Addr
	w := New(config)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return &console{t: t, w: w, admin: admin, initial: w.Snapshot()}
}

// await returns the first snapshot that is as wanted.
func (c *console) await(what string, wanted func(*Snapshot) bool) *Snapshot {
	c.t.Helper()
	deadline := time.After(patience)
	for {
		s := c.w.Snapshot()
		if wanted(s) {
			return s
		}
		select {
		case <-c.w.Updates():
		case <-deadline:
			c.t.Fatalf("waited in vain: %s; link %+v, alerts %+v, buckets %+v", what, s.Link, s.Alerts, s.Buckets)
		}
	}
}

// awaitRow is await for one bucket.
func (c *console) awaitRow(key, what string, wanted func(Bucket) bool) Bucket {
	c.t.Helper()
	var found Bucket
	c.await(key+" "+what, func(s *Snapshot) bool {
		for _, b := range s.Buckets {
			if b.Key == key && s.Link.State == Live && wanted(b) {
				found = b
				return true
			}
		}
		return false
	})
	return found
}

// startWorker draws from the bucket with so many callers until the test ends.
func startWorker(t *testing.T, server *redistest.Server, key string, limit bucketctl.Limit, callers int) {
	t.Helper()
	startWorkerAs(t, "geo-7", server.URL(), key, limit, callers)
}

// startWorkerAs is startWorker under another name, or another user of Redis.
func startWorkerAs(t *testing.T, app, url, key string, limit bucketctl.Limit, callers int) {
	t.Helper()
	client, err := bucketctl.Open(t.Context(), bucketctl.Config{
		URL: url, App: app, Workers: 2, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	limiter, err := client.Bucket(key, limit)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	for range callers {
		go func() {
			for limiter.Wait(ctx) == nil {
			}
			done <- struct{}{}
		}()
	}
	t.Cleanup(func() {
		cancel()
		for range callers {
			<-done
		}
		if err := client.Close(); err != nil {
			t.Errorf("closing the worker: %v", err)
		}
	})
}

func is(code Code) func(Bucket) bool { return func(b Bucket) bool { return b.Status.Code == code } }

func TestAgainstARealServer(t *testing.T) {
	server := redistest.Start(t)
	const key = "geocode:{acme}:eu"
	startWorker(t, server, key, bucketctl.PerSecond(20), 50)
	c := openConsole(t, server, Config{Refresh: MinRefresh, Match: "geo:*"})
	c.w.Show([]string{key, "geo:py"})

	// The first report may have been made before the callers came to wait.
	row := c.awaitRow(key, "in full use, the burst over, most of the callers reported", func(b Bucket) bool {
		return b.Status.Code == FullUse && b.Used < 1.2 && b.Waiting >= 20
	})
	if row.Used < fullShare || row.State.Effective.Rate != 20 || len(row.Workers) != 1 {
		t.Errorf("in full use: %+v", row)
	}
	c.awaitRow(key, "with two points of history", func(b Bucket) bool { return len(b.History.Granted) >= 2 })
	s := c.w.Snapshot()
	if s.Server.Version == "" || len(s.Workers) != 1 || s.Workers[0].App != "geo-7" || s.Cost.Calls <= 0 || s.Link.RTT <= 0 {
		t.Errorf("server %+v, workers %+v, cost %+v, link %+v", s.Server, s.Workers, s.Cost, s.Link)
	}

	ctx := t.Context()
	if _, err := c.admin.Hold(ctx, key, bucketctl.AnyRev, bucketctl.NoEnd(), "asked to"); err != nil {
		t.Fatal(err)
	}
	row = c.awaitRow(key, "held", is(Held))
	if !strings.HasSuffix(row.Status.Text, "s anna") || row.Status.Cause != "asked to" {
		t.Errorf("held: %+v", row.Status)
	}
	if _, err := c.admin.Resume(ctx, key, bucketctl.AnyRev, ""); err != nil {
		t.Fatal(err)
	}
	c.awaitRow(key, "resumed", func(b Bucket) bool { return b.Status.Code > Held })
	if marks := c.awaitRow(key, "marked", func(b Bucket) bool { return len(b.History.Marks) == 2 }).History.Marks; marks[0].Kind != bucketctl.EventHold || marks[1].Kind != bucketctl.EventResume {
		t.Errorf("marks %+v", marks)
	}

	// A foreign bucket whose writer had a wrong clock.
	ahead := time.Now().Add(10 * time.Minute).Unix()
	if err := server.Client(t).HSet(ctx, "geo:py", "tokens", "0", "ts", ahead).Err(); err != nil {
		t.Fatal(err)
	}
	row = c.awaitRow("geo:py", "stuck", is(Stuck))
	if row.Waiting != -1 || row.Status.Cause == "" {
		t.Errorf("foreign: %+v", row)
	}
	if _, err := c.admin.Reset(ctx, "geo:py", bucketctl.AnyRev, bucketctl.ToLevel(3), ""); err != nil {
		t.Fatal(err)
	}
	if row = c.awaitRow("geo:py", "mended", is(Foreign)); row.State.Level != 3 {
		t.Errorf("after the reset: level %v", row.State.Level)
	}
}

func TestARealServerThatHangsDiesAndComesBack(t *testing.T) {
	server := redistest.Start(t)
	c := openConsole(t, server, Config{Refresh: MinRefresh})
	live := func(s *Snapshot) bool { return s.Link.State == Live }
	if c.initial.Link.State != Connecting {
		t.Errorf("at first: %+v", c.initial.Link)
	}
	lost := func(reasons ...string) func(*Snapshot) bool {
		return func(s *Snapshot) bool {
			for _, reason := range reasons {
				if s.Link.State == Lost && s.Link.Err == reason {
					return true
				}
			}
			return false
		}
	}
	c.await("live", live)
	server.Freeze()
	c.await("lost by timeout", lost("no answer (timeout)"))
	server.Thaw()
	c.await("live again", live)
	server.Kill()
	c.await("lost by refusal", lost("connection refused"))
	server.Restart()
	s := c.await("live after a restart", live)
	if len(s.Alerts) == 0 {
		s = c.await("news of the restart", func(s *Snapshot) bool { return len(s.Alerts) > 0 })
	}
	if s.Alerts[0].Text[:15] != "Redis restarted" {
		t.Errorf("alerts %+v", s.Alerts)
	}
}

func TestARealServerThatWantsAPassword(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "hunter2")
	c := openConsole(t, server, Config{Refresh: MinRefresh})
	c.await("refused", func(s *Snapshot) bool { return s.Link.State == Lost && s.Link.Err == "Redis wants a password" })
}

// A client that is refused when it connects tells of it for each call by itself,
// and of a pipeline by a part of the answers only.
func TestAWrongPasswordIsNeverLive(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "hunter2")
	client := redis.NewClient(&redis.Options{Addr: server.Addr, Password: "hunter3"})
	t.Cleanup(func() { _ = client.Close() })
	admin, err := bucketctl.NewAdmin(bucketctl.AdminConfig{Client: client, By: "anna@ops1"})
	if err != nil {
		t.Fatal(err)
	}
	w := New(Config{Admin: admin, Addr: server.Addr})
	for range 3 { // the first is no other than those that follow
		w.refresh(t.Context(), []string{"k"})
		s := w.Snapshot()
		if s.Link.State != Lost || s.Link.Err != "Redis refuses the user or password" || !s.At.IsZero() || len(s.Buckets)+len(s.Alerts) > 0 {
			t.Fatalf("link %+v, at %v, buckets %+v, alerts %+v", s.Link, s.At, s.Buckets, s.Alerts)
		}
	}
}
