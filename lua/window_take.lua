-- window_take: charge a list of requests to a sliding window, in order, as far as its limit reaches.
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
--   5 horizon   microseconds: how far ahead a start may be charged
--   6 ticket    server microseconds of an earlier reply; 0: none
--   7… n:patience, or n:patience:times   tokens, decimal, the longest wait the caller accepts, whole
--               microseconds, and how many such requests follow each other, at most 1000
-- REPLY
--   1 now       server microseconds
--   2 mended    0; 1: values were corrupt or the log was gone, counted again; 2: starts were ahead, re-anchored;
--               3: a queue that was booked for more than a second has gone, and its bookings with it
--   3 stop      0; 1: held; 2: cooling down
--   4 stop_end  server microseconds; 0: no end
--   5 ask       microseconds until those who wait should ask again; 0: nobody waits
--   6 ticket    to show when asking again; 0: none
--   7 gen       generation that the caller's limit counts as
--   8 rev       of the operators' record; 0: none
--   9 over_end  end of the override, server microseconds; 0: no override; -1: no end
--   10 level    tokens left in the span, text
--   11 capacity in force, text
--   12 rate     in force: capacity / span, text
--   13… code, wait   for each request: 0 charged, start after wait; 1 not within its patience, wait is
--                    how long it would be; 2 waits, for at least wait, or until a hold is lifted;
--                    3 more than the capacity (microseconds)
--   or, where all are charged and start at once, the limit is in force as it was declared, and nothing
--   else is to be told, just: now, rev, level
-- WRITES
--   bucket: kind used ts granted capacity rate per gen exp turn need paid first; deletes turn need paid first where nobody
--           waits,
--           tokens that a reset left, and blocked blocked_by that can't be, where values were corrupt
--   log:    one member for each start; takes out what has left the span

local declared, declared_rate, per, gen = positive(ARGV[1]), positive(ARGV[2]), positive(ARGV[3]), number(ARGV[4])
local horizon, ticket = number(ARGV[5]), number(ARGV[6])
if not (declared and declared_rate and per and gen and horizon and horizon >= 0 and ticket and ticket >= 0) then
  return redis.error_reply('ERR window_take: capacity, rate, per, gen, horizon or ticket is no number in range')
end
local asked = {}
for i = 7, #ARGV do
  local n, patience, times = request(ARGV[i])
  if not n then return redis.error_reply('ERR window_take: a request is not n:patience:times in range') end
  for _ = 1, times do asked[#asked + 1], asked[#asked + 2] = math.max(1e-6, millionths(n)), patience end
end

local s, failed = load_window(KEYS[1], KEYS[3], fields, record)
if failed then return failed end
s.oldest = oldest
local own_gen = gen == 0 and now or gen
declare_window(s, declared, per, own_gen)
failed = count(s)
if failed then return failed end

-- In the queue a window is a bucket that is served at the rate. A span that was
-- used at once comes free at once, though, and would be all of the first one's:
-- so where others have booked behind it is paced, as a bucket is that holds next
-- to nothing, or what its head wants, which could never come together else.
-- `paid` is how far the queue has been served.
-- A call that others have booked behind is told waits at the rate, though it may
-- be served earlier where they leave; all others are told when the log lets them.
s.max, s.speed, s.lag, s.free = s.limit, s.limit / s.span * SECOND, 0, free_at
s.level = (now - s.paid) / SECOND * s.speed
line_up(s, asked[1] or 0, horizon, ticket)
s.paced = s.turn > now and not s.behind and s.followed
if s.turn <= now then s.level = s.brim elseif s.paced then s.level = math.min(s.level, math.max(s.within, asked[1] or 0)) end

local reply = serve(s, asked, own_gen, function(_, n, wait)
  enter(s, n, now + wait)
  s.level = -wait / SECOND * s.speed
end)

if s.turn > 0 then s.paid = math.max(0, math.floor(now - s.level / s.speed * SECOND + 0.5)) end
-- Asking keeps the state alive, also where nothing is charged for days. Who asks
-- for nobody wants to know whether a take would work, so that writes as one does.
if s.dirty or #asked == 0 or s.exp < now + DAY then save_window(s) end

local found = mended(s)
if found ~= 0 then reply[2] = found end
reply[10], reply[11], reply[12] = float(s.limit - s.used), float(s.limit), float(s.speed)
return reply
