-- shared: put behind reads, in front of every script; brings a bucket up to now, and writes it back.

local MAX_COOLDOWN = DAY           -- the longest that a worker may ask for
local MAX_BLOCKED  = DAY + HOUR    -- a `blocked` further ahead is corrupt; clocks may step back a little
local MAX_AHEAD    = SECOND        -- a `ts` further ahead is re-anchored to now

-- odd_number reads what is no plain decimal: on some servers tonumber does not
-- take 1e-05, on others it takes 0b1 or 0x10, which are none of ours.
local function odd_number(text)
  if string.find(text, '^%s*[+-]?0[xXbBoO]') or string.find(text, '%z') then return nil end
  local v = tonumber(text)
  if v then return v end
  local ok, sum = pcall(function() return text + 0 end)
  return ok and sum or nil
end

-- number reads a finite number in range, or returns nil.
local function number(text)
  if not text then return nil end
  local v = match(text, '^%d+%.?%d*$')
  v = v and v + 0 or odd_number(text)
  if v and v <= MAX_NUMBER and v >= -MAX_NUMBER then return v end   -- nan is neither
  return nil
end

-- float and whole print numbers alike on every server.
local function float(v) return string.format('%.17g', v) end
local function whole(v) return string.format('%.0f', v) end

local function positive(text)
  local v = number(text)
  return v and v > 0 and v or nil
end

-- wrong_type refuses a key that holds something else. The first word is what
-- clients go by; older servers would bury it in the text of a script error.
local function wrong_type(what)
  return redis.error_reply('WRONGTYPE ' .. what)
end

local function is_wrong_type(answer) return string.find(answer.err, '^%-?WRONGTYPE') ~= nil end

-- refusal is what to reply where a key could not be read: only its type is the
-- key's own fault. A denied command, say, is everybody's.
local function refusal(answer, what)
  return is_wrong_type(answer) and wrong_type(what) or answer
end

-- load makes a bucket's state of what read found. Returns the state, or nil and
-- the error to reply. `level` stays nil where nothing is stored.
local function load(bucket, f, o)
  if f.err then return nil, refusal(f, 'the bucket is no hash') end
  local more = redis.call('HMGET', bucket, 'kind', 'per', 'need', 'first')
  if more[1] and more[1] ~= 'bucket' then return nil, wrong_type('the key is a ' .. more[1] .. ', no bucket') end
  if o.err then return nil, refusal(o, 'the operators\' record is no hash') end

  local s = {
    bucket = bucket, now = now,
    level = number(f[1]), ts = number(f[2]), granted = number(f[3]),
    capacity = positive(f[5]), rate = positive(f[6]), per = number(more[2]), gen = number(f[7]),
    blocked = number(f[8]), exp = number(f[4]) or 0, turn = 0, need = 0, first = 0,
    over_capacity = positive(o[1]), over_rate = positive(o[2]), over_end = number(o[3]),
    hold = o[4], rev = number(o[5]) or 0,
    dirty = false, has_turn = false, stored_turn = 0, stored_need = 0, stored_first = 0, corrupt = false,
    max = 0, speed = 0, lag = 0, brim = 0, horizon = 0, within = 0, ahead = 0, ticket = 0,   -- turns
    due = false, behind = false, followed = false, charged = false, lapsed = false,
  }
  if f[9] or more[3] or more[4] then
    s.has_turn, s.stored_turn, s.stored_need, s.stored_first = true, number(f[9]), number(more[3]), number(more[4])
    s.turn, s.need, s.first = math.max(0, s.stored_turn or 0), math.max(0, s.stored_need or 0), math.max(0, s.stored_first or 0)
  end
  if o[3] and not s.over_end then s.over_capacity, s.over_rate = nil, nil end   -- an end that can't be read has ended

  s.bad_blocked = f[8] and (not s.blocked or s.blocked > now + MAX_BLOCKED)
  s.bad_limit = f[5] and not s.capacity or f[6] and not s.rate or more[2] and not s.per or f[7] and not s.gen
  s.bad_granted = f[3] and not s.granted
  s.corrupt = s.bad_blocked or s.bad_limit or s.bad_granted or f[1] and not s.level or f[2] and not s.ts
    or f[1] and not f[2] or f[2] and not f[1]
  s.granted, s.blocked = s.granted or 0, s.blocked or 0
  if s.corrupt then                                        -- start again from EMPTY; a sound cooldown stays
    s.level, s.ts, s.exp, s.turn, s.dirty = 0, now, 0, 0, true
    if s.bad_blocked then s.blocked = 0 end
    if s.bad_limit then s.capacity, s.rate, s.gen = nil, nil, nil end
  elseif s.ts then
    s.ts = math.floor(s.ts * SECOND + 0.5)
    if s.ts > now + MAX_AHEAD then                         -- a clock stepped back, or a foreign writer: no credit
      s.ts, s.anchored, s.turn, s.dirty = now, true, 0, true
    end
  end
  return s
end

-- overridden tells whether the operators' limit is in force at time t.
local function overridden(s, t)
  return (s.over_capacity or s.over_rate) and (not s.over_end or t < s.over_end)
end

-- effective returns the capacity and rate in force at time t.
local function effective(s, t)
  if overridden(s, t) then return s.over_capacity or s.capacity, s.over_rate or s.rate end
  return s.capacity, s.rate
end

