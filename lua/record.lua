-- record: put in front of the operators' scripts, behind shared; reads what keys hold, and keeps
-- the operators' record as long as it says anything.

local FOREVER     = 'forever'
local MOST_FIELDS = 64             -- of a hash that may be a bucket
local KEEP_RECORD = 7 * DAY        -- how long an operators' record outlives what it says

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
