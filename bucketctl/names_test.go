package bucketctl

import (
	"slices"
	"testing"
)

func TestNamesAreTheShortestThatTellWorkersApart(t *testing.T) {
	worker := func(id, app, host string, pid int) Worker { return Worker{ID: id, App: app, Host: host, PID: pid} }
	for _, tt := range []struct {
		name    string
		workers []Worker
		want    []string
	}{
		{"none", nil, []string{}},
		{"each its own app", []Worker{worker("1", "geo-1", "h", 7), worker("2", "geo-2", "h", 7)}, []string{"geo-1", "geo-2"}},
		{"one host", []Worker{worker("1", "geo", "h", 7), worker("2", "geo", "h", 8)}, []string{"geo/7", "geo/8"}},
		{"containers", []Worker{worker("1", "geo", "a", 1), worker("2", "geo", "b", 1)}, []string{"geo@a", "geo@b"}},
		{
			"both",
			[]Worker{worker("1", "geo", "a", 1), worker("2", "geo", "a", 2), worker("3", "geo", "b", 1), worker("4", "llm", "b", 1)},
			[]string{"geo@a/1", "geo@a/2", "geo@b/1", "llm"},
		},
		{"clients of one process", []Worker{worker("x", "geo", "a", 1), worker("y", "geo", "a", 1)}, []string{"x", "y"}},
		{"without an app", []Worker{worker("x", "", "a", 1)}, []string{"/1"}},
	} {
		if got := Names(tt.workers); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
