-- reads: put in front of every script; the clock, numbers, and what is stored of a bucket.
--
-- All times are server microseconds, all levels tokens, all rates tokens per
-- second. Only `ts` is stored in seconds, with a fraction, since that is how
-- programs that wrote such buckets before us store it.

local SECOND     = 1000000
local DAY        = 86400 * SECOND
local HOUR       = 3600 * SECOND
local MAX_NUMBER = 9e15            -- below 2^53, so that every whole number is exact
local MOST_TIMES = 1000            -- of one request
local MAX_LIFE   = 36500 * DAY     -- what a key's life is clamped to

local time = redis.call('TIME')    -- once: only newer servers freeze it
local now = time[1] * SECOND + time[2]
local seconds = #time[2] == 6 and time[1] .. '.' .. time[2] or string.format('%.6f', now / SECOND)   -- now, as `ts` is stored

-- decimal reads a number that is written without a sign or an exponent, or
-- returns nil. Nothing else may stand there: tonumber would end at a NUL, and
-- on some servers take 0b1 or 0x10.
local match = string.match
local function decimal(text)
  text = text and match(text, '^%d+%.?%d*$')
  return text and text + 0
end

-- request reads n:patience or n:patience:times: tokens, the longest wait, and
-- how many such requests follow each other. Or returns nil. The pattern leaves
-- nothing that tonumber would read differently elsewhere.
local function request(text)
  local n, patience, times = match(text, '^(%d+%.?%d*):(%d+):?(%d*)$')
  if not n then return nil end
  n, patience, times = n + 0, patience + 0, times == '' and 1 or times + 0
  if n > 0 and n <= MAX_NUMBER and patience <= MAX_NUMBER and times >= 1 and times <= MOST_TIMES then
    return n, patience, times
  end
  return nil
end

-- read reads what is needed in any case of a bucket, and of what operators say of it; or
-- errors.
local function read(bucket, limit)
  return redis.pcall('HMGET', bucket, 'tokens', 'ts', 'granted', 'exp', 'capacity', 'rate', 'gen', 'blocked', 'turn'),
    redis.pcall('HMGET', limit, 'capacity', 'rate', 'until', 'hold', 'rev')
end
