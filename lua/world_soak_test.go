//go:build soak

package lua_test

import (
	"fmt"
	"testing"
)

// More worlds than a gate has time for.
func TestSoakWorlds(t *testing.T) {
	for seed := range uint64(2000) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			stormy(t, seed)
			fairly(t, seed)
		})
	}
}
