package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// machine names what figures depend on: processor, cores, system, Go and Redis.
func machine(redis string, now time.Time) string {
	return fmt.Sprintf("%s, %d cores, %s, %s/%s, %s, %s, %s",
		processor(), runtime.NumCPU(), system(), runtime.GOOS, runtime.GOARCH,
		strings.Replace(runtime.Version(), "go", "Go ", 1), redis, now.Format(time.DateOnly))
}

// processor is the model's name where the system tells it in a file.
func processor() string {
	if name := valueIn("/proc/cpuinfo", "model name", ":"); name != "" {
		return name
	}
	return "a processor of unknown model"
}

func system() string {
	if name := valueIn("/etc/os-release", "PRETTY_NAME", "="); name != "" {
		return strings.Trim(name, `"`)
	}
	return runtime.GOOS
}

// valueIn is the first value of a name in a file of "name separator value"
// lines; empty where there is none.
func valueIn(file, name, separator string) string {
	text, err := os.ReadFile(file) // #nosec G304 -- one of two fixed names
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		left, right, ok := strings.Cut(line, separator)
		if ok && strings.TrimSpace(left) == name {
			return strings.TrimSpace(right)
		}
	}
	return ""
}
