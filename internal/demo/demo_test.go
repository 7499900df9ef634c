package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bucketop/bucketctl"
)

func TestHeadless(t *testing.T) {
	onBoth(t, func(t *testing.T, k kind) {
		const length = 2 * time.Second
		var stdout, stderr bytes.Buffer
		began := time.Now()
		if err := Run(t.Context(), Config{Headless: length, Stdout: &stdout, Stderr: &stderr, Seed: 1}); err != nil {
			t.Fatal(err)
		}
		lasted := time.Since(began)
		samples := readSamples(t, &stdout)
		if len(samples) != 2 {
			t.Fatalf("%d lines in %v, want 2", len(samples), length)
		}
		before := sample{}
		for _, s := range samples {
			if s.Granted <= before.Granted || s.Local < before.Local || s.Local > s.Granted || !s.T.After(before.T) {
				t.Errorf("%+v after %+v", s, before)
			}
			if s.Waiting <= 0 || s.Buckets != 12 {
				t.Errorf("nobody waits, or not for all buckets: %+v", s)
			}
			before = s
		}
		if shared, most := before.Granted-before.Local, mostShared(lasted); shared > most {
			t.Errorf("%v tokens granted by Redis in %v, at most %v are allowed", shared, lasted, most)
		}
		checkGone(t, k, stderr.String())
	})
}

// TestLastLineIsAtTheEnd: a run need not last whole seconds.
func TestLastLineIsAtTheEnd(t *testing.T) {
	miniKind(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout bytes.Buffer
	if err := Run(ctx, Config{Headless: 50 * time.Millisecond, Stdout: &stdout}); err != nil {
		t.Fatal(err)
	}
	if n := len(readSamples(t, &stdout)); n != 1 {
		t.Errorf("%d lines, want 1", n)
	}
}

// readSamples reads what a headless run wrote, which is lines of JSON alone.
func readSamples(t *testing.T, out io.Reader) []sample {
	t.Helper()
	var all []sample
	decoder := json.NewDecoder(out)
	decoder.DisallowUnknownFields()
	for {
		var s sample
		switch err := decoder.Decode(&s); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, s)
	}
}

// mostShared is the bound of all buckets together. What workers grant alone is
// apart: on a busy machine that may be any of them.
func mostShared(span time.Duration) float64 {
	most := 0.0
	for _, r := range cast() {
		for _, j := range r.jobs {
			most += bound(j, span, r.workers, 0)
		}
	}
	return most
}

// bound is how many tokens a span may see, with some of the workers cut off.
func bound(j job, span time.Duration, workers, cut int) float64 {
	shared := j.limit.Capacity + j.limit.Rate*span.Seconds()
	share := max(1, j.limit.Capacity/float64(workers)) + j.limit.Rate/float64(workers)*span.Seconds()
	return shared + float64(cut)*share
}

// checkGone holds that nothing is left of the server that the narration names.
func checkGone(t *testing.T, k kind, narration string) {
	t.Helper()
	first, _, _ := strings.Cut(narration, "\n")
	if !strings.Contains(first, k.name) {
		t.Errorf("the narration begins with %q, which is no %q", first, k.name)
	}
	u, err := url.Parse(first[strings.LastIndex(first, " ")+1:])
	if err != nil {
		t.Fatalf("no URL in %q: %v", first, err)
	}
	network, addr := "tcp", u.Host
	if u.Scheme == "unix" {
		network, addr = "unix", u.Path
		if _, err := os.Stat(filepath.Dir(addr)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the server's folder is left: %v", err)
		}
	}
	if c, err := net.Dial(network, addr); err == nil {
		c.Close()
		t.Errorf("the server at %s is left", u)
	}
}

