-- give: put tokens back into a bucket, or take some out afterwards, within bounds.
--
-- KEYS
--   1 bucket    hash
--   2 limit     hash, the operators' record
-- ARGV
--   1 capacity  tokens, declared by the caller
--   2 rate      tokens per second, declared
--   3 per       unit the rate was declared in, microseconds
--   4 gen       generation of the declared limit; 0: now
--   5 why       refund: a start that was charged does not happen
--               settle: the true cost differs from what was charged
--               debit: tokens were granted elsewhere, while Redis could not be asked
--   6 tokens    refund and debit: above 0; settle: above 0 gives back, below 0 takes more
--   7 start     refund: server microseconds at which the caller would have started; else of no account
-- REPLY
--   1 now       server microseconds
--   2 given     tokens that the level rose by; below 0 where it fell; text
--   3 level     tokens, text
-- WRITES
--   bucket: tokens ts granted capacity rate per gen exp turn need first; deletes turn need first where nobody
--           waits, and blocked blocked_by that are over or can't be

local capacity, rate, per, gen = positive(ARGV[1]), positive(ARGV[2]), number(ARGV[3]), number(ARGV[4])
local why, tokens, start = ARGV[5], number(ARGV[6]), number(ARGV[7])
if not (capacity and rate and per and gen and tokens and start) then
  return redis.error_reply('ERR give: an argument is no number in range')
end
if why ~= 'refund' and why ~= 'settle' and why ~= 'debit' then
  return redis.error_reply('ERR give: why must be refund, settle or debit')
end
if why ~= 'settle' and tokens <= 0 then
  return redis.error_reply('ERR give: tokens must be above 0')
end

local s, failed = load(KEYS[1], read(KEYS[1], KEYS[2]))
if failed then return failed end
local begun = s.level ~= nil
capacity, rate = declare(s, capacity, rate, per, gen, ARGV)

local before = s.level
if why == 'refund' then
  -- Those charged later were placed behind this start and keep their places:
  -- what they were delayed by can't be handed out again.
  local last_start = s.ts - s.level / rate * SECOND
  tokens = math.max(0, tokens - math.max(0, last_start - start) / SECOND * rate)
  if begun then s.level = math.min(capacity, s.level + tokens) end
  if s.turn > now then s.turn = math.max(now, s.turn - (s.level - before) / rate * SECOND) end
elseif why == 'settle' then
  if tokens > 0 then
    if begun then s.level = math.min(capacity, s.level + tokens) end
  else
    -- A debt is bounded by one capacity, so that one wrong figure can't stop
    -- everybody for long.
    s.level = math.max(math.min(s.level, -capacity), s.level + tokens)
    s.granted = s.granted + (before - s.level)
  end
elseif s.level > 0 then                                -- debit: never below 0, a debt is left alone
  s.level = math.max(0, s.level - tokens)
  s.granted = s.granted + (before - s.level)
end
if s.level ~= before or s.dirty then save(s) end
return { now, float(s.level - before), float(s.level) }
