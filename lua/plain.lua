-- plain: put behind reads, in front of the scripts that charge buckets; their plain case, answered
-- before the functions of the general case are even made.
--
-- It is plain that somebody asks and there are tokens for all, that the limit is
-- as they declare it, and that nobody queues, holds, or has written anything odd: then
-- three numbers change. Wherever anything is not plain nothing is done here, and
-- the general case decides, of what was read. Tests hold the two against each other.
-- This halves the server's time, and it is what nearly all calls meet.

-- plain_level returns the level once n tokens are charged that start at once,
-- and what is granted then; or nothing.
local function plain_level(f, o, capacity, rate, gen, n)
  if f[5] ~= capacity or f[6] ~= rate or f[7] ~= gen or f[8] or f[9] or o.err then return end
  local level, ts = decimal(f[1]), decimal(f[2])
  if not (level and ts) or level > MAX_NUMBER or ts > MAX_NUMBER then return end
  capacity, rate, ts = capacity + 0, rate + 0, math.floor(ts * SECOND + 0.5)   -- sound, or they were not stored
  level = level + (now - ts) / SECOND * rate
  if level > capacity then level = capacity end
  if n > level or ts > now then return end
  if o[1] or o[2] or o[4] then                         -- what operators said must have been over before
    if (o[1] or o[2]) and not (decimal(o[3]) and decimal(o[3]) <= ts) then return end
    if o[4] and not (decimal(o[4]) and decimal(o[4]) <= ts) then return end
  end
  local granted, exp = decimal(f[3]), decimal(f[4])
  if not (granted and exp) then return end
  level, granted = level - n, granted + n
  local left = exp - now                               -- lives a day and until it is full, at most 36500 days and an hour
  if granted > MAX_NUMBER or left < DAY or left < (capacity - level) / rate * SECOND or left > MAX_LIFE + HOUR then return end
  return level, granted
end
