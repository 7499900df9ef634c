package bucketctl

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Defaults of Transport.
const (
	DefaultRetries  = 2
	DefaultPause    = time.Second
	DefaultMaxPause = time.Hour
)

// Transport is an http.RoundTripper that waits for its Limiter before each
// request, and lets all workers of the bucket pause where the provider asks for
// it:
//
//	client := &http.Client{Transport: &bucketctl.Transport{Limiter: limiter}}
//
// A 429, and a 503 with a Retry-After, is a Cooldown of the bucket. A request
// that can be sent again without harm (its method is idempotent, or it has an
// Idempotency-Key, and its body is empty or can be had again by GetBody) is then
// sent again, each time for tokens of its own, as long as the pause fits its
// context's deadline. All other responses and errors are the caller's. The
// fields must not change once it is used.
type Transport struct {
	// Limiter is required.
	Limiter *Limiter

	// Base sends the requests. Default: http.DefaultTransport.
	Base http.RoundTripper

	// Tokens is how many tokens a request takes. Default: 1 for each.
	Tokens func(*http.Request) float64

	// Retries is how many times a request is sent again, at most; below 0:
	// never. Default: DefaultRetries.
	Retries int

	// Pause is the cooldown after a 429 that names none. Default: DefaultPause.
	Pause time.Duration

	// MaxPause is the longest cooldown that a response can bring about, so that
	// one wrong header does not stop everybody for a day. Default:
	// DefaultMaxPause.
	MaxPause time.Duration
}

// RoundTrip implements http.RoundTripper. Errors of the Limiter are as WaitN's.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.Limiter == nil {
		closeBody(r)
		return nil, fmt.Errorf("%w: Transport.Limiter is required", ErrConfig)
	}
	left := orDefault(t.Retries, DefaultRetries)
	for {
		if err := t.Limiter.WaitN(r.Context(), t.tokens(r)); err != nil {
			closeBody(r)
			return nil, err
		}
		response, err := t.base().RoundTrip(r)
		if err != nil {
			return response, err
		}
		pause, asked := t.pauseOf(response)
		if asked {
			// The response is the caller's whatever becomes of this.
			_ = t.Limiter.coolDown(r.Context(), pause, response.Status+retryAfterText(response))
		}
		if !asked || left <= 0 || !fitsDeadline(r, pause) {
			return response, nil
		}
		again, ok := sendAgain(r)
		if !ok {
			return response, nil
		}
		left--
		drain(response)
		r = again
	}
}

// CloseIdleConnections does so at Base, where it can.
func (t *Transport) CloseIdleConnections() {
	if base, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

func (t *Transport) tokens(r *http.Request) float64 {
	if t.Tokens == nil {
		return 1
	}
	return t.Tokens(r)
}

func orDefault[T ~int | ~int64](v, standard T) T {
	if v == 0 {
		return standard
	}
	return v
}

// pauseOf is the pause that a response asks for.
func (t *Transport) pauseOf(response *http.Response) (pause time.Duration, asked bool) {
	status := response.StatusCode
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return 0, false
	}
	pause, told := retryAfter(response.Header, time.Now())
	if !told && status == http.StatusTooManyRequests {
		pause, told = orDefault(t.Pause, DefaultPause), true
	}
	return min(pause, orDefault(t.MaxPause, DefaultMaxPause)), told
}

// retryAfter reads the header of that name, RFC 9110 section 10.2.3: seconds, or
// a date, which counts from the sender's own Date, since clocks differ.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(s) * time.Second, true //nolint:gosec // 31 bits
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, at.Sub(now)), true
}

// retryAfterText is the header for an event's reason.
func retryAfterText(response *http.Response) string {
	text := response.Header.Get("Retry-After")
	if text == "" {
		return ""
	}
	return ", Retry-After: " + shorten(text)
}

func fitsDeadline(r *http.Request, pause time.Duration) bool {
	deadline, ok := r.Context().Deadline()
	return !ok || time.Until(deadline) > pause
}

// sendAgain is the request once more, where that does no harm.
func sendAgain(r *http.Request) (*http.Request, bool) {
	idempotent := []string{"", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete}
	if !slices.Contains(idempotent, r.Method) && r.Header.Get("Idempotency-Key") == "" && r.Header.Get("X-Idempotency-Key") == "" {
		return nil, false
	}
	again := r.Clone(r.Context())
	if r.Body == nil || r.Body == http.NoBody {
		return again, true
	}
	if r.GetBody == nil {
		return nil, false
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, false
	}
	again.Body = body
	return again, true
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close() // nothing was sent
	}
}

// drain lets the connection be used again, unless the rest of the body is long.
func drain(response *http.Response) {
	const most = 64 << 10
	_, _ = io.CopyN(io.Discard, response.Body, most) // it ends, or is cut off
	_ = response.Body.Close()
}
