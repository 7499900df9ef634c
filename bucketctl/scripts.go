package bucketctl

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"bucketop/lua"
)

// scripts are the scripts ready to run: EVALSHA, and EVAL where the server
// does not know one, so that neither SCRIPT LOAD nor a full script cache is
// ever needed.
type scripts struct {
	take, takeAll, give, limit, hold, reset, beat, cool *redis.Script
	windowTake, windowGive, windowCool                  *redis.Script
}

func newScripts() scripts {
	return scripts{
		take:    redis.NewScript(lua.Take()),
		takeAll: redis.NewScript(lua.TakeAll()),
		give:    redis.NewScript(lua.Give()),
		limit:   redis.NewScript(lua.Limit()),
		hold:    redis.NewScript(lua.Hold()),
		reset:   redis.NewScript(lua.Reset()),
		beat:    redis.NewScript(lua.Beat()),
		cool:    redis.NewScript(lua.Cool()),

		windowTake: redis.NewScript(lua.WindowTake()),
		windowGive: redis.NewScript(lua.WindowGive()),
		windowCool: redis.NewScript(lua.WindowCool()),
	}
}

// runScript runs one script on a bucket and its sibling, and returns the reply
// as a list.
func runScript(ctx context.Context, client redis.UniversalClient, script *redis.Script, keys []string, args ...any) (reply, error) {
	v, err := script.Run(ctx, client, keys, args...).Result()
	if err != nil {
		return nil, nameDenied(script, err)
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("a script replied with %T, not with a list", v)
	}
	return list, nil
}

// reply is a script's reply, with checked access to its items.
type reply []any

func (r reply) length(n int) error {
	if len(r) < n {
		return fmt.Errorf("a script replied with %d items, not %d", len(r), n)
	}
	return nil
}

func (r reply) integer(i int) (int64, error) {
	switch v := r[i].(type) {
	case int64:
		return v, nil
	case float64: // RESP3 may carry doubles
		return int64(v), nil
	}
	return 0, fmt.Errorf("item %d of a script's reply is %T, not an integer", i+1, r[i])
}

// integers reads n items from the first on.
func (r reply) integers(first, n int) ([]int64, error) {
	out := make([]int64, n)
	for i := range out {
		v, err := r.integer(first + i)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (r reply) text(i int) (string, error) {
	s, ok := r[i].(string)
	if !ok {
		return "", fmt.Errorf("item %d of a script's reply is %T, not a text", i+1, r[i])
	}
	return s, nil
}

func (r reply) number(i int) (float64, error) {
	text, err := r.text(i)
	if err != nil {
		return 0, err
	}
	v, ok := storedNumber(text)
	if !ok {
		return 0, fmt.Errorf("item %d of a script's reply is %q, not a number", i+1, text)
	}
	return v, nil
}

// fields reads a flat list of names and values.
func (r reply) fields(i int) (map[string]string, error) {
	list, ok := r[i].([]any)
	if !ok || len(list)%2 != 0 {
		return nil, fmt.Errorf("item %d of a script's reply is no list of fields", i+1)
	}
	out := make(map[string]string, len(list)/2)
	for j := 0; j < len(list); j += 2 {
		name, ok1 := list[j].(string)
		value, ok2 := list[j+1].(string)
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("item %d of a script's reply has a field that is no text", i+1)
		}
		out[name] = value
	}
	return out, nil
}
