package cli

import (
	"slices"
	"testing"
)

// Whoever reads one bucket's events asks why it was short: that its workers were
// without Redis is told by events that name no bucket.
func TestEventsOfABucketTellOfItsWorkers(t *testing.T) {
	for key, want := range map[string][]string{
		"geocode:{acme}:eu": {"limit", "fallback", "shared"},
		"rss:cool":          {"cooldown"}, // geo-7 does not draw from it
		"nobody's":          nil,
	} {
		var kinds []string
		for _, e := range one[[]jsonEvent](t, fakeRun(t, scene(), "events", key, "-o", "json")) {
			kinds = append(kinds, e.Kind)
		}
		if !slices.Equal(kinds, want) {
			t.Errorf("%s: %q, want %q", key, kinds, want)
		}
	}
}