-- adapt fits the level to a limit that replaces another. A debt keeps its
-- time, not its tokens: those who caused it were already told when to start.
-- But a higher rate makes no debt deeper than one capacity, the most that a
-- settlement may leave: an operator who raises the rate wants the way free.
-- Turns were booked at the old rate, and end with it.
local function adapt(s, old_rate, capacity, rate)
  if rate ~= old_rate then s.turn = 0 end
  if s.level < 0 then s.level = math.max(s.level * rate / old_rate, math.min(s.level, -capacity)) end
  if s.level > capacity then s.level = capacity end
end

-- refill credits the time from `from` to `to` at one limit.
local function refill(s, from, to, capacity, rate)
  if to > from then s.level = s.level + (to - from) / SECOND * rate end
  if s.level > capacity then s.level = capacity end
end

-- settle brings the level up to now. Time before an override's end counts at
-- the override, time in a cooldown not at all. A `ts` slightly ahead stays:
-- nothing accrues until then. Needs a level and a declared limit.
local function settle(s)
  local from, now = math.max(s.ts, s.blocked), s.now
  if s.over_end and s.over_end > s.ts and s.over_end <= now and overridden(s, s.ts) then
    local capacity, rate = effective(s, s.ts)
    refill(s, from, s.over_end, capacity, rate)
    adapt(s, rate, s.capacity, s.rate)
    from = math.max(from, s.over_end)
  end
  local capacity, rate = effective(s, now)
  refill(s, from, now, capacity, rate)
  s.ts = math.max(s.ts, now)
end

-- declare takes in the limit that the caller was configured with, brings the
-- level up to now, and begins a new bucket full. The highest generation wins;
-- generation 0 stands for now. It is stored as the caller wrote it, in texts,
-- so that plain need not read it. Returns the capacity and rate in force.
local function declare(s, capacity, rate, per, gen, texts)
  if gen == 0 then gen = s.now end
  local known = s.capacity and s.rate and s.gen
  if not known then
    s.capacity, s.rate, s.per, s.gen, s.declared, s.dirty = capacity, rate, per, gen, texts, true
  end
  if s.level then settle(s) else s.level, s.ts = effective(s, s.now), s.now end
  if known and gen > s.gen then
    local _, old_rate = effective(s, s.now)
    s.capacity, s.rate, s.per, s.gen, s.declared, s.dirty = capacity, rate, per, gen, texts, true
    adapt(s, old_rate, effective(s, s.now))
  end
  return effective(s, s.now)
end

-- life is how long the state must live: a day after the last take, and until
-- the bucket would be full under the slower of override and declared limit,
-- which begins to count after a cooldown, or where `ts` is ahead.
local function life(s)
  local full = (s.capacity - s.level) / s.rate
  if overridden(s, s.now) then
    local capacity, rate = effective(s, s.now)
    full = math.max(full, (capacity - s.level) / rate)
  end
  local idle = math.max(0, s.blocked - s.now, s.ts - s.now)
  return math.min(MAX_LIFE, math.max(DAY, idle + full * SECOND))
end

-- more lists what changes rarely and has to be written with the level.
local function more(s, left)
  local set = {}
  local function put(field, value) set[#set + 1], set[#set + 2] = field, value end
  if s.declared then
    put('capacity', s.declared[1])
    put('rate', s.declared[2])
    put('per', whole(s.per))
    put('gen', whole(s.gen))
  end
  if left then put('exp', whole(s.exp)) end
  if s.turn > 0 and (s.turn ~= s.stored_turn or s.need ~= s.stored_need) then
    put('turn', whole(s.turn))
    put('need', float(s.need))
  end
  if s.turn > 0 and s.first ~= (s.stored_first or 0) then put('first', whole(s.first)) end
  return unpack(set)
end

-- save writes the state with one HSET, and renews its expiry when that got
-- short. An hour of slack makes renewals rare. Needs a declared limit. Leaves
-- the level's text for the reply.
local function save(s)
  if s.granted > MAX_NUMBER then s.granted = 0 end         -- readers take that for a restart
  local left = life(s)
  if s.exp >= s.now + left and s.exp <= s.now + MAX_LIFE + HOUR then left = nil else s.exp = s.now + left + HOUR end
  s.text = float(s.level)
  local ts = s.ts == now and seconds or string.format('%.6f', s.ts / SECOND)
  if left or s.declared or s.turn > 0 then
    redis.call('HSET', s.bucket, 'tokens', s.text, 'ts', ts, 'granted', float(s.granted), more(s, left))
  else
    redis.call('HSET', s.bucket, 'tokens', s.text, 'ts', ts, 'granted', float(s.granted))
  end
  if s.turn == 0 and s.has_turn then redis.call('HDEL', s.bucket, 'turn', 'need', 'first') end
  if left then redis.call('PEXPIRE', s.bucket, whole(math.ceil((left + HOUR) / 1000))) end
  if s.bad_blocked or s.blocked > 0 and s.blocked <= s.now then redis.call('HDEL', s.bucket, 'blocked', 'blocked_by') end
end

-- held tells whether an operator's hold is in force, and until when (0: no
-- end). A hold whose end can't be read is in force: stopping is the safe side.
local function held(s)
  if not s.hold then return false end
  local ends = number(s.hold)
  if not ends then return true, 0 end
  return ends > s.now, ends
end

-- stopped returns what stops a bucket or window, a hold before a cooldown, and
-- until when (0: no end). 0: nothing does.
local HELD, COOLING = 1, 2
local function stopped(s)
  local is_held, ends = held(s)
  if is_held then return HELD, ends end
  if s.blocked > s.now then return COOLING, s.blocked end
  return 0, 0
end
