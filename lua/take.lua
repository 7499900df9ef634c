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
--   2 mended    0; 1: values were corrupt, begun again from empty; 2: ts was ahead, re-anchored
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
--                    3 more than the capacity (microseconds). Nothing where all are charged and
--                    start at once
-- WRITES
--   bucket: tokens ts granted capacity rate per gen exp turn need first; deletes turn need first where nobody
--           waits, and blocked blocked_by that are over or can't be

local CHARGED, REFUSED, WAITS, IMPOSSIBLE = 0, 1, 2, 3
local HEAD, TWO_MICROSECONDS = 12, 2
local FAR   = 4 * SECOND           -- who is booked so far ahead looks once whether the queue lives
local SPARE = 0.2                  -- of what one call may charge ahead: more than that a live queue does not leave

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

local s, failed = load(KEYS[1], KEYS[2], now)
if failed then return failed end
local own_gen = gen == 0 and now or gen
capacity, rate = declare(s, capacity, rate, per, own_gen, ARGV)

local stop, stop_end = stopped(s)

-- wait_for returns how long until n tokens are there behind `ahead` tokens of
-- others, microseconds. Under 2 microseconds is none: a sleep costs more.
local lag = s.ts - now
local function wait_for(n, ahead)
  local wait = (n + ahead - s.level) / rate * SECOND + lag
  if wait < TWO_MICROSECONDS then return 0 end
  return math.min(math.ceil(wait), MAX_NUMBER)
end

-- The queue across processes. `turn` is when all booked tokens are paid: who
-- comes without a ticket books behind it instead of barging in. A ticket beyond
-- `turn` is void. While the queue lives the level stays low, because those whose
-- turn it is take what accrues; where it does not, they have gone.
--
-- Where all are late (a stall, and the level at its brim) everybody's turn has
-- come, and small requests would take whatever a large one waits for. So a head
-- that is late by more than a horizon names its ticket as `first`: until it is
-- served, or the queue has gone, later tickets wait.
local within_horizon = rate * horizon / SECOND         -- tokens that one call may charge ahead
local function lapse_level(n) return math.min(capacity, math.max(n, s.need) + within_horizon) end
if s.turn > now and s.level >= lapse_level(asked[1] or 0) then s.turn, s.dirty = 0, true end
if s.turn <= now then s.need, s.first = 0, 0 end
if ticket > s.turn then ticket = 0 end
local due = ticket > 0 and ticket <= now
local behind = s.turn > now and not (due and (s.first == 0 or ticket <= s.first))

-- turn_for returns how long n tokens take behind `ahead` of this call's own, in
-- the place that is booked, or else behind all that is: bookings behind a
-- ticket must not lengthen its wait, or it would be refused after all. `first`
-- is the head that the ticket was booked for.
local function turn_for(n, ahead, first)
  local from = s.turn
  if ticket > 0 then from = ticket - math.max(0, first / rate * SECOND - horizon) end
  return math.min(MAX_NUMBER, math.ceil(from - now + (ahead + n) / rate * SECOND))
end

local reply = { now, 0, stop, stop_end, 0, 0, own_gen, s.rev, 0, '', 0, 0 }
local ahead, ask = 0, nil                              -- tokens of those who wait; when the first of them is due
local head, charged = nil, false                       -- tokens of that first one
for i = 1, #asked, 2 do
  local n, patience = asked[i], asked[i + 1]
  local code, wait = WAITS, 0
  if n > capacity then
    code = IMPOSSIBLE
  elseif stop ~= 0 then
    wait = stop_end == 0 and MAX_NUMBER or stop_end - now
    -- A hold may be lifted at any time: it only ends a patience of none.
    if patience == 0 or (wait > patience and stop ~= HELD) then code = REFUSED else ask = math.min(ask or wait, wait) end
  else
    wait = wait_for(n, ahead)
    if behind then wait = math.max(wait, turn_for(n, ahead, head or n)) end
    if wait > patience then
      code = REFUSED
    elseif ahead == 0 and wait <= horizon and not behind then
      code, charged = CHARGED, true
      s.level, s.granted, s.dirty = s.level - n, s.granted + n, true
    else
      ahead, head = ahead + n, head or n
      ask = ask or math.max(1, wait - horizon)
    end
  end
  reply[HEAD + i], reply[HEAD + i + 1] = code, wait
end

-- reaches returns how long until the level is there, microseconds.
local function reaches(level)
  return math.min(MAX_NUMBER, math.max(1, math.ceil((level - s.level) / rate * SECOND + lag)))
end

if charged and ticket == s.first then s.first = 0 end
if head then
  local lapses = reaches(lapse_level(head)) + 1
  if behind and due then                               -- a late one comes first, and those between
    ask = reaches(s.need - within_horizon) + ticket - s.first
  elseif behind and ticket > 0 then                    -- asked early: the booking stands
    ask = ticket - now
    -- No live queue leaves so much: somebody's turn was missed.
    if s.level > math.max(0, s.need - within_horizon) + SPARE * within_horizon then ask = math.min(ask, lapses) end
  elseif behind or charged or ticket == 0 then
    local paid = now + lag - s.level / rate * SECOND
    local base = math.max(s.turn, paid)
    local wanted = math.max(head, math.min(ahead, within_horizon)) / rate * SECOND
    local came = ticket == 0
    ticket = math.floor(math.min(MAX_NUMBER, math.max(now + 1, base + wanted - horizon)))
    s.turn, s.need, s.dirty = math.min(MAX_NUMBER, math.ceil(base + wanted)), math.max(s.need, head), true
    ask = ticket - now
    if came and ask > FAR then ask = math.min(ask, lapses) end   -- look once whether the queue lives
  elseif now - ticket > horizon then                   -- its turn has come, and its tokens have not: it stands
    s.first, s.turn, s.dirty = ticket, math.max(s.turn, now + lapses), true
  end
end
if ask then reply[6] = ticket end                      -- a stop takes nobody's place
-- Asking keeps the state alive, also where nothing is charged for days.
if s.dirty or s.exp < now + DAY then save(s) end

if s.corrupt then reply[2] = 1 elseif s.anchored then reply[2] = 2 end
reply[5] = ask or 0
if overridden(s, now) then reply[9] = s.over_end or -1 end
reply[10], reply[11], reply[12] = s.text or float(s.level), float(capacity), float(rate)
return reply
