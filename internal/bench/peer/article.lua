-- The first article's bucket, as a peer: tokens and ts in a hash, the caller's
-- clock, and a write at every call, also where nothing is granted. It writes
-- what time it was told, so a late call moves ts back: that is the original's
-- flaw, and is measured here.
--
-- KEYS
--   1 bucket    hash
-- ARGV
--   1 size      tokens
--   2 speed     tokens per second
--   3 clock     the caller's time, seconds
--   4 want      tokens
-- REPLY
--   1 granted   0 or 1
--   2 wait      seconds, text
-- WRITES
--   bucket: tokens ts

local size, speed = tonumber(ARGV[1]), tonumber(ARGV[2])
local clock, want = tonumber(ARGV[3]), tonumber(ARGV[4])

local stored = redis.call('HMGET', KEYS[1], 'tokens', 'ts')
local level = tonumber(stored[1]) or size
local since = tonumber(stored[2]) or clock
level = math.min(size, level + speed * math.max(0, clock - since))

local granted, wait = 0, 0
if level < want then
  wait = (want - level) / speed
else
  granted, level = 1, level - want
end

redis.call('HMSET', KEYS[1], 'tokens', level, 'ts', clock)
redis.call('EXPIRE', KEYS[1], 2 * math.ceil(size / speed))
return { granted, tostring(wait) }
