package bucketctl

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// fault is one way in which Redis can't be used, made on a real server.
type fault struct {
	name   string
	config func(*scene, *Config)    // of the workers
	absent bool                     // the server is not there when they start
	begin  func(*scene, *testing.T) // nil: there is nothing to do
	end    func(*scene, *testing.T) // nil: it heals by itself
	reason string                   // part of what workers say it is
	what   expectation
	lost   float64 // bucketfuls that Redis itself forgets
}

// expectation is what workers do about a fault.
type expectation uint8

const (
	decideAlone expectation = iota // all of them, until it is over
	endItself                      // the same, but the fault's end is the server's own
	comeAndGo                      // as its pauses are
	returnEarly                    // before it is over
	stayShared                     // nothing: it is no outage
)

// faults are all that the limiter is held against.
func faults() []fault {
	return []fault{
		{name: "SIGSTOP, SIGCONT", begin: (*scene).freeze, end: (*scene).thaw, reason: "timeout"},
		{name: "kill -9, restart empty", begin: (*scene).kill, end: (*scene).restart, reason: "connect", lost: 1},
		{name: "absent at the start", absent: true, end: (*scene).restart, reason: "connect"},
		{name: "CLIENT PAUSE ALL", begin: (*scene).pauseAll, end: (*scene).awaitServer, reason: "timeout", what: endItself},
		{name: "CLIENT PAUSE WRITE", begin: (*scene).pauseWrites, end: (*scene).unpause, reason: "timeout"},
		{name: "black hole", begin: (*scene).blackHole, end: (*scene).healHole, reason: "timeout"},
		{name: "connections refused", begin: (*scene).cut, end: (*scene).heal, reason: "connect"},
		{name: "connections reset each 20 ms", begin: (*scene).dropOften, end: (*scene).stopRepeating, what: comeAndGo},
		{name: "open connections hang, new ones work", begin: (*scene).hang, end: (*scene).heal, reason: "timeout", what: returnEarly},
		{name: "LOADING", begin: (*scene).load, end: (*scene).awaitServer, reason: "LOADING", what: endItself},
		{name: "READONLY after REPLICAOF", begin: (*scene).makeReplica, end: (*scene).makePrimary, reason: "READONLY"},
		{name: "OOM", begin: (*scene).leaveNoMemory, end: (*scene).leaveMemory, reason: "OOM"},
		{name: "MISCONF", begin: (*scene).failToSave, end: (*scene).saveNoMore, reason: "MISCONF"},
		{name: "BUSY", begin: (*scene).loop, end: (*scene).killScript, reason: "BUSY"},
		{name: "NOAUTH", begin: (*scene).wantPassword, end: (*scene).wantNone, reason: "configuration: NOAUTH"},
		{name: "WRONGPASS", config: asUser, begin: (*scene).changePassword, end: (*scene).changeBack, reason: "configuration: WRONGPASS"},
		{name: "ACL without HSET", config: asUser, begin: (*scene).denyHSET, end: (*scene).allowHSET, reason: "configuration: the user may not run HSET"},
		{name: "connection pool exhausted", config: withPool, begin: (*scene).holdPool, end: (*scene).releasePool, reason: "pool are in use"},
		{name: "SCRIPT FLUSH each 100 ms", begin: (*scene).flushOften, end: (*scene).stopRepeating, what: stayShared},
		{name: "up and down", begin: (*scene).flap, end: (*scene).stopFlapping, reason: "connect", what: comeAndGo},
	}
}

func (s *scene) freeze(*testing.T)    { s.server.Freeze() }
func (s *scene) thaw(*testing.T)      { s.server.Thaw() }
func (s *scene) kill(*testing.T)      { s.server.Kill() }
func (s *scene) restart(*testing.T)   { s.server.Restart() }
func (s *scene) cut(*testing.T)       { s.proxy.Cut() }
func (s *scene) heal(*testing.T)      { s.proxy.Heal() }
func (s *scene) hang(*testing.T)      { s.proxy.Freeze() }
func (s *scene) blackHole(*testing.T) { s.proxy.Delay(time.Hour, time.Hour) }

// healHole also ends the connections whose packets are lost for ever.
func (s *scene) healHole(*testing.T) {
	s.proxy.Drop()
	s.proxy.Heal()
}

func (s *scene) say(t *testing.T, args ...any) {
	t.Helper()
	do(t, s.owner, args)
}

func (s *scene) pauseAll(t *testing.T) { s.say(t, "CLIENT", "PAUSE", s.length.Milliseconds(), "ALL") }
func (s *scene) pauseWrites(t *testing.T) {
	s.say(t, "CLIENT", "PAUSE", time.Hour.Milliseconds(), "WRITE")
}
func (s *scene) unpause(t *testing.T)     { s.say(t, "CLIENT", "UNPAUSE") }
func (s *scene) makeReplica(t *testing.T) { s.say(t, "REPLICAOF", "127.0.0.1", "1") }
func (s *scene) makePrimary(t *testing.T) { s.say(t, "REPLICAOF", "NO", "ONE") }

func (s *scene) leaveNoMemory(t *testing.T) { s.say(t, "CONFIG", "SET", "maxmemory", 1) }
func (s *scene) leaveMemory(t *testing.T)   { s.say(t, "CONFIG", "SET", "maxmemory", 0) }

// awaitServer waits for the end of what the server ends by itself.
func (s *scene) awaitServer(t *testing.T) {
	t.Helper()
	awaitTrue(t, func() bool { return s.owner.Set(t.Context(), "owner", 1, 0).Err() == nil })
}

