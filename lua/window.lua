-- window: put behind log and shared, in front of every script of sliding windows; counts a window, and writes it back.

local MOST_MEMBERS = 10000         -- of a log; merging keeps it far below

-- load_window makes a window's state of what read_window found. Returns the
-- state, or nil and the error to reply. `used` stays nil where none can be read.
local function load_window(bucket, log, f, o)
  if f.err then return nil, refusal(f, 'the window is no hash') end
  if f[1] ~= 'window' and (f[1] or f[5] or f[8]) then
    return nil, wrong_type('the key is a ' .. (f[1] or 'bucket') .. ', no window')
  end
  if o.err then return nil, refusal(o, 'the operators\' record is no hash') end

  local s = {
    bucket = bucket, log = log, now = now, is_window = true, begun = f[1] ~= nil,
    used = number(f[2]), ts = number(f[3]), granted = number(f[4]),
    capacity = positive(f[5]), per = positive(f[7]), gen = number(f[8]),
    blocked = number(f[9]), exp = number(f[10]) or 0, turn = positive(f[11]) or 0, need = positive(f[12]) or 0, paid = positive(f[13]) or 0, first = positive(f[15]) or 0,
    over_capacity = positive(o[1]), over_rate = positive(o[2]), over_per = positive(o[3]) or SECOND, over_end = number(o[4]),
    hold = o[5], rev = number(o[6]) or 0,
    dirty = false, has_turn = false, stored_turn = 0, stored_need = 0, stored_paid = 0, stored_first = 0, corrupt = false, stored_ts = 0, left = 0,
    passed = 0, next = 0, complete = false,
    max = 0, speed = 0, lag = 0, level = 0, brim = 0, horizon = 0, within = 0, ahead = 0, ticket = 0,   -- turns
    due = false, behind = false, followed = false, paced = false, charged = false, lapsed = false,
    weights = {}, scores = {}, fresh_weights = {}, fresh_scores = {}, expired = 0, expired_weight = 0,
  }
  s.has_turn = f[11] or f[12] or f[13] or f[15]
  s.stored_turn, s.stored_need, s.stored_paid, s.stored_first = s.turn, s.need, s.paid, s.first
  if o[4] and not s.over_end then s.over_capacity, s.over_rate = nil, nil end   -- an end that can't be read has ended

  s.bad_blocked = f[9] and (not s.blocked or s.blocked > now + MAX_COOLDOWN)
  s.bad_limit = f[5] and not s.capacity or f[6] and not positive(f[6]) or f[7] and not s.per or f[8] and not s.gen
  s.bad_used = f[1] and not (s.used and s.used >= 0)
  s.corrupt = s.bad_blocked or s.bad_limit or s.bad_used or f[4] and not s.granted or f[1] and not s.ts
  s.granted, s.blocked = s.granted or 0, s.blocked or 0
  if s.bad_used then s.used = nil end
  if s.corrupt then                                        -- count again; a sound cooldown stays
    s.exp, s.turn, s.dirty = 0, 0, true
    if s.bad_blocked then s.blocked = 0 end
    if s.bad_limit then s.capacity, s.per, s.gen = nil, nil, nil end
  end
  s.ts = s.ts and math.floor(s.ts * SECOND + 0.5) or 0
  s.stored_ts = s.ts
  s.left = not s.begun and number(f[14]) or nil            -- what a reset left, before anybody declared a limit
  return s
end

-- in_force returns the limit in force at time t and the span that it counts in.
-- An operator's rate is so many tokens in its own unit; a capacity is the most
-- in the span, whatever the rate would let through.
local function in_force(s, t)
  if not overridden(s, t) then return s.capacity, s.per end
  if not s.over_rate then return millionths(s.over_capacity), s.per end
  return millionths(math.min(s.over_rate * s.over_per / SECOND, s.over_capacity or MAX_NUMBER)), s.over_per
end

-- declare_window takes in the limit that the caller was configured with. The
-- highest generation wins; generation 0 stands for now. What is used counts
-- against a new limit as it is. Turns were booked at a rate, and end with it.
local function declare_window(s, capacity, per, gen)
  if gen == 0 then gen = s.now end
  local known = s.capacity and s.per and s.gen
  if not known or gen > s.gen then
    if known and capacity / per ~= s.capacity / s.per then s.turn = 0 end
    s.capacity, s.per, s.gen, s.declared, s.dirty = capacity, per, gen, true, true
  end
  s.limit, s.span = in_force(s, s.now)
end

