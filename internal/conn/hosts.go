package conn

import (
	"errors"
	"strings"

	"bucketop/bucketctl"
)

// splitHosts takes the hosts after the first out of a URL such as
// redis://user:password@a:1,b:2/0: the standard parser knows only one host.
// others are host:port. Errors quote nothing.
func splitHosts(raw string) (first string, others []string, err error) {
	scheme, rest, _ := strings.Cut(raw, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, path := rest[:end], rest[end:]
	// A password may hold commas; hosts begin after the last "@".
	begin := strings.LastIndexByte(authority, '@') + 1
	hosts := strings.Split(authority[begin:], ",")
	for _, host := range hosts[1:] {
		withPort, err := addPort(host)
		if err != nil {
			return "", nil, err
		}
		others = append(others, withPort)
	}
	return scheme + "://" + authority[:begin] + hosts[0] + path, others, nil
}

// addPort reads a further host as the first one is read.
func addPort(host string) (string, error) {
	if host == "" {
		return "", errors.New("the list of hosts has an empty place")
	}
	options, err := bucketctl.Options("redis://" + host)
	if err != nil {
		return "", err
	}
	return options.Addrs[0], nil
}
