-- take_all: charge a list of requests to several buckets at once, in order, each request all or nothing.
--
-- KEYS
--   1… of each bucket: itself, a hash, and its limit, a hash, the operators' record
-- ARGV
--   1 horizon   microseconds: how far ahead a start may be charged
--   2… of each bucket: capacity, rate, per, gen and ticket, as for take; then of each request: n:…:n:patience,
--               tokens of each bucket, decimal, and the longest wait that the caller accepts, whole microseconds
-- REPLY
--   1 now       server microseconds
--   2 ask       microseconds until those who wait should ask again; 0: nobody waits
--   3… of each bucket: mended, stop, stop_end, ticket, gen, rev, over_end, level, capacity and rate, as of take;
--               then of each request: code and wait as of take, and the bucket that decides: the one that
--               is too small, stops it, or makes it wait for longest; counted from 1. Nothing of the
--               requests where all are charged and start at once
-- WRITES
--   each bucket: tokens ts granted capacity rate per gen exp turn need first; deletes turn need first where nobody
--           waits, and blocked blocked_by that are over or can't be

-- A request starts when the last of its buckets lets it. Another bucket, whose
-- tokens are there earlier, is charged now and not at the start, and must not
-- gain by that: what would flow over its brim until then is dropped at once. With
-- w until the start, its level becomes min(level, capacity - rate x w) - n. Left
-- alone it then rises to min(level + rate x w, capacity) - n at the start and is
-- never at the brim before: just as if it were charged then.
--
-- So after every charge, c, with its start s, of take as well:
--   level <= capacity - n - rate x (s - c)   and   level >= -rate x (s - c)
-- Of the charges whose starts lie within a span from a to b let the first be made
-- at c1 and the last at c2. The first bound at c1, what accrues until c2, and what
-- the others take leave a level of at most capacity + rate x (c2 - a) - sum; the
-- second bound at c2 is at least rate x (c2 - b). So sum <= capacity + rate x
-- (b - a), in each bucket, in whatever order the starts come.

local CHARGED, REFUSED, WAITS, IMPOSSIBLE = 0, 1, 2, 3

local function bad(what) return redis.error_reply('ERR take_all: ' .. what) end

local horizon = number(ARGV[1])
if not (horizon and horizon >= 0) or buckets < 1 or buckets % 1 ~= 0 then return bad('horizon or keys are out of range') end

local declared = {}
for b = 1, buckets do
  local at = 5 * b - 3
  local d = {
    capacity = positive(ARGV[at]), rate = positive(ARGV[at + 1]), per = number(ARGV[at + 2]), gen = number(ARGV[at + 3]),
    ticket = number(ARGV[at + 4]), texts = { ARGV[at], ARGV[at + 1] },
  }
  if not (d.capacity and d.rate and d.per and d.gen and d.ticket and d.ticket >= 0) then
    return bad('capacity, rate, per, gen or ticket is no number in range')
  end
  declared[b] = d
end

if not asked then return bad('a request is not n:…:n:patience in range') end

local states = {}
for b = 1, buckets do
  local s, failed = load(KEYS[2 * b - 1], fields[b], records[b])
  if failed then
    if not is_wrong_type(failed) then return failed end
    return wrong_type('bucket ' .. b .. ': ' .. string.gsub(failed.err, '^%-?WRONGTYPE ', ''))
  end
  states[b] = s
end

-- What stops one of them stops all: a hold first, and what lasts longest.
local stop, stop_wait, stop_by = 0, 0, 0
for b = 1, buckets do
  local s, d = states[b], declared[b]
  s.own_gen = d.gen == 0 and now or d.gen
  s.max, s.speed = declare(s, d.capacity, d.rate, d.per, s.own_gen, d.texts)
  s.stop, s.stop_end = stopped(s)
  if s.stop ~= 0 then
    local wait = s.stop_end == 0 and MAX_NUMBER or s.stop_end - now
    if stop == 0 or s.stop == HELD and (stop ~= HELD or wait > stop_wait) or s.stop == stop and wait > stop_wait then
      stop, stop_by = s.stop, b
    end
    stop_wait = math.max(stop_wait, wait)
  end
end

-- The queue across processes is take's, in each of the buckets: a set has a
-- ticket for each, and it is not its turn before it is in all of them. It asks
-- again at the latest. Nobody waits for a set whose turn it is in one bucket and
-- not yet in another: they take what is there.
local behind = false
for b = 1, buckets do
  local s = states[b]
  s.lag = s.ts - now
  line_up(s, asked[1] and asked[1][b] or 0, horizon, declared[b].ticket)
  behind = behind or s.behind
end

-- longest returns how long a request has to wait, and for which bucket; or
-- nothing, and the bucket that is too small.
local function longest(request)
  local wait, by = 0, 1
  for b = 1, buckets do
    if request[b] > states[b].max then return nil, b end
    local own = wait_for(states[b], request[b])
    states[b].own = own
    if own > wait then wait, by = own, b end
  end
  return wait, by
end

local function charge(request, wait)
  for b = 1, buckets do
    local s = states[b]
    local brim = s.max - s.speed * math.max(0, wait - s.lag) / SECOND
    s.level, s.granted, s.dirty = math.min(s.level, brim) - request[b], s.granted + request[b], true
    served(s)
  end
end

local answers, plain = {}, true
local head_wait, ask = nil, nil
for i = 1, #asked do
  local request, code = asked[i], WAITS
  local patience = request.patience
  local wait, by = longest(request)
  if not wait then
    code, wait = IMPOSSIBLE, 0
  elseif stop ~= 0 then
    wait, by = stop_wait, stop_by
    -- A hold may be lifted at any time: it only ends a patience of none.
    if patience == 0 or (wait > patience and stop ~= HELD) then code = REFUSED else ask = wait end
  elseif wait > patience then
    code = REFUSED
  elseif not head_wait and not behind and wait <= horizon then
    code = CHARGED
    charge(request, wait)
  else
    head_wait = head_wait or wait
    for b = 1, buckets do wait_behind(states[b], request[b], states[b].own) end
  end
  plain = plain and code == CHARGED and wait == 0
  answers[3 * i - 2], answers[3 * i - 1], answers[3 * i] = code, wait, by
end

if head_wait then
  local earliest = nil
  ask = 1
  for b = 1, buckets do
    local own, before = stand(states[b], head_wait, behind)
    if before then earliest = math.min(earliest or own, own) else ask = math.max(ask, own) end
  end
  ask = math.min(ask, earliest or ask)
end

local reply = { now, ask or 0 }
local function say(v) reply[#reply + 1] = v end
for b = 1, buckets do
  local s = states[b]
  -- Asking keeps the state alive, also where nothing is charged for days.
  if s.dirty or s.exp < now + DAY then save(s) end
  say(s.corrupt and 1 or s.anchored and 2 or 0)
  say(s.stop)
  say(s.stop_end)
  say(ask and s.ticket or 0)                           -- a stop takes nobody's place
  say(s.own_gen)
  say(s.rev)
  say(overridden(s, now) and (s.over_end or -1) or 0)
  say(s.text or float(s.level))
  say(float(s.max))
  say(float(s.speed))
end
if not plain then
  for i = 1, #answers do say(answers[i]) end
end
return reply
