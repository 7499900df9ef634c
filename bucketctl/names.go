package bucketctl

import (
	"fmt"
	"strconv"
)

// Names returns what people call each of the workers, in their order: the App
// alone where that tells all workers of the App apart, else with the process,
// the host, or both, and the ID where nothing shorter does. All workers of an
// App are named in one way.
func Names(workers []Worker) []string {
	names := make([]string, len(workers))
	byApp := map[string][]int{}
	for i, w := range workers {
		byApp[w.App] = append(byApp[w.App], i)
	}
	for _, group := range byApp {
		for _, name := range namings() {
			for _, i := range group {
				names[i] = name(workers[i])
			}
			if allDiffer(names, group) {
				break
			}
		}
	}
	return names
}

// namings are the ways to name a worker, shortest first. The ID is unique.
func namings() []func(Worker) string {
	return []func(Worker) string{
		func(w Worker) string { return w.App },
		func(w Worker) string { return w.App + "/" + strconv.Itoa(w.PID) },
		func(w Worker) string { return w.App + "@" + w.Host },
		func(w Worker) string { return fmt.Sprintf("%s@%s/%d", w.App, w.Host, w.PID) },
		func(w Worker) string { return w.ID },
	}
}

func allDiffer(names []string, group []int) bool {
	seen := make(map[string]bool, len(group))
	for _, i := range group {
		if names[i] == "" || seen[names[i]] {
			return false
		}
		seen[names[i]] = true
	}
	return true
}
