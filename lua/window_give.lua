-- window_give: put tokens back into a sliding window, or take some out afterwards, within bounds.
--
-- KEYS
--   1 bucket    hash
--   2 limit     hash, the operators' record
--   3 log       zset, the starts of the last span
-- ARGV
--   1 capacity  tokens that may start in one span, declared by the caller
--   2 rate      tokens per second, declared: capacity / per
--   3 per       the span, microseconds
--   4 gen       generation of the declared limit; 0: now
--   5 why       refund: a start that was charged does not happen
--               settle: the true cost differs from what was charged
--               debit: tokens were granted elsewhere, while Redis could not be asked
--   6 tokens    refund and debit: above 0; settle: above 0 gives back, below 0 takes more
--   7 start     refund and settle: server microseconds of the start that was charged; else 0
-- REPLY
--   1 now       server microseconds
--   2 given     tokens that the level rose by; below 0 where it fell; text
--   3 level     tokens left in the span, text
-- WRITES
--   bucket: kind used ts granted capacity rate per gen exp turn need paid first; deletes turn need paid first where nobody
--           waits,
--           tokens that a reset left, and blocked blocked_by that can't be, where values were corrupt
--   log:    takes tokens from the member of the start, or adds a member

local declared, declared_rate, per, gen = positive(ARGV[1]), positive(ARGV[2]), positive(ARGV[3]), number(ARGV[4])
local why, tokens, start = ARGV[5], number(ARGV[6]), number(ARGV[7])
if not (declared and declared_rate and per and gen and tokens and start) then
  return redis.error_reply('ERR window_give: an argument is no number in range')
end
if why ~= 'refund' and why ~= 'settle' and why ~= 'debit' then
  return redis.error_reply('ERR window_give: why must be refund, settle or debit')
end
if why ~= 'settle' and tokens <= 0 then
  return redis.error_reply('ERR window_give: tokens must be above 0')
end

local s, failed = load_window(KEYS[1], KEYS[3], read_window(KEYS[1], KEYS[2]))
if failed then return failed end
declare_window(s, declared, per, gen)
failed = count(s)
if failed then return failed end

-- take_back takes tokens out of the member that a start was logged in: the first
-- one not before it. Of one that has left the span nothing is left to take.
local function take_back(s, tokens, start)
  if start + s.span <= s.now or start <= 0 then return end
  local list = redis.call('ZRANGEBYSCORE', s.log, whole(start), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  local weight, score = weight_of(list[1]), number(list[2])
  if not (weight and score) then return end
  local rest = millionths(math.max(0, weight - tokens))
  if rest > 0 then redis.call('ZADD', s.log, whole(score), amount(rest) .. ':' .. whole(score)) end
  redis.call('ZREM', s.log, list[1])
  if rest == 0 and score == s.ts then
    local newest = redis.call('ZRANGE', s.log, -1, -1, 'WITHSCORES')
    s.ts = number(newest[2]) or 0
  end
  s.used, s.dirty = math.max(0, millionths(s.used - (weight - rest))), true
end

local before = s.used
tokens = millionths(tokens)
if why ~= 'debit' and tokens > 0 then
  take_back(s, tokens, start)
  if why == 'refund' and s.turn > now then s.turn = math.max(now, s.turn - (before - s.used) / s.limit * s.span) end
elseif why == 'settle' and tokens < 0 then
  -- A debt is bounded by one limit, so that one wrong figure can't stop
  -- everybody for long. What starts late is logged late.
  local more = math.min(-tokens, math.max(0, millionths(2 * s.limit - s.used)))
  if more > 0 then enter(s, more, now) end
  s.granted = s.granted + more
elseif why == 'debit' then                             -- never above the limit
  local more = math.min(tokens, math.max(0, millionths(s.limit - s.used)))
  if more > 0 then enter(s, more, now) end
  s.granted = s.granted + more
end
if s.dirty then save_window(s) end
return { now, float(before - s.used), float(s.limit - s.used) }
