-- window_cool: stop a sliding window for a while, since its provider asked; whoever asks for longest wins.
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
--   5 length    microseconds from now; a day at most, more counts as a day
--   6 by        who, text
-- REPLY
--   1 now       server microseconds
--   2 moved     microseconds by which the end moved away; 0: it already was so late or later
--   3 before    end of the cooldown before, server microseconds; now or earlier: there was none
--   4 blocked   end of the cooldown, server microseconds
--   5 level     tokens left in the span, text
-- WRITES
--   bucket: kind used ts granted capacity rate per gen exp turn need paid first blocked blocked_by; deletes turn
--           need paid first where nobody waits, tokens that a reset left, and blocked_by that can't be, where
--           values were corrupt
--   log:    where it is counted again

local declared, declared_rate, per, gen = positive(ARGV[1]), positive(ARGV[2]), positive(ARGV[3]), number(ARGV[4])
local length, by = positive(ARGV[5]), ARGV[6]
if not (declared and declared_rate and per and gen and length and by) then
  return redis.error_reply('ERR window_cool: an argument is no number in range')
end

local s, failed = load_window(KEYS[1], KEYS[3], read_window(KEYS[1], KEYS[2]))
if failed then return failed end
declare_window(s, declared, per, gen)
failed = count(s)
if failed then return failed end

-- What has started goes on leaving the span meanwhile: at the end the window
-- holds what it would have held anyway. Turns end with the stop.
local before = s.blocked
local ends = math.floor(now + math.min(length, MAX_COOLDOWN))
if ends > before then s.blocked, s.dirty = ends, true end
if s.turn > 0 then s.turn, s.dirty = 0, true end
if s.dirty then save_window(s) end
if s.blocked > before then redis.call('HSET', KEYS[1], 'blocked', whole(s.blocked), 'blocked_by', by) end
return { now, math.max(0, s.blocked - math.max(before, now)), before, s.blocked, float(s.limit - s.used) }
