package ui

import (
	"slices"
	"testing"

	"bucketop/bucketctl"
)

// An outage that is over is one row; one whose end is not told stays.
func TestAnOutageIsToldOnce(t *testing.T) {
	outage := func(id string, kind bucketctl.EventKind, by, since string) bucketctl.Event {
		return bucketctl.Event{ID: id, At: t0, Kind: kind, By: by, Detail: map[string]string{"since": since}}
	}
	events := []bucketctl.Event{
		outage("1", bucketctl.EventFallback, "geo-1", "14:00"),
		outage("2", bucketctl.EventShared, "geo-1", "14:00"),
		outage("3", bucketctl.EventFallback, "geo-2", "14:00"),
		outage("4", bucketctl.EventFallback, "geo-1", "14:10"),
		outage("5", bucketctl.EventFallback, "geo-3", ""),
		outage("6", bucketctl.EventShared, "geo-3", ""),
	}
	var ids []string
	for _, e := range told(events, func(*bucketctl.Event) bool { return true }) {
		ids = append(ids, e.ID)
	}
	if want := []string{"6", "5", "4", "3", "2"}; !slices.Equal(ids, want) {
		t.Errorf("told %q, want %q", ids, want)
	}
}
