package bucketctl

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bucketop/internal/redistest"
)

// The outage of one server of a cluster sends its buckets into fallback, and
// nobody else's.
func TestOneServersOutageIsItsBucketsOwn(t *testing.T) {
	t.Parallel() // it waits for the cluster to form
	nodes := redistest.Cluster(t, 3)
	for _, node := range nodes.Nodes { // else the others refuse, too, once they notice
		do(t, node.Client(t), []any{"CONFIG", "SET", "cluster-require-full-coverage", "no"})
	}
	var h heard
	c := openClient(t, nodes.Nodes[0], func(c *Config) { c.URL, c.OnTransition = nodes.Nodes[0].URL()+"?cluster=true", h.add })
	limiters := make([]*Limiter, 12)
	servers := map[string]int{}
	for i := range limiters {
		limiters[i] = mustBucket(t, c, fmt.Sprintf("b:%d", i), PerSecond(1000))
		awaitTrue(t, func() bool { d, err := limiters[i].AllowN(t.Context(), 1); return err == nil && d.Mode == ModeShared })
		servers[limiters[i].link().server]++
	}
	if len(servers) != 3 {
		t.Fatalf("the buckets are at %v, want three servers", servers)
	}

	frozen := nodes.Nodes[1]
	frozen.Freeze()
	alone := func() (n, others int) { // others: whom a busy machine keeps from a server that answers
		for _, l := range limiters {
			d, err := l.AllowN(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			switch here := l.link().server == frozen.Addr; {
			case d.Mode == ModeShared && here:
				t.Fatalf("%s at %s, which is frozen: %+v", l.Key(), l.link().server, d)
			case here:
				n++
			case d.Mode != ModeShared:
				others++
			}
		}
		return n, others
	}
	awaitTrue(t, func() bool {
		n, others := alone()
		return n == servers[frozen.Addr] && others == 0 && len(h.list()) > 0
	})
	if told := h.list()[0]; told.Server != frozen.Addr || told.Mode != ModeShare {
		t.Errorf("told: %+v", told)
	}
	frozen.Thaw()
	awaitTrue(t, func() bool {
		for _, l := range limiters {
			if d, err := l.AllowN(t.Context(), 1); err != nil || d.Mode != ModeShared {
				return false
			}
		}
		return len(h.list()) == 2
	})
}

// announced is a cluster of one that clients reach through a proxy alone.
func announced(t *testing.T) (owner *redis.Client, p *redistest.Forwarder) {
	t.Helper()
	node := redistest.Cluster(t, 1).Nodes[0]
	p = redistest.Proxy(t, node.Addr)
	_, port, err := net.SplitHostPort(p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	owner = node.Client(t)
	do(t, owner, []any{"CONFIG", "SET", "cluster-announce-port", port})
	return owner, p
}

// A connection that breaks before the answer came: a cluster's client would send
// the call again.
func TestTakesAreNotRepeatedInACluster(t *testing.T) {
	t.Parallel() // it waits for the cluster to form
	owner, p := announced(t)
	c := patientClient(t, &redistest.Server{Addr: p.Addr}, func(c *Config) { c.URL = p.URL() + "?cluster=true" })
	l := mustBucket(t, c, "k", PerSecond(1e-6).Burst(10))
	granted := func() string { return owner.HGet(t.Context(), "k", "granted").Val() }
	for range 3 { // connections, scripts and the map are there
		if d, err := l.AllowN(t.Context(), 1); err != nil || !d.OK || d.Mode != ModeShared || l.link().server != p.Addr {
			t.Fatalf("%+v, %v, by %s", d, err, l.link().server)
		}
	}
	p.SwallowReplies()
	answered := make(chan Decision, 1)
	go func() {
		d, _ := l.AllowN(t.Context(), 1)
		answered <- d
	}()
	awaitTrue(t, func() bool { return granted() == "4" })
	p.Drop() // before it heals: the answer may still be on its way
	p.Heal()
	if d := <-answered; d.Mode == ModeShared {
		t.Errorf("the call whose answer was lost: %+v", d)
	}
	awaitTrue(t, func() bool { open, _, _ := l.link().isOpen(); return !open })
	time.Sleep(20 * time.Millisecond) // a second charge would come with the probe, if at all
	if got := granted(); got != "4" {
		t.Errorf("%s tokens charged for 4 requests", got)
	}
}

// Nor is an operator's change: one that says AnyRev would be made twice.
func TestChangesAreNotRepeatedInACluster(t *testing.T) {
	t.Parallel() // it waits for the cluster to form
	owner, p := announced(t)
	options, err := Options(p.URL() + "?cluster=true")
	if err != nil {
		t.Fatal(err)
	}
	for _, timeout := range []*time.Duration{&options.DialTimeout, &options.ReadTimeout, &options.WriteTimeout, &options.PoolTimeout} {
		*timeout = 20 * time.Second // a busy machine answers late
	}
	client := NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	a := newAdmin(t, client)
	arrange(t, a, "k")
	if _, err := a.Reset(t.Context(), "k", AnyRev, ToFull(), ""); err != nil { // connections, the script and the map are there
		t.Fatal(err)
	}
	calls := func(command string) int {
		text := owner.Info(t.Context(), "commandstats").Val()
		_, text, _ = strings.Cut(text, "cmdstat_"+command+":calls=")
		text, _, _ = strings.Cut(text, ",")
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	// loseAnswer makes a change and loses the answer to its command.
	loseAnswer := func(command string) (times int, err error) {
		before := calls(command)
		p.Delay(0, 200*time.Millisecond) // what a change does before has to pass
		failed := make(chan error, 1)
		go func() {
			_, err := a.Reset(t.Context(), "k", AnyRev, ToFull(), "")
			failed <- err
		}()
		awaitTrue(t, func() bool { return calls(command) > before })
		p.Drop()
		p.Heal()
		err = <-failed
		return calls(command) - before, err
	}
	var call *CallError
	if times, err := loseAnswer("evalsha"); !errors.As(err, &call) || !call.Unsure || times != 1 {
		t.Errorf("a change whose answer was lost: %v, made %d times", err, times)
	}
	// And its event, which tells of one change, is there once.
	times, err := loseAnswer("xadd")
	var audit *AuditError
	if !errors.As(err, &audit) || times != 1 || !strings.HasPrefix(audit.Lacks(), "its event may be missing") {
		t.Errorf("a change whose event's answer was lost: %v, told %d times", err, times)
	}
}
