-- plain_all: put behind plain, in front of take_all; its plain case.

local buckets = #KEYS / 2
local first_request = 2 + 5 * buckets

local fields, records = {}, {}     -- of each bucket
for b = 1, buckets do fields[b], records[b] = read(KEYS[2 * b - 1], KEYS[2 * b]) end

-- read_request reads n:…:n:patience, tokens of each bucket and the longest wait,
-- or returns nil.
local function read_request(text)
  if not string.find(text, '^%d[%d.:]*:%d+$') or string.find(text, '::', 1, true) then return nil end
  local request = {}
  for part in string.gmatch(text, '[^:]+') do
    local v = decimal(part)
    if not v or v > MAX_NUMBER then return nil end
    request[#request + 1] = v
  end
  request.patience = table.remove(request)
  if #request ~= buckets then return nil end
  for b = 1, buckets do
    if request[b] <= 0 then return nil end
  end
  return request
end

-- requests reads them all, or returns nil.
local function requests()
  local list, text, request = {}, nil, nil
  for i = first_request, #ARGV do
    if ARGV[i] ~= text then                            -- most ask for the same
      text = ARGV[i]
      request = read_request(text)
      if not request then return nil end
    end
    list[#list + 1] = request
  end
  return list
end
local asked = requests()

-- plain returns the reply, without the requests: all are charged, and start at
-- once.
local function plain()
  if buckets % 1 ~= 0 or not asked or #asked == 0 then return end
  local wanted = {}
  for b = 1, buckets do
    wanted[b] = 0
    for i = 1, #asked do wanted[b] = wanted[b] + asked[i][b] end
  end
  local levels, granted = {}, {}
  for b = 1, buckets do
    local at = 5 * b - 3
    levels[b], granted[b] = plain_level(fields[b], records[b], ARGV[at], ARGV[at + 1], ARGV[at + 3], wanted[b])
    if not levels[b] then return end
  end
  local reply = { now, 0 }
  for b = 1, buckets do
    local bucket, at, to = KEYS[2 * b - 1], 5 * b - 3, 10 * b - 7
    local level = string.format('%.17g', levels[b])
    redis.call('HSET', bucket, 'tokens', level, 'ts', seconds, 'granted', string.format('%.17g', granted[b]))
    reply[to], reply[to + 1], reply[to + 2], reply[to + 3] = 0, 0, 0, 0
    reply[to + 4], reply[to + 5], reply[to + 6] = ARGV[at + 3] + 0, decimal(records[b][5]) or 0, 0
    reply[to + 7], reply[to + 8], reply[to + 9] = level, ARGV[at], ARGV[at + 1]
  end
  return reply
end

local reply = plain()
if reply then return reply end
