-- plain_window: put behind log, in front of window_take; its plain case, as plain has it for buckets.
--
-- All fits what is left of the span, and the newest start is over: then the log
-- gets one member more, and loses those that a first look finds expired.

local fields, record = read_window(KEYS[1], KEYS[2])
local oldest = nil                 -- members of the log, where plain has read them

-- plain returns the short reply: all are charged, and start at once, under the
-- limit that was declared.
local function plain()
  local f, o = fields, record
  if #ARGV == 6 or f[1] ~= 'window' or f[7] ~= ARGV[3] or f[8] ~= ARGV[4] or f[9] or f[11] or o.err then return end
  if (o[1] or o[2]) and not (decimal(o[4]) and decimal(o[4]) <= now) or o[5] and not (decimal(o[5]) and decimal(o[5]) <= now) then return end
  local used, limit, span = decimal(f[2]), decimal(f[5]), f[7] + 0
  if not used or not limit or limit ~= decimal(ARGV[1]) then return end

  local fresh = 0
  for i = 7, #ARGV do
    local n, _, times = request(ARGV[i])
    if not n then return end
    fresh = fresh + math.max(1e-6, millionths(n)) * times
  end
  fresh = millionths(fresh)
  if fresh > limit then return end

  oldest = redis.pcall('ZRANGE', KEYS[3], 0, FIRST_LOOK - 1, 'WITHSCORES')
  if oldest.err or #oldest == 0 then return end
  local expired = 0
  for i = 1, #oldest, 2 do
    local weight, start = weight_of(oldest[i]), decimal(oldest[i + 1])
    if not (weight and start) or start > now + MAX_EARLY then return end
    if start + span > now then break end
    if i == 2 * FIRST_LOOK - 1 then return end                          -- more may have expired
    used, expired = used - weight, i
  end
  used = millionths(used)
  if used < 0 or millionths(used + fresh - limit) > 0 then return end

  local ts, granted, exp = decimal(f[3]), decimal(f[4]), decimal(f[10])
  if not (ts and granted and exp) or math.floor(ts * SECOND + 0.5) >= now or not match(f[6] or '', '^%d[%d.e-]*$') then return end
  local left = exp - now                               -- as save_window has it
  if granted + fresh > MAX_NUMBER or left < DAY or left < MAX_EARLY + span or left > MAX_LIFE + HOUR then return end

  local newest, weight
  if fresh < limit / PARTS then newest, weight = mergeable(KEYS[3], fresh, now, limit, span) end
  local start = string.format('%.0f', now)
  redis.call('ZADD', KEYS[3], start, amount(newest and millionths(fresh + weight) or fresh) .. ':' .. start)
  if newest then redis.call('ZREM', KEYS[3], newest) end
  if expired > 0 then redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', string.format('%.0f', now - span)) end
  used = millionths(used + fresh)
  redis.call('HSET', KEYS[1], 'used', amount(used), 'ts', seconds, 'granted', string.format('%.17g', granted + fresh))
  return { now, decimal(o[6]) or 0, string.format('%.17g', limit - used) }
end

local reply = plain()
if reply then return reply end
