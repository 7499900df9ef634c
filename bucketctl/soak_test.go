//go:build soak

package bucketctl

import (
	"testing"
	"time"
)

// Always more waiters than tokens, for half a minute each.
func TestSoakFleets(t *testing.T) {
	fast, slow := PerSecond(50).Burst(5), PerSecond(5).Burst(5)
	const length = 30 * time.Second
	t.Run("one process", func(t *testing.T) {
		fleet{processes: 1, callers: 1000, limit: fast, length: length}.check(t, 0.1, 0.99, 1)
	})
	t.Run("twenty", func(t *testing.T) {
		fleet{processes: 20, callers: 50, limit: fast, length: length}.check(t, 0.2, 0.98, 0.95)
	})
	t.Run("a hundred", func(t *testing.T) {
		fleet{processes: 100, callers: 10, limit: fast, length: length}.check(t, 0.8, 0.98, 0.85)
	})
	t.Run("twenty at a window", func(t *testing.T) {
		fleet{processes: 20, callers: 50, window: Window{Limit: 50, Per: time.Second}, length: length}.check(t, 0.25, 0.97, 0.9)
	})
	t.Run("twenty on a slow bucket", func(t *testing.T) {
		fleet{processes: 20, callers: 50, limit: slow, length: length}.check(t, 1.3, 0.98, 0.85)
	})
}
