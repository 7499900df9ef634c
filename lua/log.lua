-- log: put behind reads, in front of every script of sliding windows; what is stored of a window.
--
-- A window lets `limit` tokens start in any span of `per` microseconds. Its log
-- has the starts of the last span, oldest first: score = start, server
-- microseconds; member = weight:start. The hash has their sum, `used`, and the
-- newest start, `ts`. Sums are kept to a millionth of a token, so that they do
-- not drift. The log only grows at its end: a start is logged at the newest one
-- or later, which is the safe side.

local PARTS      = 1000            -- of the limit: neighbours that make no more than one part are merged
local FIRST_LOOK = 4               -- members of a log that are read at once, the oldest
local MAX_EARLY  = 6 * SECOND      -- a start further ahead, beyond any horizon, is re-anchored to now

local function millionths(v) return math.floor(v * 1e6 + 0.5) / 1e6 end

-- amount prints tokens to a millionth.
local function amount(v) return string.format(v == math.floor(v) and '%.0f' or '%.6f', v) end

-- read_window reads the fields of a window and what operators say of it, or errors.
local function read_window(bucket, limit)
  return redis.pcall('HMGET', bucket, 'kind', 'used', 'ts', 'granted', 'capacity', 'rate', 'per', 'gen', 'blocked', 'exp', 'turn', 'need', 'paid', 'tokens', 'first'),
    redis.pcall('HMGET', limit, 'capacity', 'rate', 'per', 'until', 'hold', 'rev')
end

-- weight_of reads the tokens of a member, nil where that can't be.
local function weight_of(member)
  local weight = decimal(match(member or '', '^([^:]*):'))
  return weight and weight > 0 and weight <= MAX_NUMBER and weight or nil
end

-- mergeable returns the newest member and its tokens, where a start behind it is
-- merged with it: it is of the same time, or both are small.
local function mergeable(log, tokens, start, limit, span)
  local newest = redis.call('ZRANGE', log, -1, -1, 'WITHSCORES')
  local weight, score = weight_of(newest[1]), decimal(newest[2])
  if not (weight and score) or score + span <= now or score > start then return nil end
  if score == start or weight + tokens <= limit / PARTS then return newest[1], weight end
  return nil
end
