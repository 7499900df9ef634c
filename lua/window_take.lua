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
--   2 mended    0; 1: values were corrupt or the log was gone, counted again; 2: starts were ahead, re-anchored
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
-- WRITES
--   bucket: kind used ts granted capacity rate per gen exp turn need paid first; deletes turn need paid first where nobody
--           waits,
--           tokens that a reset left, and blocked blocked_by that can't be, where values were corrupt
--   log:    one member for each start; takes out what has left the span

local CHARGED, REFUSED, WAITS, IMPOSSIBLE = 0, 1, 2, 3
local HEAD = 12
local FAR   = 4 * SECOND           -- who is booked so far ahead looks once whether the queue lives
local SPARE = 0.2                  -- of a horizon: longer than that no live queue is behind

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

local now = server_time()
local s, failed = load_window(KEYS[1], KEYS[2], KEYS[3], now)
if failed then return failed end
local own_gen = gen == 0 and now or gen
declare_window(s, declared, per, own_gen)
failed = count(s)
if failed then return failed end
local limit, rate = s.limit, s.limit / s.span          -- tokens, tokens per microsecond

local stop, stop_end = stopped(s)

-- The queue across processes, as take has it: places are booked at the rate in
-- force. A span that was used at once comes free at once, though, and would be
-- all of the first one's: so while a queue lives it is served at the rate, as a
-- bucket is that holds next to nothing. `paid` is how far it has been served;
-- a late head names its ticket as `first`, as take has it too.
local within_horizon = rate * horizon                  -- tokens that one call may charge ahead

-- lapse_at returns when the queue has gone, if nobody claims what n tokens, or
-- the largest head booked, wait for.
local function lapse_at(n)
  local need = math.min(limit, math.max(n, s.need))
  return math.max(s.paid + need / rate + horizon, free_at(s, need))
end
if s.turn > now and lapse_at(asked[1] or 0) <= now then s.turn, s.dirty = 0, true end
if s.turn <= now then s.need, s.first = 0, 0 end
if ticket > s.turn then ticket = 0 end
local due = ticket > 0 and ticket <= now
local behind = s.turn > now and not (due and (s.first == 0 or ticket <= s.first))

local paced = s.turn > now and not behind and s.turn > ticket + horizon + 1   -- else nobody has booked behind
local paid = paced and math.max(s.paid, now - horizon) or 0

-- turn_for returns how long n tokens take behind `ahead` of this call's own, in
-- the place that is booked, or else behind all that is. `first` is the head that
-- the ticket was booked for.
local function turn_for(n, ahead, first)
  local from = s.turn
  if ticket > 0 then from = ticket - math.max(0, first / rate - horizon) end
  return math.min(MAX_NUMBER, math.ceil(from - now + (ahead + n) / rate))
end

local reply = { now, 0, stop, stop_end, 0, 0, own_gen, s.rev, 0, '', float(limit), float(rate * SECOND) }
local ahead, ask = 0, nil                              -- tokens of those who wait; when the first of them is due
local head, charged = nil, false                       -- tokens of that first one
for i = 1, #asked, 2 do
  local n, patience = asked[i], asked[i + 1]
  local code, wait = WAITS, 0
  if n > limit then
    code = IMPOSSIBLE
  elseif stop ~= 0 then
    wait = stop_end == 0 and MAX_NUMBER or stop_end - now
    -- A hold may be lifted at any time: it only ends a patience of none.
    if patience == 0 or (wait > patience and stop ~= HELD) then code = REFUSED else ask = math.min(ask or wait, wait) end
  else
    wait = math.min(MAX_NUMBER, free_at(s, ahead + n) - now)
    if paced then wait = math.max(wait, math.ceil(paid + (ahead + n) / rate - now)) end
    if behind then wait = math.max(wait, turn_for(n, ahead, head or n)) end
    if wait > patience then
      code = REFUSED
    elseif ahead == 0 and wait <= horizon and not behind then
      code, charged = CHARGED, true
      paid, s.granted = now + wait, s.granted + n
      enter(s, n, paid)
    else
      ahead, head = ahead + n, head or n
      ask = ask or math.max(1, wait - horizon)
    end
  end
  reply[HEAD + i], reply[HEAD + i + 1] = code, wait
end

if charged and ticket == s.first then s.first = 0 end
if head then
  local lapses = math.min(MAX_NUMBER, math.max(1, math.ceil(lapse_at(head) - now)) + 1)
  if behind and due then                               -- a late one comes first, and those between
    ask = math.max(1, free_at(s, math.min(limit, s.need)) - horizon - now) + ticket - s.first
  elseif behind and ticket > 0 then                    -- asked early: the booking stands
    ask = ticket - now
    -- No live queue is so far behind: somebody's turn was missed.
    if now - s.paid > math.max(0, s.need / rate - horizon) + SPARE * horizon then ask = math.min(ask, lapses) end
  elseif behind or charged or ticket == 0 then
    local base = math.max(s.turn, paid, free_at(s, head) - head / rate)
    if s.turn <= now then paid = base end              -- the first of a new queue
    local came = ticket == 0
    local wanted = math.max(head, math.min(ahead, within_horizon)) / rate
    ticket = math.floor(math.min(MAX_NUMBER, math.max(now + 1, base + wanted - horizon)))
    s.turn, s.need, s.dirty = math.min(MAX_NUMBER, math.ceil(base + wanted)), math.max(s.need, head), true
    ask = ticket - now
    if came and ask > FAR then ask = math.min(ask, lapses) end   -- look once whether the queue lives
  elseif now - ticket > horizon then                   -- its turn has come, and its tokens have not: it stands
    s.first, s.turn, s.dirty = ticket, math.max(s.turn, now + lapses), true
  end
end
if ask then reply[6] = ticket end                      -- a stop takes nobody's place
if paid > 0 then s.paid = math.floor(paid) end
-- Asking keeps the state alive, also where nothing is charged for days.
if s.dirty or s.exp < now + DAY then save_window(s) end

reply[2] = mended(s)
reply[5] = ask or 0
if overridden(s, now) then reply[9] = s.over_end or -1 end
reply[10] = float(limit - s.used)
return reply
