package bucketctl

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/schema"
)

// Scan looks for keys by a glob pattern with SCAN, which walks the whole
// keyspace in steps of about count keys: for buckets that no worker of
// bucketctl registers. Only keys that look like buckets or windows are
// returned, and of these only what the ACL lets this user read. cursor is "" at
// the start, ScanPage.Next after that. Of a cluster it walks one primary after
// the other.
func (a *Admin) Scan(ctx context.Context, pattern, cursor string, count int) (ScanPage, error) {
	nodes, err := primaries(ctx, a.client)
	if err != nil {
		return ScanPage{}, adminError(ctx, "find the cluster's primaries", "", err)
	}
	node, position, err := parseScanCursor(cursor)
	if err != nil {
		return ScanPage{}, err
	}
	if node >= len(nodes) {
		return ScanPage{}, nil // the cluster shrank meanwhile
	}
	keys, next, err := nodes[node].Scan(ctx, position, pattern, int64(count)).Result()
	if err != nil {
		return ScanPage{}, adminError(ctx, "scan", "", err)
	}
	if next == 0 {
		node++
	}
	page := ScanPage{}
	if next != 0 || node < len(nodes) {
		page.Next = fmt.Sprintf("%d:%d", node, next)
	}
	page.Keys, page.Denied, err = a.lookingLikeBuckets(ctx, keys)
	return page, err
}

func parseScanCursor(cursor string) (node int, position uint64, err error) {
	if cursor == "" {
		return 0, 0, nil
	}
	first, second, _ := strings.Cut(cursor, ":")
	node, err = strconv.Atoi(first)
	if err == nil {
		position, err = strconv.ParseUint(second, 10, 64)
	}
	if err != nil || node < 0 {
		return 0, 0, fmt.Errorf("bucketctl: %q is no cursor of an earlier scan", cursor)
	}
	return node, position, nil
}

// primaries returns the servers that together hold every key, in a stable
// order.
func primaries(ctx context.Context, client redis.UniversalClient) ([]redis.Cmdable, error) {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return []redis.Cmdable{client}, nil
	}
	var (
		mu    sync.Mutex
		nodes []*redis.Client
	)
	err := cluster.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		nodes = append(nodes, node)
		return nil
	})
	slices.SortFunc(nodes, func(a, b *redis.Client) int { return strings.Compare(a.Options().Addr, b.Options().Addr) })
	out := make([]redis.Cmdable, len(nodes))
	for i, node := range nodes {
		out[i] = node
	}
	return out, err
}

// lookingLikeBuckets keeps the keys whose type and fields are a bucket's, and
// counts those that this user may not read.
func (a *Admin) lookingLikeBuckets(ctx context.Context, keys []string) (found []Foreign, denied int, err error) {
	keys = slices.DeleteFunc(keys, func(key string) bool { return a.keys.Check(key) != nil })
	if len(keys) == 0 {
		return nil, 0, nil
	}
	types := make([]*redis.StatusCmd, len(keys))
	fields := make([]*redis.SliceCmd, len(keys))
	wanted := []string{schema.FieldTokens, schema.FieldTs, schema.FieldKind, schema.FieldGen}
	cmds, err := a.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			types[i], fields[i] = p.Type(ctx, key), p.HMGet(ctx, key, wanted...)
		}
		return nil
	})
	if err := scanError(err, cmds); err != nil {
		return nil, 0, adminError(ctx, "scan", "", err)
	}
	for i, key := range keys {
		if isNoPermission(types[i].Err()) || isNoPermission(fields[i].Err()) {
			denied++
		} else if kind := foreignKind(types[i].Val(), wanted, fields[i].Val()); kind != KindWrongType {
			found = append(found, Foreign{Key: key, Kind: kind})
		}
	}
	return found, denied, nil
}

// scanError is what keeps a step of a scan from being looked at: not a key of
// another type, nor one that this user may not read.
func scanError(pipeline error, cmds []redis.Cmder) error {
	for _, cmd := range cmds {
		if err := ignoreWrongType(cmd.Err()); err != nil && !isNoPermission(err) {
			return err
		}
	}
	return untold(pipeline, cmds)
}

// foreignKind tells by type and a few fields what a scanned key is.
func foreignKind(typ string, names []string, values []any) Kind {
	return reading{typ: typ, fields: namedFields(names, values)}.kind()
}
