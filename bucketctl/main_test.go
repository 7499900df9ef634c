package bucketctl

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain turns the test binary into a worker process where a test has started
// it as one; see job.
func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(jobVariable); ok {
		doJob(text)
		return
	}
	goleak.VerifyTestMain(m)
}
