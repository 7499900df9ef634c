package peer

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"bucketop/bucketctl"
	"bucketop/internal/bench/figure"
	"bucketop/internal/schema"
	"bucketop/lua"
)

// rueidisPeer runs bucketctl's own take script, one request in each call, by a
// client that puts the calls of all goroutines on shared connections.
func rueidisPeer() Peer {
	return Peer{Name: "rueidis, take script", Open: openRueidis, Sent: takeSent, Stamps: true}
}

func takeSent(all figure.Commands) figure.Commands { return all.Without(calledBy(lua.Take())...) }

type rueidisSession struct {
	client rueidis.Client
	keys   schema.Keys
	script *rueidis.Lua
}

func openRueidis(_ context.Context, addr string) (Session, error) {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	if err != nil {
		return nil, fmt.Errorf("opening rueidis: %w", err)
	}
	keys, err := schema.New("")
	if err != nil {
		return nil, fmt.Errorf("naming keys: %w", err)
	}
	return rueidisSession{client, keys, rueidis.NewLuaScript(lua.Take())}, nil
}

func (s rueidisSession) Close() error {
	s.client.Close()
	return nil
}

func (s rueidisSession) Limiter(key string, limit Limit) (Limiter, error) {
	return taker{
		session: s,
		keys:    []string{key, s.keys.Limit(key)},
		declared: []string{
			strconv.Itoa(limit.Capacity), strconv.Itoa(limit.Rate), strconv.FormatInt(time.Second.Microseconds(), 10),
			"1", // one generation, so that nobody declares anew
			strconv.FormatInt(bucketctl.DefaultHorizon.Microseconds(), 10),
		},
	}, nil
}

// taker follows the take script's header: its ARGV and REPLY.
type taker struct {
	session  rueidisSession
	keys     []string
	declared []string
}

// Items of the reply, from 0.
const (
	takeNow, takeAsk, takeTicket, takeCode, takeWait = 0, 4, 5, 12, 13
	takeCharged, takeWaits                           = 0, 2
	takePlain                                        = 3 // items, where the request was charged and nothing else is to be told
)

func (t taker) Wait(ctx context.Context) error {
	_, err := t.WaitStamped(ctx)
	return err
}

func (t taker) WaitStamped(ctx context.Context) (time.Time, error) {
	ticket := int64(0)
	for {
		r, err := t.ask(ctx, ticket)
		if err != nil {
			return time.Time{}, err
		}
		switch r[takeCode] {
		case takeCharged:
			start := time.UnixMicro(r[takeNow] + r[takeWait])
			return start, sleep(ctx, micros(r[takeWait]))
		case takeWaits:
			ticket = r[takeTicket]
			if err := sleep(ctx, micros(r[takeAsk])); err != nil {
				return time.Time{}, err
			}
		default:
			return time.Time{}, fmt.Errorf("the take script answered with code %d", r[takeCode])
		}
	}
}

// ask returns the reply's integers; its texts are 0, and so is all that the
// script leaves out.
func (t taker) ask(ctx context.Context, ticket int64) ([takeWait + 1]int64, error) {
	var out [takeWait + 1]int64
	args := append(t.declared[:len(t.declared):len(t.declared)], strconv.FormatInt(ticket, 10), "1:9000000000000000")
	list, err := t.session.script.Exec(ctx, t.session.client, t.keys, args).ToArray()
	if err != nil {
		return out, fmt.Errorf("running the take script: %w", err)
	}
	if len(list) == takePlain {
		list = list[:takeNow+1]
	} else if len(list) != len(out) {
		return out, fmt.Errorf("the take script replied with %d items, not %d or %d", len(list), takePlain, len(out))
	}
	for i := range list {
		if !list[i].IsInt64() {
			continue
		}
		if out[i], err = list[i].AsInt64(); err != nil {
			return out, fmt.Errorf("reading item %d of the take script's reply: %w", i+1, err)
		}
	}
	return out, nil
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
