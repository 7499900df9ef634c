package bucketctl

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server returns what the server says of itself. What its ACL or product does
// not let us read stays zero; only the clock is required. Of a cluster it is
// one of the servers.
func (a *Admin) Server(ctx context.Context) (Server, error) {
	var now *redis.TimeCmd
	infos := make([]*redis.StringCmd, 0, 3)
	_, err := a.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, section := range []string{"server", "memory", "stats"} {
			infos = append(infos, p.Info(ctx, section))
		}
		now = p.Time(ctx)
		return nil
	})
	if err := clockError(now, err); err != nil {
		return Server{}, adminError(ctx, "read the server's clock", "", err)
	}
	s := Server{Time: now.Val().UTC()}
	for _, info := range infos {
		s.read(info.Val()) // empty where the section was refused
	}
	return s, nil
}

// read takes in the lines of one INFO section.
func (s *Server) read(section string) {
	for line := range strings.Lines(section) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		number, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			number = 0
		}
		switch name {
		case "redis_version":
			if s.Product == "" {
				s.Product, s.Version = "redis", value
			}
		case "valkey_version":
			s.Product, s.Version = "valkey", value
		case "run_id":
			s.RunID = value
		case "uptime_in_seconds":
			s.Uptime = time.Duration(number) * time.Second
		case "maxmemory_policy":
			s.Eviction = value
		case "maxmemory":
			s.MaxMemory = number
		case "evicted_keys":
			s.Evicted = number
		}
	}
}
