package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
)

// maxPasswordFile bounds what is read of a password file, in bytes: the wrong
// path may lead to a disk or to /dev/zero.
const maxPasswordFile = 64 << 10

// readPasswordFile returns the first line of the file. Errors name the file,
// never its contents.
func readPasswordFile(path string) (password string, err error) {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return "", fmt.Errorf("--password-file: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	content, err := io.ReadAll(io.LimitReader(file, maxPasswordFile))
	if err != nil {
		return "", fmt.Errorf("--password-file: %w", err)
	}
	line, _, _ := strings.Cut(string(content), "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" {
		return "", fmt.Errorf("--password-file %s: its first line is empty", path)
	}
	return line, nil
}

// silent is a logger for the Redis client that says nothing.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// Silence stops the Redis client's own log lines, which would fall into the
// middle of a screen. It holds for the whole process.
func Silence() { redis.SetLogger(silent{}) }
