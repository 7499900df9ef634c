-- hold: stop a bucket, or let it go on, if nobody else changed the record since.
--
-- KEYS
--   1 bucket    hash
--   2 limit     hash, the operators' record
--   3 log       zset, a window's starts; only read
-- ARGV
--   1 if_rev    revision that the change was decided on; 0: no record; -1: any
--   2 known     1: the bucket is registered; 0: it must have state or a record
--   3 end       resume: let it go on; forever; +microseconds from now; server microseconds;
--               empty: the end of the hold that is there, else forever
--   4 by        who, text
--   5 reason    why, text
-- REPLY
--   1 result    ok, conflict, nothing, unknown, foreign
--   2 now       server microseconds
--   3 type      of the bucket's key
--   4 bucket before, 5 limit before, 6 bucket after, 7 limit after   fields, flat
--   8 pttl      of the bucket, milliseconds; below 0: none
--   9 used before, 10 used after   tokens in a window's span, text; empty: no window, or not known
-- WRITES
--   limit: hold hold_by hold_at hold_reason rev

local kind, bucket = content(KEYS[1])
local record_kind, before = content(KEYS[2])
if record_kind ~= 'none' and record_kind ~= 'hash' then return wrong_type('the operators\' record is no hash') end

local window = is_window(KEYS[1], kind) and load_window(KEYS[1], KEYS[3], read_window(KEYS[1], KEYS[2]))
local used = window and used_now(window) or ''
if window and window.denied then return window.denied end

local function answer(result)
  local _, after = content(KEYS[2])
  return { result, now, kind, bucket, before, bucket, after, redis.call('PTTL', KEYS[1]), used, used }
end

local if_rev, known = number(ARGV[1]), ARGV[2] == '1'
if not if_rev then return redis.error_reply('ERR hold: if_rev is no number in range') end
local o = redis.call('HMGET', KEYS[2], 'hold', 'rev')
local current = { hold = o[1], now = now }
local rev = number(o[2]) or 0
if kind == 'none' and #before == 0 and not known then return answer('unknown') end
if not known and #before == 0 and is_foreign(KEYS[1], kind) then return answer('foreign') end
if if_rev >= 0 and if_rev ~= rev then return answer('conflict') end

local is_held, hold_end = held(current)
if ARGV[3] == 'resume' then
  if not is_held then return answer('nothing') end
  redis.call('HDEL', KEYS[2], 'hold')
else
  local ends, bad_end = ending(ARGV[3], is_held and hold_end ~= 0 and hold_end or nil, now)
  if bad_end then return bad_end end
  redis.call('HSET', KEYS[2], 'hold', ends and whole(ends) or FOREVER)
end
redis.call('HSET', KEYS[2], 'hold_by', ARGV[4], 'hold_at', whole(now), 'hold_reason', ARGV[5],
  'rev', whole(math.max(rev + 1, now)))
keep_record(KEYS[2], now)
return answer('ok')
