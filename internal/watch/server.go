package watch

import (
	"time"

	"bucketop/bucketctl"
)

// restartNews is how long a restarted server is news.
const restartNews = time.Minute

// maxServers is how many run IDs are remembered.
const maxServers = 1000

// serverMemo is what is known of the server, and what changed about it.
type serverMemo struct {
	last     bucketctl.Server
	readAt   time.Time       // server time
	firstAt  time.Time       // the same of the first reading
	known    map[string]bool // run IDs met; a cluster answers from any of its servers
	restart  time.Time       // when it started anew under the console's eyes; zero: it did not
	evicting time.Time       // when its count of evictions was last seen to grow
}

// take takes in what the server says, and reports whether it is another one than
// before, whose streams may begin anew.
func (s *serverMemo) take(server bucketctl.Server, now time.Time) (other bool) {
	if server.RunID == s.last.RunID && server.Evicted > s.last.Evicted && !s.readAt.IsZero() {
		s.evicting = now
	}
	if s.known == nil || len(s.known) > maxServers {
		s.known = map[string]bool{}
	}
	other = server.RunID != "" && !s.known[server.RunID] && len(s.known) > 0
	if s.firstAt.IsZero() {
		s.firstAt = now
	}
	if started := now.Add(-server.Uptime); other && started.After(s.firstAt) {
		s.restart = started
	}
	if server.RunID != "" {
		s.known[server.RunID] = true
	}
	s.last, s.readAt = server, now
	return other
}

// evictsBuckets reports whether the server may throw buckets away when its memory
// is full: they have an expiry, so the volatile policies find them too.
func evictsBuckets(s bucketctl.Server) bool {
	return s.MaxMemory > 0 && s.Eviction != "" && s.Eviction != "noeviction"
}
