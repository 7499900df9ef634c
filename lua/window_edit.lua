-- window_edit: put behind window, in front of the operators' scripts; what they do with a window.

-- is_window tells whether a key of that type holds a window.
local function is_window(key, kind)
  return kind == 'hash' and redis.call('HGET', key, 'kind') == 'window'
end

-- used_now returns what is used, as text, and writes nothing; '' where that is
-- not known.
local function used_now(s)
  if not (s.used and s.capacity and s.per) then return '' end
  s.limit, s.span = in_force(s, s.now)
  expire(s)
  return float(math.max(0, millionths(s.used - s.expired_weight)))
end

-- refit keeps a window's state for as long as a changed limit needs it, and drops
-- turns that were booked at another rate.
local function refit(s, old_rate)
  s.limit, s.span = in_force(s, s.now)
  if s.limit / s.span ~= old_rate then redis.call('HDEL', s.bucket, 'turn', 'need', 'paid', 'first') end
  local left = window_life(s)
  redis.call('HSET', s.bucket, 'exp', whole(s.now + left + HOUR))
  redis.call('PEXPIRE', s.bucket, whole(math.ceil((left + HOUR) / 1000)))
  redis.call('PEXPIRE', s.log, whole(math.ceil((left + HOUR) / 1000)))
end

-- reset_window sets what is left in the span in force: all else counts as used
-- now.
local function reset_window(s, level)
  redis.call('DEL', s.log)
  s.weights, s.scores, s.complete, s.expired, s.expired_weight = {}, {}, true, 0, 0
  s.used, s.ts, s.exp, s.turn, s.stored_ts = 0, s.now, 0, 0, 0
  if level < s.limit then enter(s, millionths(s.limit - level), s.now) end
  save_window(s)
end
