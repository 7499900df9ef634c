package redistest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// slots is how many hash slots a cluster has, a constant of Redis.
const slots = 16384

// Nodes is a cluster of masters without replicas. Each node can be frozen and
// killed as any server; a killed one keeps its slots and its place.
type Nodes struct {
	Nodes []*Server
}

// Cluster starts a cluster of so many masters, each with an equal run of the
// slots, and returns when every node says that all is well. That takes two
// seconds however few they are: a master waits that long before it lets clients
// write. One master suffices to see CROSSSLOT errors, several are needed for
// redirections.
func Cluster(t testing.TB, masters int) *Nodes {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	nodes := &Nodes{}
	buses := make([]string, masters)
	for i := range masters {
		node := start(t, func() []string {
			buses[i] = strconv.Itoa(FreePort(t))
			return []string{
				"--cluster-enabled", "yes", "--cluster-port", buses[i],
				"--cluster-announce-ip", "127.0.0.1", "--cluster-node-timeout", "2000",
			}
		})
		nodes.Nodes = append(nodes.Nodes, node)
	}
	if err := nodes.join(ctx, t, buses); err != nil {
		t.Fatalf("forming a cluster of %d: %v", masters, err)
	}
	return nodes
}

// join deals out the slots, introduces all nodes to the first, and waits.
func (n *Nodes) join(ctx context.Context, t testing.TB, buses []string) error {
	t.Helper()
	masters := len(n.Nodes)
	first := n.Nodes[0].Client(t)
	for i, node := range n.Nodes {
		c := node.Client(t)
		if err := c.ClusterAddSlotsRange(ctx, i*slots/masters, (i+1)*slots/masters-1).Err(); err != nil {
			return fmt.Errorf("giving %s its slots: %w", node.Addr, err)
		}
		// Equal epochs would have to be settled among the nodes first.
		if err := c.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			return fmt.Errorf("numbering %s: %w", node.Addr, err)
		}
		if i == 0 {
			continue
		}
		host, port, _ := strings.Cut(node.Addr, ":")
		if err := first.Do(ctx, "CLUSTER", "MEET", host, port, buses[i]).Err(); err != nil {
			return fmt.Errorf("introducing %s: %w", node.Addr, err)
		}
	}
	for _, node := range n.Nodes {
		if err := awaitHealthy(ctx, node.Client(t), masters); err != nil {
			return fmt.Errorf("waiting for %s: %w", node.Addr, err)
		}
	}
	return nil
}

// awaitHealthy asks one node until it knows all the others and all the slots.
func awaitHealthy(ctx context.Context, c *redis.Client, masters int) error {
	for {
		info, err := c.ClusterInfo(ctx).Result()
		if err != nil {
			return err
		}
		if strings.Contains(info, "cluster_state:ok\r") &&
			strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r", masters)) &&
			strings.Contains(info, fmt.Sprintf("cluster_slots_ok:%d\r", slots)) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; it says:\n%s", ctx.Err(), info)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Addrs are the addresses of all nodes.
func (n *Nodes) Addrs() []string {
	addrs := make([]string, len(n.Nodes))
	for i, node := range n.Nodes {
		addrs[i] = node.Addr
	}
	return addrs
}

// URL names all nodes, as redis.ParseClusterURL takes it.
func (n *Nodes) URL() string {
	addrs := n.Addrs()
	url := "redis://" + addrs[0]
	for i, addr := range addrs[1:] {
		url += string("?&"[min(i, 1)]) + "addr=" + addr
	}
	return url
}

// Client returns a plain client of the cluster, closed with the test. It follows
// redirections and repeats nothing else.
func (n *Nodes) Client(t testing.TB) *redis.ClusterClient {
	t.Helper()
	c := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:                      n.Addrs(),
		MaxRetries:                 -1,
		DialerRetries:              1,
		ContextTimeoutEnabled:      true,
		DisableIdentity:            true,
		ClusterStateReloadInterval: time.Second,
		MaintNotificationsConfig:   &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = c.Close() })
	return c
}