// load lets the server load its data set again, which it takes its time for.
func (s *scene) load(t *testing.T) {
	t.Helper()
	const keys = 100
	for i := range keys {
		s.say(t, "SET", "filler:"+string(rune('a'+i)), strings.Repeat("x", 2048))
	}
	s.say(t, "CONFIG", "SET", "rdbcompression", "no")
	s.say(t, "CONFIG", "SET", "loading-process-events-interval-bytes", 1024)
	s.say(t, "CONFIG", "SET", "key-load-delay", s.length.Microseconds()/keys)
	s.beside(func(ctx context.Context, c *redis.Client) { c.Do(ctx, "DEBUG", "RELOAD") })
	s.awaitWord(t, "LOADING")
}

// awaitWord waits until the server refuses with a word.
func (s *scene) awaitWord(t *testing.T, word string) {
	t.Helper()
	awaitTrue(t, func() bool { return redis.HasErrorPrefix(s.owner.Set(t.Context(), "owner", 1, 0).Err(), word) })
}

// failToSave puts a folder where the snapshot is to be.
func (s *scene) failToSave(t *testing.T) {
	t.Helper()
	dir := s.owner.ConfigGet(t.Context(), "dir").Val()["dir"]
	if err := os.Mkdir(filepath.Join(dir, "dump.rdb"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.say(t, "CONFIG", "SET", "save", "3600 1000000")
	s.say(t, "BGSAVE")
	s.awaitWord(t, "MISCONF")
}

func (s *scene) saveNoMore(t *testing.T) {
	s.say(t, "CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
}

// loop lets somebody else's script run and not end.
func (s *scene) loop(t *testing.T) {
	t.Helper()
	s.say(t, "CONFIG", "SET", "busy-reply-threshold", 10)
	s.beside(func(ctx context.Context, c *redis.Client) { c.Eval(ctx, "while true do end", nil) })
	s.awaitWord(t, "BUSY")
}

func (s *scene) killScript(t *testing.T) { s.say(t, "SCRIPT", "KILL") }

// killConnections ends what is open, but the owner's own.
func (s *scene) killConnections(t *testing.T) {
	t.Helper()
	for _, kind := range []string{"normal", "pubsub"} {
		s.say(t, "CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")
	}
}

func (s *scene) wantPassword(t *testing.T) {
	s.say(t, "CONFIG", "SET", "requirepass", "new")
	s.killConnections(t)
}

func (s *scene) wantNone(t *testing.T) { s.say(t, "CONFIG", "SET", "requirepass", "") }

func (s *scene) changePassword(t *testing.T) {
	s.say(t, "ACL", "SETUSER", "w", "resetpass", ">new")
	s.killConnections(t)
}

func (s *scene) changeBack(t *testing.T) { s.say(t, "ACL", "SETUSER", "w", ">p") }
func (s *scene) denyHSET(t *testing.T)   { s.say(t, "ACL", "SETUSER", "w", "-hset") }
func (s *scene) allowHSET(t *testing.T)  { s.say(t, "ACL", "SETUSER", "w", "+hset") }

// asUser makes workers log in as a user of their own.
func asUser(s *scene, c *Config) {
	s.owner.Do(context.Background(), "ACL", "SETUSER", "w", "on", ">p", "~*", "&*", "+@all")
	c.URL = "redis://w:p@" + s.server.Addr
}

// withPool gives a worker a small pool, which its program uses as well.
func withPool(s *scene, c *Config) {
	options := &redis.UniversalOptions{Addrs: []string{s.server.Addr}, PoolSize: 3}
	Tune(options)
	c.URL, c.Client = "", NewClient(options)
	s.pools = append(s.pools, c.Client)
	s.t.Cleanup(func() { _ = c.Client.Close() })
}

// holdPool lets the workers' programs occupy all their connections.
func (s *scene) holdPool(*testing.T) {
	for _, pool := range s.pools {
		for range 3 {
			s.also.Go(func() {
				for s.calls.Err() == nil {
					if _, err := pool.BLPop(s.calls, time.Minute, "release").Result(); err == nil {
						return
					}
				}
			})
		}
	}
}

func (s *scene) releasePool(t *testing.T) {
	t.Helper()
	for range s.pools {
		s.say(t, "RPUSH", "release", 1, 1, 1)
	}
}

// repeat does something again and again until stopRepeating.
func (s *scene) repeat(pause time.Duration, what func()) {
	ctx, cancel := context.WithCancel(s.calls)
	done := make(chan struct{})
	s.stopRepeat = func() { cancel(); <-done }
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			what()
			sleep(ctx, pause)
		}
	}()
}

func (s *scene) stopRepeating(*testing.T) { s.stopRepeat() }

func (s *scene) dropOften(*testing.T) { s.repeat(20*time.Millisecond, s.proxy.Drop) }

func (s *scene) flushOften(*testing.T) {
	s.repeat(100*time.Millisecond, func() { s.owner.ScriptFlush(s.calls) })
}

// flap cuts and heals in turns, each for a thirtieth of the whole.
func (s *scene) flap(*testing.T) {
	up := true
	s.repeat(s.length/30, func() {
		if up = !up; up {
			s.proxy.Heal()
		} else {
			s.proxy.Cut()
		}
	})
}

func (s *scene) stopFlapping(*testing.T) {
	s.stopRepeat()
	s.proxy.Heal()
}

// beside makes a call that does not return before the fault ends.
func (s *scene) beside(call func(context.Context, *redis.Client)) {
	s.also.Go(func() { call(s.calls, s.second) })
}
