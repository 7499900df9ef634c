-- shared: put in front of every script; reads a bucket, brings it up to now, writes it back.
--
-- All times are server microseconds, all levels tokens, all rates tokens per
-- second. Only `ts` is stored in seconds, with a fraction, since that is how
-- programs that wrote such buckets before us store it.

local FOREVER      = 'forever'
local SECOND       = 1000000
local DAY          = 86400 * SECOND
local HOUR         = 3600 * SECOND
local MAX_NUMBER   = 9e15          -- below 2^53, so that every whole number is exact
local MAX_COOLDOWN = DAY           -- the longest that a worker may ask for
local MAX_BLOCKED  = DAY + HOUR    -- a `blocked` further ahead is corrupt; clocks may step back a little
local MAX_AHEAD    = SECOND        -- a `ts` further ahead is re-anchored to now
local MAX_LIFE     = 36500 * DAY   -- what a key's life is clamped to
local MOST_FIELDS  = 64            -- of a hash that may be a bucket
local KEEP_RECORD  = 7 * DAY       -- how long an operators' record outlives what it says

-- server_time reads the clock. Once per script: only newer servers freeze it.
local function server_time()
  local t = redis.call('TIME')
  return t[1] * SECOND + t[2]
end

-- number reads a finite decimal number in range, or returns nil. tonumber alone
-- would take nan, inf, 0x10 and, on some servers, 0b1, but 1e-05 not on all of
-- them. The pattern looks at the first characters only, since this runs often.
local function number(text)
  if not text then return nil end
  local v = tonumber(text)
  if not v then
    local ok, sum = pcall(function() return text + 0 end)
    v = ok and sum or nil
  end
  if not v or v ~= v or v > MAX_NUMBER or v < -MAX_NUMBER or string.find(text, '^%s*[+-]?0[xXbBoO]') then return nil end
  return v
end

local function positive(text)
  local v = number(text)
  return v and v > 0 and v or nil
end

-- float and whole print numbers alike on every server.
local function float(v) return string.format('%.17g', v) end
local function whole(v) return string.format('%.0f', v) end

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

-- load reads a bucket and what operators say of it. Returns the state, or nil
-- and the error to reply. `level` stays nil where nothing is stored.
local function load(bucket, limit, now)
  local f = redis.pcall('HMGET', bucket, 'tokens', 'ts', 'granted', 'capacity', 'rate', 'per', 'gen', 'blocked', 'exp', 'kind', 'turn', 'need')
  if f.err then return nil, refusal(f, 'the bucket is no hash') end
  if f[10] and f[10] ~= 'bucket' then return nil, wrong_type('the key is a ' .. f[10] .. ', no bucket') end
  local o = redis.pcall('HMGET', limit, 'capacity', 'rate', 'until', 'hold', 'rev')
  if o.err then return nil, refusal(o, 'the operators\' record is no hash') end

  local s = {
    bucket = bucket, now = now,
    level = number(f[1]), ts = number(f[2]), granted = number(f[3]),
    capacity = positive(f[4]), rate = positive(f[5]), per = number(f[6]), gen = number(f[7]),
    blocked = number(f[8]), exp = number(f[9]) or 0, turn = positive(f[11]) or 0, need = positive(f[12]) or 0,
    over_capacity = positive(o[1]), over_rate = positive(o[2]), over_end = number(o[3]),
    hold = o[4], rev = number(o[5]) or 0,
  }
  s.has_turn, s.stored_turn, s.stored_need = f[11] or f[12], s.turn, positive(f[12])
  if o[3] and not s.over_end then s.over_capacity, s.over_rate = nil, nil end   -- an end that can't be read has ended

  s.bad_blocked = f[8] and (not s.blocked or s.blocked > now + MAX_BLOCKED)
  s.bad_limit = f[4] and not s.capacity or f[5] and not s.rate or f[6] and not s.per or f[7] and not s.gen
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
-- generation 0 stands for now. Returns the capacity and rate in force.
local function declare(s, capacity, rate, per, gen)
  if gen == 0 then gen = s.now end
  local known = s.capacity and s.rate and s.gen
  if not known then
    s.capacity, s.rate, s.per, s.gen, s.declared, s.dirty = capacity, rate, per, gen, true, true
  end
  if s.level then settle(s) else s.level, s.ts = effective(s, s.now), s.now end
  if known and gen > s.gen then
    local _, old_rate = effective(s, s.now)
    s.capacity, s.rate, s.per, s.gen, s.declared, s.dirty = capacity, rate, per, gen, true, true
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

