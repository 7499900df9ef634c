-- cool: stop a bucket for a while, since its provider asked; whoever asks for longest wins.
--
-- KEYS
--   1 bucket    hash
--   2 limit     hash, the operators' record
-- ARGV
--   1 capacity  tokens, declared by the caller
--   2 rate      tokens per second, declared
--   3 per       unit the rate was declared in, microseconds
--   4 gen       generation of the declared limit; 0: now
--   5 length    microseconds from now; a day at most, more counts as a day
--   6 by        who, text
-- REPLY
--   1 now       server microseconds
--   2 moved     microseconds by which the end moved away; 0: it already was so late or later
--   3 before    end of the cooldown before, server microseconds; now or earlier: there was none
--   4 blocked   end of the cooldown, server microseconds
--   5 level     tokens, text
-- WRITES
--   bucket: tokens ts granted capacity rate per gen exp turn need first blocked blocked_by; deletes
--           turn need first where nobody waits, and blocked_by that can't be, where values were corrupt

local capacity, rate, per, gen = positive(ARGV[1]), positive(ARGV[2]), number(ARGV[3]), number(ARGV[4])
local length, by = positive(ARGV[5]), ARGV[6]
if not (capacity and rate and per and gen and length and by) then
  return redis.error_reply('ERR cool: an argument is no number in range')
end

local s, failed = load(KEYS[1], read(KEYS[1], KEYS[2]))
if failed then return failed end
declare(s, capacity, rate, per, gen, ARGV)

local before = s.blocked
local ends = math.floor(now + math.min(length, MAX_COOLDOWN))
if ends > before then
  s.blocked, s.dirty = ends, true
end
-- Nothing accrues until the end, so that none is left over for a burst at it.
-- Turns end with the stop: those who wait book again behind it.
if s.level > 0 then s.level, s.dirty = 0, true end
s.turn = 0
if s.dirty then save(s) end
if s.blocked > before then redis.call('HSET', KEYS[1], 'blocked', whole(s.blocked), 'blocked_by', by) end
return { now, math.max(0, s.blocked - math.max(before, now)), before, s.blocked, float(s.level) }