// TestGrantsFollowEdits has an operator at the screen change a rate.
func TestGrantsFollowEdits(t *testing.T) {
	onBoth(t, func(t *testing.T, _ kind) {
		admin := onStage(t).Admin
		old := stateOf(t, admin, charges).Declared
		faster := edit(t, admin, bucketctl.PerSecond(120).Burst(30))
		await(t, "grants exceed what the old limit allows", func() bool {
			now := stateOf(t, admin, charges)
			return now.Granted-faster.Granted > old.Capacity+2*old.Rate*now.At.Sub(faster.At).Seconds()
		})
		slow := bucketctl.PerSecond(4).Burst(2)
		slower := edit(t, admin, slow)
		var now bucketctl.State
		await(t, "some tokens at the lower rate", func() bool {
			now = stateOf(t, admin, charges)
			return now.Granted-slower.Granted > 6
		})
		span := now.At.Sub(slower.At) + bucketctl.DefaultHorizon
		if granted, most := now.Granted-slower.Granted, slow.Capacity+slow.Rate*span.Seconds(); granted > most {
			t.Errorf("%v granted after the edit, at most %v are allowed", granted, most)
		}
	})
}

// onStage runs the demo behind the test.
func onStage(t *testing.T) Stage {
	t.Helper()
	stages, ended := make(chan Stage, 1), make(chan error, 1)
	go func() {
		ended <- Run(t.Context(), Config{Seed: 1, Screen: func(ctx context.Context, s Stage) error {
			stages <- s
			<-ctx.Done()
			return nil
		}})
	}()
	select {
	case s := <-stages:
		t.Cleanup(func() {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		return s
	case err := <-ended:
		t.Fatalf("the demo ended before it showed: %v", err)
	}
	return Stage{}
}

// edit overrides the limit of the charges and returns the state right after.
func edit(t *testing.T, admin *bucketctl.Admin, limit bucketctl.Limit) bucketctl.State {
	t.Helper()
	change, err := admin.SetLimit(t.Context(), charges, bucketctl.AnyRev, bucketctl.LimitChange{
		Rate: bucketctl.To(limit.Rate), Per: limit.Per, Capacity: bucketctl.To(limit.Capacity),
	})
	if err != nil {
		t.Fatal(err)
	}
	return change.After
}

// stateOf awaits that the bucket has a state, which a worker's first call makes.
func stateOf(t *testing.T, admin *bucketctl.Admin, key string) (s bucketctl.State) {
	t.Helper()
	await(t, key+" is there", func() bool {
		var err error
		s, err = admin.Get(t.Context(), key)
		return err == nil && s.Known()
	})
	return s
}

func TestStageSaysWhatServes(t *testing.T) {
	onBoth(t, func(t *testing.T, k kind) {
		var stage Stage
		show := func(ctx context.Context, s Stage) error {
			stage = s
			if _, err := s.Admin.Server(ctx); err != nil {
				t.Errorf("the stage's server: %v", err)
			}
			if state, err := s.Admin.Get(ctx, foreignKey); err != nil || !state.Known() {
				t.Errorf("what the console is to scan for is not there yet: %v", err)
			}
			if s.Admin.ReadOnly() {
				t.Error("the newcomer may change nothing")
			}
			return nil
		}
		if err := Run(t.Context(), Config{Screen: show}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(stage.Title, "demo ") || !strings.Contains(stage.Title, k.name) || !strings.Contains(stage.Server, k.name) {
			t.Errorf("%+v does not name %q", stage, k.name)
		}
		if _, err := bucketctl.Options(stage.Addr); err != nil || stage.Match != foreignKey {
			t.Errorf("%+v: %v", stage, err)
		}
	})
}

// failingWriter is a pipe whose reader has gone.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestEnds(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	left := errors.New("the screen's own")
	for _, c := range []struct {
		name   string
		ctx    context.Context
		config Config
		want   error
	}{
		{"screen's error", t.Context(), Config{Screen: func(context.Context, Stage) error { return left }}, left},
		{"stdout closed", t.Context(), Config{Headless: 10 * time.Millisecond, Stdout: failingWriter{}}, io.ErrClosedPipe},
		{"ended before", ended, Config{Headless: time.Hour, Stdout: io.Discard}, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, _ kind) {
				if err := Run(c.ctx, c.config); !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
			})
		})
	}
	if err := Run(t.Context(), Config{}); err == nil {
		t.Error("neither a screen nor a headless run, and no error")
	}
}

func TestEndsWithItsContext(t *testing.T) {
	onBoth(t, func(t *testing.T, _ kind) {
		ctx, cancel := context.WithCancel(t.Context())
		err := Run(ctx, Config{Headless: time.Hour, Stdout: writerFunc(func([]byte) { cancel() })})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("ended by its context: %v", err)
		}
	})
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }
