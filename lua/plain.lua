-- plain: the plain case of take, answered before the functions of the general case are even made.
--
-- It is plain that somebody asks and there are tokens for all, that the limit is
-- as they declare it, and that nobody queues, holds, or has written anything odd: then
-- three numbers change. Wherever anything is not plain nothing is done here, and
-- the general case below decides. A test holds the two against each other. This
-- halves the server's time, and it is what nearly all calls meet.

local time = redis.call('TIME')                        -- once: only newer servers freeze it
local now = time[1] * 1000000 + time[2]

-- plain returns the reply, without codes and waits: all are charged, and start
-- at once.
local function plain()
  local f = redis.pcall('HMGET', KEYS[1], 'tokens', 'ts', 'granted', 'exp', 'capacity', 'rate', 'gen', 'blocked', 'turn')
  if #ARGV == 6 or f[5] ~= ARGV[1] or f[6] ~= ARGV[2] or f[7] ~= ARGV[4] or f[8] or f[9] then return end
  local o = redis.pcall('HMGET', KEYS[2], 'capacity', 'rate', 'hold', 'rev')
  if o.err or o[1] or o[2] or o[3] then return end
  for i = 1, 4 do                                      -- no sign, no 0x10, no nan
    if not f[i] or not string.find(f[i], '^[1-9]') then return end
  end
  local level, ts, granted, exp = tonumber(f[1]), tonumber(f[2]), tonumber(f[3]), tonumber(f[4])
  local capacity, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
  if not (level and ts and granted and exp and capacity and rate) or level > 9e15 or ts > 9e15 then return end

  ts = math.floor(ts * 1000000 + 0.5)
  if ts > now then return end
  level = level + (now - ts) / 1000000 * rate
  if level > capacity then level = capacity end
  for i = 7, #ARGV do
    local n, times = string.match(ARGV[i], '^(%d+%.?%d*):%d+:?(%d*)$')
    n = tonumber(n)
    if n and times ~= '' then n = n * times end
    if not n or n <= 0 or n > level then return end
    level, granted = level - n, granted + n
  end
  local left = exp - now                               -- lives a day and until it is full, at most 36500 days and an hour
  if granted > 9e15 or left < 86400000000 or left < (capacity - level) / rate * 1000000 or left > 3153603600000000 then return end

  local text = string.format('%.17g', level)
  redis.call('HSET', KEYS[1], 'tokens', text, 'ts', string.format('%.6f', now / 1000000), 'granted', string.format('%.17g', granted))
  return { now, 0, 0, 0, 0, 0, tonumber(ARGV[4]), o[4] and tonumber(o[4]) or 0, 0, text, ARGV[1], ARGV[2] }
end

local reply = plain()
if reply then return reply end
