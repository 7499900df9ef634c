package cli

import (
	"strings"
	"testing"
	"time"
)

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "anything", true},
		{"geo", "a:geo:b", true},
		{"geo", "a:Geo:b", false},
		{"geo*", "geocode", true},
		{"geo*", "a:geocode", false},
		{"*:eu", "geocode:{acme}:eu", true},
		{"*:eu", "geocode:{acme}:us", false},
		{"*", "", true},
		{"?", "", false},
		{"?", "配", true},
		{"?", "\xff", true},
		{"?", "ab", false},
		{"a*b*c", "a--b--b--c", true},
		{"a*b*c", "a--c--b", false},
		{"p[1]:*", "p[1]:a", true},
		{"p[1]:*", "p1:a", false},
		{"p[1]", "p[1]:a", true},
		{"{acme}", "geocode:{acme}:eu", true},
		{`a\*b`, "xa*by", true},
		{`a\*b`, "a-b", false},
		{`a\?*`, "a?b", true},
		{`a\?*`, "abc", false},
		{`a\\b`, `a\b`, true},
		{`a\b`, `a\b`, true},
		{"*a", "b", false},
		{"**", "x", true},
		{"*\x00*", "a\x00b", true},
	} {
		if got := newPattern(c.pattern).matches(c.name); got != c.want {
			t.Errorf("%q matches %q: %t, want %t", c.pattern, c.name, got, c.want)
		}
	}
}

func TestPatternIsNotExponential(t *testing.T) {
	p := newPattern(strings.Repeat("*a", 40) + "*b")
	done := make(chan bool, 1)
	go func() { done <- p.matches(strings.Repeat("a", 4000)) }()
	select {
	case matched := <-done:
		if matched {
			t.Error("it matches")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still not done")
	}
}

func TestSpans(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"}, {1500 * time.Microsecond, "2ms"}, {12 * time.Second, "12s"}, {59*time.Second + 900*time.Millisecond, "59s"},
		{26 * time.Minute, "26m"}, {65 * time.Second, "1m5s"}, {65 * time.Minute, "1h5m"}, {24 * time.Hour, "1d"}, {75 * time.Hour, "3d3h"},
		{-time.Second, "-1s"},
	} {
		if got := showSpan(c.d); got != c.want {
			t.Errorf("showSpan(%v) = %q, want %q", c.d, got, c.want)
		}
	}
}
