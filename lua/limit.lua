-- limit: set, change or take away an operator's override, if nobody else changed the record since.
--
-- KEYS
--   1 bucket    hash
--   2 limit     hash, the operators' record
--   3 log       zset, a window's starts; only its expiry changes
-- ARGV
--   1 if_rev    revision that the change was decided on; 0: no record; -1: any
--   2 known     1: the bucket is registered; 0: it must have state or a record
--   3 capacity  tokens; declared: as declared; empty: as it is
--   4 rate      tokens per second; declared: as declared; empty: as it is
--   5 per       unit the rate is given in, microseconds; empty: as it is
--   6 end       forever; +microseconds from now; server microseconds; empty: as it is
--   7 by        who, text
--   8 reason    why, text
-- REPLY
--   1 result    ok, conflict, nothing, unknown, foreign or wrongtype
--   2 now       server microseconds
--   3 type      of the bucket's key
--   4 bucket before, 5 limit before, 6 bucket after, 7 limit after   fields, flat
--   8 pttl      of the bucket after, milliseconds; below 0: none
--   9 used before, 10 used after   tokens in a window's span, text; empty: no window, or not known
-- WRITES
--   bucket: tokens ts granted exp turn need first; deletes turn need first where the rate is another,
--           and blocked blocked_by that are over or can't be
--           in a window exp alone, and turn need paid first are deleted where the rate is another
--   limit:  capacity rate per until rev by at reason

local kind, before = content(KEYS[1])
local _, record_before = content(KEYS[2])

local window = is_window(KEYS[1], kind)
local s, failed
local used = ''

local function answer(result)
  local _, after = content(KEYS[1])
  local _, record_after = content(KEYS[2])
  local used_after = window and used_now(s) or ''
  return { result, now, kind, before, record_before, after, record_after, redis.call('PTTL', KEYS[1]), used, used_after }
end

local if_rev, known = number(ARGV[1]), ARGV[2] == '1'
if not if_rev then return redis.error_reply('ERR limit: if_rev is no number in range') end
if kind ~= 'none' and kind ~= 'hash' then return answer('wrongtype') end
if window then s, failed = load_window(KEYS[1], KEYS[3], read_window(KEYS[1], KEYS[2])) else s, failed = load(KEYS[1], read(KEYS[1], KEYS[2])) end
if failed then return failed end
if window then used = used_now(s) end
if s.denied then return s.denied end
if kind == 'none' and #record_before == 0 and not known then return answer('unknown') end
if not known and #record_before == 0 and is_foreign(KEYS[1], kind) then return answer('foreign') end
if if_rev >= 0 and if_rev ~= s.rev then return answer('conflict') end

-- What is in force now is what is kept; an override that has ended is gone.
local active = overridden(s, now)
local function setting(text, current)
  if text == '' then return active and current or nil end
  if text == 'declared' then return nil end
  return positive(text)
end
local capacity = setting(ARGV[3], s.over_capacity)
local rate = setting(ARGV[4], s.over_rate)
for i = 3, 4 do
  if ARGV[i] ~= '' and ARGV[i] ~= 'declared' and not positive(ARGV[i]) then
    return redis.error_reply('ERR limit: capacity or rate is no number in range')
  end
end
local per = number(ARGV[5])
if ARGV[5] ~= '' and not (per and per >= 0) then return redis.error_reply('ERR limit: per is no number in range') end
local over_end, bad_end = ending(ARGV[6], active and s.over_end or nil, now)
if bad_end then return bad_end end
if not (capacity or rate) and not active then return answer('nothing') end

if window and s.limit then
  local old_rate = s.limit / s.span
  s.over_capacity, s.over_rate, s.over_end = capacity, rate, over_end
  if per then s.over_per = per > 0 and per or SECOND end
  if in_force(s, now) < 1 then return redis.error_reply('ERR the window would hold less than 1 token') end
  refit(s, old_rate)
end

-- Settle at the old limit first, then change: elapsed time is never counted
-- at a limit that was not yet in force.
local settles = s.level and s.capacity and s.rate
local old_rate
if settles then
  settle(s)
  _, old_rate = effective(s, now)
end
s.over_capacity, s.over_rate, s.over_end = capacity, rate, over_end
if settles then
  adapt(s, old_rate, effective(s, now))
  s.exp = 0                                            -- renew: the new limit may be slower
  save(s)
end

local rev = math.max(s.rev + 1, now)
redis.call('HSET', KEYS[2], 'rev', whole(rev), 'by', ARGV[7], 'at', whole(now), 'reason', ARGV[8])
local function put(field, value)
  if value then redis.call('HSET', KEYS[2], field, value) else redis.call('HDEL', KEYS[2], field) end
end
put('capacity', capacity and float(capacity))
put('rate', rate and float(rate))
if per or not rate then put('per', rate and whole(per)) end
put('until', (capacity or rate) and over_end and whole(over_end))
keep_record(KEYS[2], now)
return answer('ok')
