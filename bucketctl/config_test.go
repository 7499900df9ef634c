package bucketctl

import (
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestConfigDefaults(t *testing.T) {
	c := Config{}.withDefaults()
	if c.App == "" || c.Fallback != FallbackShare || c.Horizon != DefaultHorizon || c.Logger == nil || c.Workers != 0 || c.Generation != 0 {
		t.Errorf("defaults %+v", c)
	}
	if strings.ContainsAny(c.App, `/\`) {
		t.Errorf("App defaults to a path: %q", c.App)
	}
	if got := c.assumedWorkers(); got != UnknownWorkers {
		t.Errorf("an unknown number of workers is taken for %d", got)
	}
	set := Config{App: "geo", Fallback: FallbackOpen, Horizon: time.Second, Logger: slog.New(slog.DiscardHandler), Workers: 3, callTimeout: time.Second}
	if got := set.withDefaults(); !reflect.DeepEqual(got, set) || got.assumedWorkers() != 3 {
		t.Errorf("what is set is kept: %+v", got)
	}
}

func TestConfigsThatCannotWork(t *testing.T) {
	client := plainClient(t, &redis.Options{Addr: "127.0.0.1:1"})
	good := Config{URL: "redis://127.0.0.1:1"}.withDefaults()
	if err := good.validate(); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*Config){
		"Config.URL or Config.Client is required": func(c *Config) { c.URL = "" },
		"exclude each other":                      func(c *Config) { c.Client = client },
		"Config.Workers is -1: from 0 to":         func(c *Config) { c.Workers = -1 },
		"Config.Workers is 1000001: from 0 to":    func(c *Config) { c.Workers = MaxWorkers + 1 },
		`Config.Fallback is "maybe": share`:       func(c *Config) { c.Fallback = "maybe" },
		"Config.Horizon is -1ns: from 0 to 5s":    func(c *Config) { c.Horizon = -1 },
		"Config.Horizon is 5.000000001s":          func(c *Config) { c.Horizon = MaxHorizon + 1 },
		"Config.Generation is -1":                 func(c *Config) { c.Generation = -1 },
		"Config.Generation is 9007199254740992":   func(c *Config) { c.Generation = 1 << 53 },
		`Config.Namespace: namespace "a{b}"`:      func(c *Config) { c.Namespace = "a{b}" },
	} {
		c := good
		change(&c)
		err := c.validate()
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want an ErrConfig that says %q", err, says)
		}
		if opened, err := Open(t.Context(), c); !errors.Is(err, ErrConfig) || opened != nil {
			t.Errorf("Open: %v, want an ErrConfig that says %q", err, says)
		}
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Workers = MaxWorkers },
		func(c *Config) { c.Horizon = MaxHorizon },
		func(c *Config) { c.Generation = 1<<53 - 1 },
		func(c *Config) { c.Fallback = FallbackClosed },
		func(c *Config) { c.Namespace = "limits" },
		func(c *Config) { c.URL, c.Client = "", client },
	} {
		c := good
		change(&c)
		if err := c.validate(); err != nil {
			t.Errorf("at the bound: %v", err)
		}
	}
}

func TestNewAdminConfig(t *testing.T) {
	client := plainClient(t, &redis.Options{Addr: "127.0.0.1:1"})
	for _, config := range []AdminConfig{{}, {Client: client, Namespace: "{"}} {
		if _, err := NewAdmin(config); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", config, err)
		}
	}
	a, err := NewAdmin(AdminConfig{Client: client, ReadOnly: true})
	if err != nil || a.By() != "unknown" || !a.ReadOnly() {
		t.Errorf("%+v, %v", a, err)
	}
}
