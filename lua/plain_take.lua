-- plain_take: put behind plain, in front of take; its plain case.

local fields, record = read(KEYS[1], KEYS[2])

-- plain returns the short reply: all are charged, and start at once, under the
-- limit that was declared.
local function plain()
  if fields[9] or #ARGV == 6 then return end
  local all = 0
  for i = 7, #ARGV do
    local n, _, times = request(ARGV[i])
    if not n then return end
    all = all + n * times
  end
  local level, granted = plain_level(fields, record, ARGV[1], ARGV[2], ARGV[4], all)
  if not level then return end
  level = string.format('%.17g', level)
  redis.call('HSET', KEYS[1], 'tokens', level, 'ts', seconds, 'granted', string.format('%.17g', granted))
  return { now, decimal(record[5]) or 0, level }
end

local reply = plain()
if reply then return reply end
