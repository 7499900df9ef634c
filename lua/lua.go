// Package lua holds the scripts that run inside Redis, one file each, embedded.
// The header of each file says what it does, its KEYS, ARGV with units, reply
// and writes; a test holds headers, field names and code together.
//
// The scripts run on Redis 6.2 and newer, Valkey 8, and, for the demo,
// miniredis.
package lua

import _ "embed"

//go:embed reads.lua
var reads string

//go:embed shared.lua
var shared string

//go:embed plain.lua
var plain string

//go:embed plain_take.lua
var plainTake string

//go:embed plain_all.lua
var plainAll string

//go:embed log.lua
var log string

//go:embed plain_window.lua
var plainWindow string

//go:embed window.lua
var window string

//go:embed turns.lua
var turns string

//go:embed serve.lua
var serve string

//go:embed window_edit.lua
var windowEdit string

//go:embed window_take.lua
var windowTake string

//go:embed window_give.lua
var windowGive string

//go:embed window_cool.lua
var windowCool string

//go:embed take.lua
var take string

//go:embed take_all.lua
var takeAll string

//go:embed give.lua
var give string

//go:embed record.lua
var record string

//go:embed limit.lua
var limit string

//go:embed hold.lua
var hold string

//go:embed reset.lua
var reset string

//go:embed beat.lua
var beat string

//go:embed cool.lua
var cool string

// Take charges a list of requests to a bucket.
func Take() string { return reads + plain + plainTake + shared + turns + serve + take }

// TakeAll charges a list of requests to several buckets at once.
func TakeAll() string { return reads + plain + plainAll + shared + turns + takeAll }

// Give puts tokens back, or takes some out afterwards.
func Give() string { return reads + shared + give }

// WindowTake charges a list of requests to a sliding window.
func WindowTake() string {
	return reads + log + plainWindow + shared + window + turns + serve + windowTake
}

// WindowGive puts tokens back into a window, or takes some out afterwards.
func WindowGive() string { return reads + log + shared + window + windowGive }

// WindowCool stops a window for a while.
func WindowCool() string { return reads + log + shared + window + windowCool }

// Limit changes an operator's override.
func Limit() string { return reads + log + shared + window + windowEdit + record + limit }

// Hold stops a bucket or lets it go on.
func Hold() string { return reads + log + shared + window + windowEdit + record + hold }

// Reset sets a bucket's level, mends it, or deletes its key.
func Reset() string { return reads + log + shared + window + windowEdit + record + reset }

// Beat says that a worker lives, and tells how many do.
func Beat() string { return reads + shared + beat }

// Cool stops a bucket for a while.
func Cool() string { return reads + shared + cool }
