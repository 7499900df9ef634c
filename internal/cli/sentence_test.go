package cli

import (
	"fmt"
	"strings"
	"testing"

	"bucketop/bucketctl"
)

// A server ends its sentences itself, in the middle of ours.
func TestASentenceHasOneEnd(t *testing.T) {
	for _, class := range []error{bucketctl.ErrDenied, bucketctl.ErrUnavailable} {
		said := sentence(fmt.Errorf("%w: read: WRONGPASS invalid username-password pair or user is disabled.", class), "h:1")
		if !strings.Contains(said, "disabled; ") {
			t.Error(said)
		}
	}
}
