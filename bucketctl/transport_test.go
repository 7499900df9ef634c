package bucketctl

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"bucketop/internal/redistest"
)

// provider answers with what is planned, and then with 200. It keeps the bodies
// that it was sent.
type provider struct {
	mu     sync.Mutex
	plan   []func(http.ResponseWriter)
	bodies []string
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bodies = append(p.bodies, string(body))
	if len(p.plan) == 0 {
		_, _ = io.WriteString(w, "fine")
		return
	}
	p.plan[0](w)
	p.plan = p.plan[1:]
}

func (p *provider) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.bodies)
}

// says is an answer of this status and Retry-After.
func says(status int, retryAfter string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
	}
}

// transported is a client through a Transport to a provider.
func transported(t *testing.T, s *redistest.Server, change func(*Transport), plan ...func(http.ResponseWriter)) (*http.Client, *provider, string) {
	t.Helper()
	p := &provider{plan: plan}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	tr := &Transport{Limiter: mustBucket(t, patientClient(t, s), "http", PerSecond(1000).Burst(100)), Base: &http.Transport{}}
	if change != nil {
		change(tr)
	}
	client := &http.Client{Transport: tr}
	t.Cleanup(client.CloseIdleConnections)
	return client, p, server.URL
}

// send sends a request and returns its response, read and closed.
func send(t *testing.T, client *http.Client, ctx context.Context, method, url string, body io.Reader, header ...string) (status int, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if len(header) == 2 {
		r.Header.Set(header[0], header[1])
	}
	response, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

func TestTransportTakesTokens(t *testing.T) {
	s := redistest.Start(t)
	client, p, url := transported(t, s, func(tr *Transport) {
		tr.Tokens = func(r *http.Request) float64 { return float64(r.ContentLength) }
	})
	if status, err := send(t, client, t.Context(), http.MethodPost, url, strings.NewReader("12345")); err != nil || status != 200 || p.requests() != 1 {
		t.Fatalf("%d, %v", status, err)
	}
	state, err := openAdmin(t, s).Get(t.Context(), "http")
	if err != nil || state.Granted != 5 {
		t.Errorf("%v granted for 5 bytes, %v", state.Granted, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := send(t, client, ctx, http.MethodPost, url, strings.NewReader(strings.Repeat("x", 101))); !errors.Is(err, ErrExceedsCapacity) || p.requests() != 1 {
		t.Errorf("more than the capacity: %v, %d requests", err, p.requests())
	}
}

func TestTransportHeedsRetryAfter(t *testing.T) {
	s := redistest.Start(t)
	client, p, url := transported(t, s, nil, says(429, "1"))
	began := time.Now()
	status, err := send(t, client, t.Context(), http.MethodPut, url, strings.NewReader("again"))
	if err != nil || status != 200 {
		t.Fatalf("%d, %v", status, err)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("sent again after %v, the provider asked for 1 s", took)
	}
	if len(p.bodies) != 2 || p.bodies[1] != "again" {
		t.Errorf("sent %q", p.bodies)
	}
	e := awaitEvents(t, openAdmin(t, s), EventCooldown)[0]
	if e.Reason != "429 Too Many Requests, Retry-After: 1" {
		t.Errorf("the event: %+v", e)
	}
}

func TestTransportSendsAgainOnlyWhatDoesNoHarm(t *testing.T) {
	soon := func() func(http.ResponseWriter) { return says(429, "0") }
	for name, tt := range map[string]struct {
		method   string
		body     io.Reader
		header   []string
		change   func(*Transport)
		plan     []func(http.ResponseWriter)
		status   int
		requests int
	}{
		"get":                    {method: "GET", plan: []func(http.ResponseWriter){soon()}, status: 200, requests: 2},
		"post":                   {method: "POST", body: strings.NewReader("x"), plan: []func(http.ResponseWriter){soon()}, status: 429, requests: 1},
		"post with a key":        {method: "POST", body: strings.NewReader("x"), header: []string{"Idempotency-Key", "7"}, plan: []func(http.ResponseWriter){soon()}, status: 200, requests: 2},
		"a body only once":       {method: "PUT", body: io.MultiReader(strings.NewReader("x")), plan: []func(http.ResponseWriter){soon()}, status: 429, requests: 1},
		"three times no":         {method: "GET", plan: []func(http.ResponseWriter){soon(), soon(), soon()}, status: 429, requests: 3},
		"never":                  {method: "GET", change: func(tr *Transport) { tr.Retries = -1 }, plan: []func(http.ResponseWriter){soon()}, status: 429, requests: 1},
		"unavailable for a time": {method: "GET", plan: []func(http.ResponseWriter){says(503, "0")}, status: 200, requests: 2},
		"unavailable":            {method: "GET", plan: []func(http.ResponseWriter){says(503, "")}, status: 503, requests: 1},
		"no pause is named":      {method: "GET", change: func(tr *Transport) { tr.Pause = time.Millisecond }, plan: []func(http.ResponseWriter){says(429, "")}, status: 200, requests: 2},
		"an error":               {method: "GET", plan: []func(http.ResponseWriter){says(500, "1")}, status: 500, requests: 1},
		"capped":                 {method: "GET", change: func(tr *Transport) { tr.MaxPause = time.Millisecond }, plan: []func(http.ResponseWriter){says(429, "3600")}, status: 200, requests: 2},
	} {
		t.Run(name, func(t *testing.T) {
			client, p, url := transported(t, redistest.Start(t), tt.change, tt.plan...)
			status, err := send(t, client, t.Context(), tt.method, url, tt.body, tt.header...)
			if err != nil || status != tt.status || p.requests() != tt.requests {
				t.Errorf("%d after %d requests, %v; want %d after %d", status, p.requests(), err, tt.status, tt.requests)
			}
		})
	}
}

// A pause that does not fit the deadline is the caller's to see, at once; the
// others pause all the same.
func TestTransportDoesNotWaitBeyondTheDeadline(t *testing.T) {
	s := redistest.Start(t)
	client, p, url := transported(t, s, nil, says(429, "600"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if status, err := send(t, client, ctx, http.MethodGet, url, nil); err != nil || status != 429 || p.requests() != 1 {
		t.Errorf("%d, %v", status, err)
	}
	if _, err := send(t, client, ctx, http.MethodGet, url, nil); !errors.Is(err, ErrDeadline) || p.requests() != 1 {
		t.Errorf("the next request: %v", err)
	}
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	now := time.Date(2026, 1, 31, 14, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		text, date string
		want       time.Duration
		told       bool
	}{
		{"20", "", 20 * time.Second, true},
		{" 0 ", "", 0, true},
		{"Sat, 31 Jan 2026 14:01:00 GMT", "", time.Minute, true},
		{"Sat, 31 Jan 2026 14:01:00 GMT", "Sat, 31 Jan 2026 14:00:50 GMT", 10 * time.Second, true},
		{"Sat, 31 Jan 2026 13:00:00 GMT", "", 0, true},
		{"", "", 0, false},
		{"-5", "", 0, false},
		{"soon", "", 0, false},
		{"99999999999999999999", "", 0, false},
	} {
		h := http.Header{}
		h.Set("Retry-After", tt.text)
		h.Set("Date", tt.date)
		if got, told := retryAfter(h, now); got != tt.want || told != tt.told {
			t.Errorf("%q at %q: %v, %v, want %v, %v", tt.text, tt.date, got, told, tt.want, tt.told)
		}
	}
}

func TestTransportWithoutALimiter(t *testing.T) {
	client := &http.Client{Transport: &Transport{}}
	if _, err := send(t, client, t.Context(), http.MethodPost, "http://127.0.0.1:1", strings.NewReader("x")); !errors.Is(err, ErrConfig) {
		t.Errorf("%v", err)
	}
}