-- save writes the state with one HSET, and renews its expiry when that got
-- short. An hour of slack makes renewals rare. Needs a declared limit.
local function save(s)
  if s.granted > MAX_NUMBER then s.granted = 0 end         -- readers take that for a restart
  local set = { 'tokens', float(s.level), 'ts', string.format('%.6f', s.ts / SECOND), 'granted', float(s.granted) }
  if s.declared then
    set[7], set[8], set[9], set[10] = 'capacity', float(s.capacity), 'rate', float(s.rate)
    set[11], set[12], set[13], set[14] = 'per', whole(s.per), 'gen', whole(s.gen)
  end
  local left = life(s)
  local short = s.exp < s.now + left or s.exp > s.now + MAX_LIFE + HOUR
  if short then
    s.exp = s.now + left + HOUR
    set[#set + 1], set[#set + 2] = 'exp', whole(s.exp)
  end
  if s.turn > 0 and (s.turn ~= s.stored_turn or s.need ~= s.stored_need) then
    set[#set + 1], set[#set + 2] = 'turn', whole(s.turn)
    set[#set + 1], set[#set + 2] = 'need', float(s.need)
  end
  redis.call('HSET', s.bucket, unpack(set))
  if s.turn == 0 and s.has_turn then redis.call('HDEL', s.bucket, 'turn', 'need') end
  if short then redis.call('PEXPIRE', s.bucket, whole(math.ceil((left + HOUR) / 1000))) end
  if s.bad_blocked then redis.call('HDEL', s.bucket, 'blocked', 'blocked_by') end
end

-- held tells whether an operator's hold is in force, and until when (0: no
-- end). A hold whose end can't be read is in force: stopping is the safe side.
local function held(s)
  if not s.hold then return false end
  local ends = number(s.hold)
  if not ends then return true, 0 end
  return ends > s.now, ends
end

-- content returns what a key holds: its type, and its fields where it is a
-- hash, as a flat list. A hash with more fields than any bucket has is somebody
-- else's, and may be huge: its fields are not read.
local function content(key)
  local kind = redis.call('TYPE', key)
  kind = kind.ok or kind
  if kind ~= 'hash' or redis.call('HLEN', key) > MOST_FIELDS then return kind, {} end
  return kind, redis.call('HGETALL', key)
end

-- is_foreign tells whether another program's workers write the bucket, which
-- declare no limit and read no record.
local function is_foreign(key, kind)
  if kind == 'none' then return false end
  if kind ~= 'hash' then return true end
  local f = redis.call('HMGET', key, 'gen', 'capacity')
  return not (f[1] or f[2])
end

-- ending reads when something ends: 'forever', '+30000000' from now, a server
-- time, or '' which keeps `current`. nil is no end; so what can't be read, lies
-- in the past, or further ahead than `number` reads back is an error to reply,
-- the second value.
local function ending(text, current, now)
  if text == '' then return current end
  if text == FOREVER then return nil end
  local sign, digits = string.match(text, '^(%+?)(.*)$')
  local ends = number(digits)
  if ends and sign == '+' then ends = now + ends end
  if not ends or ends < now + 1 or ends > MAX_NUMBER - 1 then
    return nil, redis.error_reply('ERR the end is no time to come')
  end
  return ends
end

-- keep_record lets the operators' record expire once nothing it says is in
-- force any more: never while an override or a hold has no end.
local function keep_record(limit, now)
  local o = redis.call('HMGET', limit, 'capacity', 'rate', 'until', 'hold')
  local last = now
  if o[1] or o[2] then last = math.max(last, o[3] and number(o[3]) or MAX_NUMBER) end
  if o[4] then last = math.max(last, number(o[4]) or MAX_NUMBER) end
  if last >= MAX_NUMBER then
    redis.call('PERSIST', limit)
  else
    redis.call('PEXPIREAT', limit, whole(math.ceil((last + KEEP_RECORD) / 1000)))
  end
end
