-- reset: set the level of a bucket or window and mend values that can't be; or delete its key.
--
-- KEYS
--   1 bucket    hash, or whatever is to be deleted
--   2 limit     hash, the operators' record; only read
--   3 log       zset, a window's starts
-- ARGV
--   1 if_rev    revision that the change was decided on; 0: no record; -1: any
--   2 known     1: the bucket is registered; 0: it must have state or a record, to be deleted state
--   3 to        full, empty, a number of tokens, or delete
-- REPLY
--   1 result    ok, conflict, unknown, foreign (full, or a window, but no limit is known) or wrongtype
--   2 now       server microseconds
--   3 type      of the bucket's key before
--   4 bucket before, 5 limit before, 6 bucket after, 7 limit after   fields, flat
--   8 pttl      of the bucket after, milliseconds; below 0: none
--   9 used before, 10 used after   tokens in a window's span, text; empty: no window, or not known
-- WRITES
--   bucket: tokens ts granted exp; deletes turn need first, and what can't be of granted capacity rate
--           per gen blocked blocked_by

local kind, before = content(KEYS[1])
local record_kind, record = content(KEYS[2])
if record_kind ~= 'none' and record_kind ~= 'hash' then return wrong_type('the operators\' record is no hash') end

local window = is_window(KEYS[1], kind) and load_window(KEYS[1], KEYS[3], read_window(KEYS[1], KEYS[2]))
local used = window and used_now(window) or ''
local used_after = used
if window and window.denied then return window.denied end

local function answer(result)
  local _, after = content(KEYS[1])
  return { result, now, kind, before, record, after, record, redis.call('PTTL', KEYS[1]), used, used_after }
end

local if_rev, known, to = number(ARGV[1]), ARGV[2] == '1', ARGV[3]
if not if_rev then return redis.error_reply('ERR reset: if_rev is no number in range') end
local level = to == 'empty' and 0 or number(to)
if to ~= 'full' and to ~= 'delete' and not (level and level >= 0) then
  return redis.error_reply('ERR reset: to must be full, empty, delete or a number from 0')
end
local rev = number(redis.call('HGET', KEYS[2], 'rev')) or 0
if kind == 'none' and not known and (to == 'delete' or #record == 0) then return answer('unknown') end
if if_rev >= 0 and if_rev ~= rev then return answer('conflict') end
if to == 'delete' then
  redis.call('DEL', KEYS[1], KEYS[3])
  used_after = ''
  return answer('ok')
end
if kind ~= 'none' and kind ~= 'hash' then return answer('wrongtype') end
if window then
  if not (window.capacity and window.per) then return answer('foreign') end
  window.limit, window.span = in_force(window, now)
  reset_window(window, level or window.limit)
  used_after = amount(window.used)
  return answer('ok')
end

local s, failed = load(KEYS[1], read(KEYS[1], KEYS[2]))
if failed then return is_wrong_type(failed) and answer('wrongtype') or failed end
if kind == 'hash' and not (s.level or s.capacity or s.gen or known) then
  return answer('wrongtype')                           -- some other program's hash: no field of a bucket
end
local capacity = effective(s, now)
if to == 'full' and not capacity then return answer('foreign') end
if to == 'full' then level = capacity end
s.level, s.ts, s.exp, s.turn = capacity and math.min(level, capacity) or level, now, 0, 0

if s.capacity and s.rate then
  save(s)
else
  -- Another program's bucket, or one whose limit nobody knows yet: level and
  -- time only. Its own writer looks after its expiry; a worker's next take
  -- declares the limit again.
  redis.call('HSET', KEYS[1], 'tokens', float(s.level), 'ts', string.format('%.6f', now / SECOND))
  if s.has_turn then redis.call('HDEL', KEYS[1], 'turn', 'need', 'first') end
  if s.bad_limit then redis.call('HDEL', KEYS[1], 'capacity', 'rate', 'per', 'gen') end
  if s.bad_blocked then redis.call('HDEL', KEYS[1], 'blocked', 'blocked_by') end
  if s.bad_granted then redis.call('HDEL', KEYS[1], 'granted') end
  if kind == 'none' then
    redis.call('PEXPIRE', KEYS[1], whole(DAY / 1000))
    redis.call('DEL', KEYS[3])                         -- of a window whose hash is gone
  end
end
return answer('ok')
