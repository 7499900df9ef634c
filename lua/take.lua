-- take: charge a list of requests to a bucket, in order, as far as its tokens reach.
--
-- KEYS
--   1 bucket    hash
--   2 limit     hash, the operators' record
-- ARGV
--   1 capacity  tokens, declared by the caller
--   2 rate      tokens per second, declared
--   3 per       unit the rate was declared in, microseconds
--   4 gen       generation of the declared limit; 0: now
--   5 horizon   microseconds: how far ahead a start may be charged
--   6 ticket    server microseconds of an earlier reply; 0: none
--   7… n:patience, or n:patience:times   tokens, decimal, the longest wait the caller accepts, whole
--               microseconds, and how many such requests follow each other, at most 1000
-- REPLY
--   1 now       server microseconds
--   2 mended    0; 1: values were corrupt, begun again from empty; 2: ts was ahead, re-anchored; 3: a queue
--               that was booked for more than a second has gone, and its bookings with it
--   3 stop      0; 1: held; 2: cooling down
--   4 stop_end  server microseconds; 0: no end
--   5 ask       microseconds until those who wait should ask again; 0: nobody waits
--   6 ticket    to show when asking again; 0: none
--   7 gen       generation that the caller's limit counts as
--   8 rev       of the operators' record; 0: none
--   9 over_end  end of the override, server microseconds; 0: no override; -1: no end
--   10 level    tokens, text
--   11 capacity in force, text
--   12 rate     in force, text
--   13… code, wait   for each request: 0 charged, start after wait; 1 not within its patience, wait is
--                    how long it would be; 2 waits, for at least wait, or until a hold is lifted;
--                    3 more than the capacity (microseconds)
--   or, where all are charged and start at once, the limit is in force as it was declared, and nothing
--   else is to be told, just: now, rev, level
-- WRITES
--   bucket: tokens ts granted capacity rate per gen exp turn need first; deletes turn need first where nobody
--           waits, and blocked blocked_by that are over or can't be

local capacity, rate, per, gen = positive(ARGV[1]), positive(ARGV[2]), number(ARGV[3]), number(ARGV[4])
local horizon, ticket = number(ARGV[5]), number(ARGV[6])
if not (capacity and rate and per and gen and horizon and horizon >= 0 and ticket and ticket >= 0) then
  return redis.error_reply('ERR take: capacity, rate, per, gen, horizon or ticket is no number in range')
end
local asked = {}
for i = 7, #ARGV do
  local n, patience, times = request(ARGV[i])
  if not n then return redis.error_reply('ERR take: a request is not n:patience:times in range') end
  for _ = 1, times do asked[#asked + 1], asked[#asked + 2] = n, patience end
end

local s, failed = load(KEYS[1], fields, record)
if failed then return failed end
local own_gen = gen == 0 and now or gen
s.max, s.speed = declare(s, capacity, rate, per, own_gen, ARGV)
s.lag = s.ts - now
line_up(s, asked[1] or 0, horizon, ticket)

local reply = serve(s, asked, own_gen, function(_, n) s.level = s.level - n end)

-- Asking keeps the state alive, also where nothing is charged for days. Who asks
-- for nobody wants to know whether a take would work, so that writes as one does.
if s.dirty or #asked == 0 or s.exp < now + DAY then save(s) end

if s.corrupt then reply[2] = 1 elseif s.anchored then reply[2] = 2 end
reply[10] = s.text or float(s.level)
if fields[5] == ARGV[1] and fields[6] == ARGV[2] and reply[9] == 0 then
  reply[11], reply[12] = ARGV[1], ARGV[2]              -- as it is printed already
else
  reply[11], reply[12] = float(s.max), float(s.speed)
end
return reply
