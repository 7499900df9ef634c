-- beat: say that a worker lives, and learn how many do.
--
-- KEYS
--   1 workers   zset of live workers; score: server microseconds until which one counts as live
-- ARGV
--   1 worker    its name, unique
--   2 interval  microseconds between beats, at least; 0: the worker leaves
-- REPLY
--   1 now       server microseconds
--   2 live      workers that count as live, the caller included
--   3 next      microseconds until the caller should beat again
-- WRITES
--   workers: the caller's member; takes out those whose time is over, or lies further ahead than any can

local PER_SECOND = 20         -- beats of all workers together, at most
local LONGEST    = HOUR       -- between two beats of one worker
local LIVES      = 3          -- intervals without a beat until a worker no longer counts

local worker, interval = ARGV[1], number(ARGV[2])
if worker == '' or not (interval and interval >= 0 and interval <= LONGEST) then
  return redis.error_reply('ERR beat: the worker has no name, or the interval is no number in range')
end
local own = redis.pcall('ZSCORE', KEYS[1], worker)
if type(own) == 'table' then return refusal(own, 'the workers are no sorted set') end

local furthest = now + LIVES * LONGEST
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(now))
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. whole(furthest), '+inf')   -- written before a clock stepped back
if interval == 0 then
  redis.call('ZREM', KEYS[1], worker)
  return { now, redis.call('ZCARD', KEYS[1]), 0 }
end

-- The count comes first: how long the caller counts as live depends on it.
own = number(own)
local counted = own and own > now and own <= furthest
local live = redis.call('ZCARD', KEYS[1]) + (counted and 0 or 1)
interval = math.floor(math.min(LONGEST, math.max(interval, live * SECOND / PER_SECOND)))
redis.call('ZADD', KEYS[1], whole(now + LIVES * interval), worker)
redis.call('PEXPIRE', KEYS[1], whole(LIVES * LONGEST / 1000))
return { now, live, interval }