-- read_on reads the next members of the log; false where there are no more. A
-- weight that can't be read is none; a start too far ahead is one of now.
local function read_on(s)
  if s.complete then return false end
  local first = #s.scores
  local most = first == 0 and FIRST_LOOK or 64
  local list = first == 0 and s.oldest or redis.pcall('ZRANGE', s.log, first, first + most - 1, 'WITHSCORES')
  if list.err then
    s.failed, s.complete = refusal(list, 'the window\'s log is no sorted set'), true
    s.denied = not is_wrong_type(list) and list or nil
    return false
  end
  for i = 1, #list, 2 do
    local score = number(list[i + 1]) or MAX_NUMBER
    if score > s.now + MAX_EARLY then score, s.is_ahead = s.now, true end
    s.weights[#s.weights + 1] = weight_of(list[i]) or 0
    s.scores[#s.scores + 1] = score
  end
  s.complete = #list < 2 * most
  return #list > 0
end

-- expire counts the members that have left the span; save_log takes them out.
local function expire(s)
  s.expired, s.expired_weight = 0, 0
  while s.expired < #s.scores or read_on(s) do
    if s.scores[s.expired + 1] + s.span > s.now then break end
    s.expired = s.expired + 1
    s.expired_weight = s.expired_weight + s.weights[s.expired]
  end
  s.passed, s.next = 0, s.expired + 1
end

-- enter logs n tokens that start at `start`.
local function enter(s, n, start)
  start = math.max(start, s.ts)
  s.used, s.ts, s.dirty = millionths(s.used + n), start, true
  local last = #s.fresh_scores
  if last > 0 and (s.fresh_scores[last] == start or s.fresh_weights[last] + n <= s.limit / PARTS) then
    s.fresh_weights[last], s.fresh_scores[last] = millionths(s.fresh_weights[last] + n), start
  else
    s.fresh_weights[last + 1], s.fresh_scores[last + 1] = n, start
  end
end

-- recount takes the log for the truth where hash and log do not fit, or a start
-- lies too far ahead: it is moved to now. What the hash says and the log lacks,
-- up to one limit, counts as used now: nothing is lost for free.
local function recount(s)
  local claimed = s.used or 0
  s.recounted, s.dirty = true, true
  local list = redis.call('ZRANGE', s.log, 0, MOST_MEMBERS, 'WITHSCORES')
  if #list > 2 * MOST_MEMBERS then                         -- not ours
    redis.call('ZREMRANGEBYSCORE', s.log, '-inf', '+inf')
    list, claimed = {}, s.limit
  end
  local live, ahead = 0, 0
  s.ts = 0
  for i = 1, #list, 2 do
    local weight = weight_of(list[i]) or 0
    local score = number(list[i + 1]) or MAX_NUMBER
    if score > s.now + MAX_EARLY then
      ahead, s.anchored = ahead + weight, true
    elseif score + s.span > s.now then
      live, s.ts = live + weight, score
    end
  end
  redis.call('ZREMRANGEBYSCORE', s.log, '(' .. whole(s.now + MAX_EARLY), '+inf')
  redis.call('ZREMRANGEBYSCORE', s.log, '-inf', whole(s.now - s.span))
  s.weights, s.scores, s.complete, s.is_ahead, s.oldest = {}, {}, false, false, nil
  if s.bad_used and live + ahead == 0 then claimed = s.limit end
  for i = 1, #s.fresh_weights do live = live + s.fresh_weights[i] end
  s.used, s.stored_ts = millionths(live), s.ts
  local lost = math.max(ahead, math.min(claimed, s.limit) - live)
  if lost > 0 then enter(s, millionths(lost), s.now) end
  s.lost = lost > ahead
  expire(s)
end

-- count brings what is used up to now. Needs the limit in force. Returns the
-- error to reply where the log can't be read.
local function count(s)
  expire(s)
  if s.failed then return s.failed end
  if s.used then s.used = millionths(s.used - s.expired_weight) end
  if not s.begun and #s.scores == 0 then                   -- a new window is free
    s.used = 0
    if s.left then enter(s, millionths(math.max(0, s.limit - s.left)), s.now) end
  elseif not s.used or s.used < 0 or s.used > 0 and #s.scores == 0 or s.is_ahead or s.ts > s.now + MAX_EARLY then
    recount(s)
  end
end

-- mended tells what was put right: 0 nothing, 1 what could not be, 2 a start too
-- far ahead.
local function mended(s)
  if s.corrupt or s.lost then return 1 end
  return s.anchored and 2 or 0
end

-- start_of returns when the q-th of the used tokens starts or has started.
local function start_of(s, q)
  if q - 5e-7 <= s.passed then s.passed, s.next = 0, s.expired + 1 end   -- start over: it lies in what was passed
  while true do
    if s.next > #s.scores then read_on(s) end
    local i = s.next - #s.scores
    local weight = s.weights[s.next] or s.fresh_weights[i]
    if not weight then break end
    if s.passed + weight >= q - 5e-7 then return s.scores[s.next] or s.fresh_scores[i] end
    s.passed, s.next = s.passed + weight, s.next + 1
  end
  if s.recounted then return s.now end
  recount(s)                                               -- the hash says more than the log has
  return start_of(s, q)
end

-- free_at returns when the last of n tokens may start behind all that is used:
-- as soon as the one that is a limit before it has left the span. Behind a whole
-- limit of others that wait, it is they who have to leave it.
local function free_at(s, n)
  local rounds = math.max(1, math.ceil(n / s.limit))
  local q = millionths(s.used + n - rounds * s.limit)
  if q <= 0 then return s.now + (rounds - 1) * s.span end
  return math.max(s.now, start_of(s, q) + rounds * s.span)
end

-- window_life is how long the state must live: a day after the last take, and
-- until the last start has left the span in force, or the declared one.
local function window_life(s)
  local idle = math.max(0, s.blocked - s.now)
  return math.min(MAX_LIFE, math.max(DAY, idle + MAX_EARLY + math.max(s.per, s.span)))
end

-- save_log adds what is fresh, before it takes out what has expired: so the key
-- is never gone in between, and with it its expiry. Returns whether it began.
local function save_log(s)
  local fresh = #s.fresh_scores
  if fresh == 0 then return false end
  local newest, weight
  if s.fresh_weights[1] < s.limit / PARTS or s.fresh_scores[1] == s.stored_ts then
    newest, weight = mergeable(s.log, s.fresh_weights[1], s.fresh_scores[1], s.limit, s.span)
    if newest then s.fresh_weights[1] = millionths(s.fresh_weights[1] + weight) end
  end
  local add = {}
  for i = 1, fresh do
    local score = whole(s.fresh_scores[i])
    add[2 * i - 1], add[2 * i] = score, amount(s.fresh_weights[i]) .. ':' .. score
  end
  redis.call('ZADD', s.log, unpack(add))
  if newest then redis.call('ZREM', s.log, newest) end
  if s.expired > 0 then redis.call('ZREMRANGEBYSCORE', s.log, '-inf', whole(s.now - s.span)) end
  s.expired_weight = 0
  return #s.scores == 0
end

-- save_window writes the state, and renews its expiry when that got short.
local function save_window(s)
  if s.granted > MAX_NUMBER then s.granted = 0 end         -- readers take that for a restart
  local begins = save_log(s)
  if s.ts == 0 then s.ts = s.now end                       -- nothing has started yet
  local left = window_life(s)
  local short = s.exp < s.now + left or s.exp > s.now + MAX_LIFE + HOUR
  if short then s.exp = s.now + left + HOUR end
  local set = {}
  local function put(field, value) set[#set + 1], set[#set + 2] = field, value end
  put('used', amount(millionths(s.used + s.expired_weight)))
  put('ts', string.format('%.6f', s.ts / SECOND))
  put('granted', float(s.granted))
  if s.declared then
    put('kind', 'window')
    put('capacity', float(s.capacity))
    put('rate', float(s.capacity / s.per * SECOND))
    put('per', whole(s.per))
    put('gen', whole(s.gen))
  end
  if short then put('exp', whole(s.exp)) end
  if s.turn > 0 and (s.turn ~= s.stored_turn or s.need ~= s.stored_need or s.paid ~= s.stored_paid or s.first ~= s.stored_first) then
    put('turn', whole(s.turn))
    put('need', float(s.need))
    put('paid', whole(s.paid))
    put('first', whole(s.first))
  end
  redis.call('HSET', s.bucket, unpack(set))
  if s.turn == 0 and s.has_turn then redis.call('HDEL', s.bucket, 'turn', 'need', 'paid', 'first') end
  if s.left then redis.call('HDEL', s.bucket, 'tokens') end
  if s.bad_blocked then redis.call('HDEL', s.bucket, 'blocked', 'blocked_by') end
  if short then redis.call('PEXPIRE', s.bucket, whole(math.ceil((left + HOUR) / 1000))) end
  if short or begins then redis.call('PEXPIRE', s.log, whole(math.ceil((s.exp - s.now) / 1000))) end
end
